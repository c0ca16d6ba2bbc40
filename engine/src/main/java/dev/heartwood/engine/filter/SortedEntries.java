package dev.heartwood.engine.filter;

/** Fingerprints in strictly ascending order, all of one length, each with its values. For one thread. */
interface SortedEntries extends AutoCloseable {
    /** Goes to the next fingerprint; false behind the last. */
    boolean next();

    long fingerprint();

    /** The values of the fingerprint, as a bitmap. */
    long values();

    @Override
    void close();
}
