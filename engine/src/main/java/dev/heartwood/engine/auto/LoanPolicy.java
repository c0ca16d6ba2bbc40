package dev.heartwood.engine.auto;

/**
 * Decides when memory that memtables have no use for is lent to a cache: while so little is written that they have the memory back in
 * time. Belongs to one thread at a time.
 */
public final class LoanPolicy {
    /*
     * What is written fills a bucket that leaks as much as may be written in each interval. Lending ends when the bucket is full, at once, and
     * begins again when it has run dry, as soon as the damping allows.
     */
    /** Intervals in which a memtable fills, at least, while memory is lent: what is lent anew has been worth its reads by then. */
    private static final double INTERVALS_PER_MEMTABLE = 20;

    /** Intervals after which a bucket that is full has run dry. */
    private static final double BUCKET_INTERVALS = 5;

    private final Damping damping = new Damping();
    private final double leak;
    private double level;
    private boolean lending;

    /** For memtables of a size. */
    public LoanPolicy(long memtableBytes) {
        leak = memtableBytes / INTERVALS_PER_MEMTABLE;
    }

    /** Whether what is free is to be lent after an interval in which all stores together were given so many bytes. */
    public boolean mayLend(long bytesWritten) {
        double full = BUCKET_INTERVALS * leak;
        level = Math.min(full, Math.max(0, level + bytesWritten - leak));
        boolean isDry = damping.allows(!lending && level == 0);
        if (lending && level == full) {
            stop();
        } else if (isDry) {
            lending = true;
            damping.changed();
        }
        return lending;
    }

    /** Notes that somebody could not have the memory in time. */
    public void stop() {
        if (lending) {
            lending = false;
            damping.changed();
        }
    }
}
