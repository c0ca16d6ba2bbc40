package dev.heartwood.engine.node;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.filter.Maplet;

/**
 * Runs, from oldest to youngest, and the one maplet that tells which of them may hold a key. Immutable; shared by nodes.
 *
 * @param id names what the bundle holds, so that a merge finds its input again after nodes have been split, merged or pruned
 * @param maplet maps a fingerprint to positions in {@code runs}
 * @param runs the runs; null where a run has moved on for every key of the node
 * @param span the keys for which the bundle counts; a node merged from two keeps each one's bundles to its own keys
 * @param settled false from a flush until a merge has dealt with the runs at their new node
 */
public record Bundle(long id, Maplet maplet, Run[] runs, Span span, boolean settled) {
    /** This bundle, counting only for keys also in {@code other}. */
    public Bundle slice(Span other) {
        Span narrowed = span.intersect(other);
        return narrowed.equals(span) ? this : new Bundle(id, maplet, runs, narrowed, settled);
    }

    /** This bundle with other runs in the same positions. */
    public Bundle withRuns(Run[] others) {
        return new Bundle(id, maplet, others, span, settled);
    }

    /** This bundle as one that no merge has to deal with. */
    public Bundle asSettled() {
        return settled ? this : new Bundle(id, maplet, runs, span, true);
    }

    /** Whether no run is left. */
    boolean isEmpty() {
        for (Run run : runs) {
            if (run != null) {
                return false;
            }
        }
        return true;
    }

    /** Takes a reference to everything in the bundle. */
    public void retain() {
        maplet.retain();
        for (Run run : runs) {
            if (run != null) {
                run.branch().retain();
            }
        }
    }

    /** Gives the references of {@link #retain} back. */
    public void release() {
        maplet.release();
        for (Run run : runs) {
            if (run != null) {
                run.branch().release();
            }
        }
    }
}
