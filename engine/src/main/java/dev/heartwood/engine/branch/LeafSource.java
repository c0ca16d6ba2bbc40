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

    /**
     * Copies the end of a value that goes on in {@code leaf}, its last {@code length} bytes, to {@code to}; the leaf before is open and stays
     * so.
     */
    void copyContinuation(int leaf, int length, long to);

    /** Gives up everything. Idempotent. */
    void close();
}
