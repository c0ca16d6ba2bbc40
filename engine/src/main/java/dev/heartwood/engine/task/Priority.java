package dev.heartwood.engine.task;

/** What is done first when there is more work than workers. */
public enum Priority {
    /** Packing sealed memtables, which writers may be waiting for; has a worker of its own besides. */
    SEAL,
    /** Checkpoints and write-back. */
    CHECKPOINT,
    /** Merges. */
    COMPACT,
    /** What only pays when nothing else is to be done; timers wait for all else, but not for long. */
    IDLE
}
