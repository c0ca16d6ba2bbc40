package dev.heartwood.engine.trunk;

/**
 * Entries of a run that younger ones of the same run supersede, and that were kept when it was written because the oldest view of then
 * sees them: redundant as soon as that view is closed. Nothing of it is stored, since no view outlives its store.
 *
 * @param entries how many
 * @param view the sequence number that the view sees
 */
record KeptVersions(long entries, long view) {
    static final KeptVersions NONE = new KeptVersions(0, 0);

    /** Whether nobody sees them any more when the oldest view is at {@code oldestView}, Long.MAX_VALUE when there is none. */
    boolean areFree(long oldestView) {
        return view < oldestView;
    }
}
