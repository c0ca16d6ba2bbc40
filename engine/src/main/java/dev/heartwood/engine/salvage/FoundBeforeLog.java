package dev.heartwood.engine.salvage;

/**
 * What the copy had of the keys of a log before that was applied, as hashes of eight bytes. Where nothing tells how much of the log the tree
 * holds, either of the two may be the younger, and a key is sure only if both come to the same. One thread.
 */
final class FoundBeforeLog {
    private static final long NOT_NOTED = 0;
    private static final long UNSURE = 1;
    private static final long NOTHING = 2;
    /** In the hash of every value. */
    private static final long VALUE = 4;

    private final LogKeys log;
    private final long[] found;

    FoundBeforeLog(LogKeys log) {
        this.log = log;
        this.found = new long[log.count()];
    }

    /** Whether nothing was noted of a key of the log yet. */
    boolean isToBeNoted(byte[] key) {
        int number = log.number(key);
        return number >= 0 && found[number] == NOT_NOTED;
    }

    void noteNothing(byte[] key) {
        found[log.number(key)] = NOTHING;
    }

    void noteValue(byte[] key, long hash) {
        found[log.number(key)] = hash | VALUE;
    }

    /** Notes that nothing which the log says is known to be the same. */
    void noteUnsure(byte[] key) {
        found[log.number(key)] = UNSURE;
    }

    boolean isNothing(byte[] key) {
        int number = log.number(key);
        return number >= 0 && found[number] == NOTHING;
    }

    boolean isValue(byte[] key, long hash) {
        int number = log.number(key);
        return number >= 0 && found[number] == (hash | VALUE);
    }
}
