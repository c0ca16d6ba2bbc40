package dev.heartwood.testkit;

import java.util.random.RandomGenerator;

/** How a machine ends. */
public enum CrashKind {
    /** The process dies; the operating system lives on and keeps everything that was written. */
    KILL,
    /** The power fails: of what was not synced, any part may be lost, torn or garbage. */
    POWER_LOSS;

    /** Either. */
    public static CrashKind random(RandomGenerator random) {
        return values()[random.nextInt(values().length)];
    }

    /** The kind by which to judge what is there after a crash of this kind and then one of another, with no write between them. */
    public CrashKind then(CrashKind next) {
        return this == KILL ? next : this;
    }
}
