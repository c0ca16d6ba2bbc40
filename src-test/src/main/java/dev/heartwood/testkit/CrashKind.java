package dev.heartwood.testkit;

/** How a machine ends. */
public enum CrashKind {
    /** The process dies; the operating system lives on and keeps everything that was written. */
    KILL,
    /** The power fails: of what was not synced, any part may be lost, torn or garbage. */
    POWER_LOSS
}
