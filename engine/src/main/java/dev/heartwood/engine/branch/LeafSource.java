package dev.heartwood.engine.branch;

/** Where a cursor has its leaves from, one at a time. Belongs to one thread. */
interface LeafSource {
    /**
     * The address of a leaf, readable until the next call or {@link #close}; in the range of leaves that ends with {@code
     * lastLeaf}, beyond which the cursor is not known to go.
     */
    long open(int leaf, int lastLeaf);

    /** Starts reading a leaf that will be opened soon, if that is worth while; returns whether it has to be read. */
    boolean ahead(int leaf);

    /** Gives the open leaf up. Idempotent. */
    void leave();

    /** Gives up everything. Idempotent. */
    void close();
}
