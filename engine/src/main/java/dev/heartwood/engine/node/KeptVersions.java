package dev.heartwood.engine.node;

/**
 * Entries of a run that younger ones of the same run supersede, and that were kept when it was written because the oldest view of then
 * sees them: redundant as soon as that view is closed, and every other that sees one of them. Nothing of it is stored, since no view
 * outlives its store.
 *
 * @param entries how many
 * @param view the sequence number of the youngest view that sees one of them
 */
public record KeptVersions(long entries, long view) {
    public static final KeptVersions NONE = new KeptVersions(0, 0);

    /** Whether nobody sees them any more when the oldest view is at {@code oldestView}, Long.MAX_VALUE when there is none. */
    public boolean areFree(long oldestView) {
        return view < oldestView;
    }
}
