package dev.heartwood.engine.filter;

/** Where the entries of a new maplet come from, in ascending order of their fingerprints, all of one length. For one thread. */
interface EntrySource extends AutoCloseable {
    /** The room that a read needs at least, in entries. */
    int ROOM_MIN = FilterPageReader.BLOCK_ENTRIES_MAX;

    /**
     * Stores the next entries at an address, as {@link Entry} has them. Those of one fingerprint come in any order, maybe repeated, and not
     * all by one read.
     *
     * @param room entries that there is room for, {@link #ROOM_MIN} at least
     * @return how many were stored; 0 behind the last
     */
    int read(long to, int room);

    /** Gives back what it holds; once more does nothing. */
    @Override
    void close();
}
