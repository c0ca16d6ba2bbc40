package dev.heartwood.engine.base;

/**
 * The kinds of message an entry carries. The numbers are stored in the log and in branches; 0 is reserved so that zeroed bytes
 * are never an entry.
 */
public final class Entries {
    /** Sets the value of a key. */
    public static final byte PUT = 1;

    /** Removes a key; has no value. */
    public static final byte DELETE = 2;

    /** Adds an operand to the value of a key. */
    public static final byte MERGE = 3;

    /** Sees every sequence number: the newest state. */
    public static final long NEWEST = Long.MAX_VALUE;

    private Entries() {}

    /** Whether {@code kind} is one of the above. */
    public static boolean isKind(int kind) {
        return kind >= PUT && kind <= MERGE;
    }
}
