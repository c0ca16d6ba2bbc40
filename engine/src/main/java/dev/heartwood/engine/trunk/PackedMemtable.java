package dev.heartwood.engine.trunk;

import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkVersion;
import java.util.ArrayList;
import java.util.List;

/**
 * What a memtable has become in the tree: the run as it was packed, wherever the tree has moved it since. Who reads an older version of the
 * tree with that memtable above it can read it in its place. Holds references of its own; given back once.
 */
public final class PackedMemtable {
    /** Null when nothing was left of the memtable. */
    private final Bundle bundle;

    private final long generation;

    public PackedMemtable(Bundle bundle, long generation) {
        this.bundle = bundle;
        this.generation = generation;
        if (bundle != null) {
            bundle.retain();
        }
    }

    /**
     * A version that has memtables above another one, to be read and never published; the caller owns its first reference.
     *
     * @param version the caller holds a reference
     * @param oldestFirst the memtables that follow upon the version, each held
     */
    public static TrunkVersion above(TrunkVersion version, List<PackedMemtable> oldestFirst) {
        TrunkNode root = version.root();
        List<Bundle> bundles = new ArrayList<>(root.bundles());
        for (PackedMemtable memtable : oldestFirst) {
            if (memtable.bundle != null) {
                bundles.add(memtable.bundle);
            }
        }
        return new TrunkVersion(root.with(root.pivots(), bundles), oldestFirst.getLast().generation);
    }

    /** Gives the references back. */
    public void release() {
        if (bundle != null) {
            bundle.release();
        }
    }
}
