package dev.heartwood;

/** A key, value or batch is longer than the store takes. Nothing has changed. */
public final class TooLargeException extends StoreException {
    private final long size;
    private final long limit;

    /**
     * Says what is too large.
     *
     * @param what key, value or batch
     * @param size its size in bytes
     * @param limit the most the store takes, in bytes
     */
    public TooLargeException(String what, long size, long limit) {
        super(what + " of " + size + " bytes is over the limit of " + limit, null);
        this.size = size;
        this.limit = limit;
    }

    /** The refused size in bytes. */
    public long size() {
        return size;
    }

    /** The limit in bytes. */
    public long limit() {
        return limit;
    }
}
