package dev.heartwood.engine.auto;

/**
 * Decides when memory that memtables have no use for is lent to a cache: while so little is written that they have the memory back in
 * time. Belongs to one thread at a time.
 */
public final class LoanPolicy {
    /** Intervals in which a memtable fills, at least, while memory is lent: what is lent anew has been worth its reads by then. */
    private static final double INTERVALS_PER_MEMTABLE = 20;

    /** Lending begins when less than that is written by a margin, and ends when more is by as much. */
    private static final double MARGIN = 1.5;

    private final Damping damping = new Damping();
    private final double slow;
    private boolean lending;

    /** For memtables of a size. */
    public LoanPolicy(long memtableBytes) {
        slow = memtableBytes / INTERVALS_PER_MEMTABLE;
    }

    /** Whether what is free may be lent after an interval in which all stores together were given so many bytes. */
    public boolean mayLend(long bytesWritten) {
        boolean wantsOther = lending ? bytesWritten > MARGIN * slow : MARGIN * bytesWritten < slow;
        if (damping.allows(wantsOther)) {
            lending = !lending;
        }
        // Whatever the time between two changes: what is needed at once is not lent.
        return lending && bytesWritten < slow;
    }
}
