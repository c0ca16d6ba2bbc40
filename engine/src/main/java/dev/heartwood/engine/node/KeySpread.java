package dev.heartwood.engine.node;

/** What is known of where keys will lie. */
public enum KeySpread {
    /** Nothing: loads may be sequential, and keys crowded. */
    ANY,
    /** As {@link #ANY}; the filters know groups of keys, so they do not tell how often each key is there. */
    GROUPED,
    /** Everywhere alike, now and later, as hashes do: no load has any locality, and leaves can be parted ahead of their data. */
    EVEN
}
