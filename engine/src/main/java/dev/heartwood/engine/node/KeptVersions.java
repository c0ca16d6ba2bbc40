package dev.heartwood.engine.node;

import java.util.Arrays;

/**
 * Entries of a run that younger ones of the same run supersede, and that were kept when it was written because views of then see them: each is
 * redundant as soon as no view is open any more that is as old as the youngest that sees it. Nothing of it is stored, since no view outlives its
 * store. Immutable.
 */
public final class KeptVersions {
    /*
     * Views are told apart one by one from the oldest on, since those are closed first as a rule, and what they leave is counted anew in the
     * merge that drops it. Of more views, neighbours are one group, which is free when the youngest of them is closed.
     */
    private static final int SINGLE_VIEWS = 8;

    private static final int GROUPS = 8;

    public static final KeptVersions NONE = new KeptVersions(new long[0], new long[0]);

    /** Views after whose closing some are free, ascending. */
    private final long[] views;
    /** How many are free when none is open that is as old as the view at the same place. */
    private final long[] freeAfter;

    private KeptVersions(long[] views, long[] freeAfter) {
        this.views = views;
        this.freeAfter = freeAfter;
    }

    /**
     * What a merge has kept.
     *
     * @param views the sequence numbers of open views, ascending
     * @param entries for each of them, how many versions it sees, and no younger one, that younger ones of the run supersede
     */
    public static KeptVersions of(long[] views, long[] entries) {
        long total = Arrays.stream(entries).sum();
        if (total == 0) {
            return NONE;
        }
        long[] groupViews = new long[SINGLE_VIEWS + GROUPS];
        long[] freeAfter = new long[SINGLE_VIEWS + GROUPS];
        int groups = 0;
        long counted = 0;
        long least = 1;
        long gathered = 0;
        for (int i = 0; i < views.length; i++) {
            gathered += entries[i];
            if (gathered >= least || gathered > 0 && counted + gathered == total) {
                counted += gathered;
                gathered = 0;
                groupViews[groups] = views[i];
                freeAfter[groups] = counted;
                groups++;
                least = groups == SINGLE_VIEWS ? Math.max(1, Math.ceilDiv(total - counted, GROUPS)) : least;
            }
        }
        return new KeptVersions(Arrays.copyOf(groupViews, groups), Arrays.copyOf(freeAfter, groups));
    }

    /** How many there are. */
    public long entries() {
        return freeAfter.length == 0 ? 0 : freeAfter[freeAfter.length - 1];
    }

    /** How many of them nobody sees any more when the oldest view is at {@code oldestView}, Long.MAX_VALUE when there is none; at least. */
    public long free(long oldestView) {
        int closed = views.length;
        while (closed > 0 && views[closed - 1] >= oldestView) {
            closed--;
        }
        return closed == 0 ? 0 : freeAfter[closed - 1];
    }
}
