package dev.heartwood.engine.branch;

/** Where a cursor has its leaves from, one at a time. Belongs to one thread. */
interface LeafSource {
    /**
     * The address of a leaf, readable until the next call or {@link #close}; in the range of leaves that ends with {@code
     * lastLeaf}, beyond which the cursor is not known to go. A cursor that has come to its end keeps its leaf: the next one over the
     * same branch often begins there.
     */
    long open(int leaf, int lastLeaf);

    /** Whether a leaf that will be opened soon has to be read, so that {@link #readAhead} is worth while. */
    boolean isAbsent(int leaf);

    /** Starts reading an absent leaf, in the range of leaves that ends with {@code lastLeaf}. */
    void readAhead(int leaf, int lastLeaf);

    /** As {@link #readAhead}, for who goes back from there. */
    void readAheadBack(int leaf);

    /**
     * The address of the leaf in which the last value of the open leaf goes on; until {@link #closeContinuation}, which must follow. The open
     * leaf stays so.
     */
    long openContinuation(int leaf);

    /** Ends what {@link #openContinuation} began. */
    void closeContinuation(long page);

    /** Gives up everything. Idempotent. */
    void close();
}
