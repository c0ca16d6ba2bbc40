package dev.heartwood.engine.merge;

import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.node.MergeAdmission;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkPolicies;
import dev.heartwood.engine.os.MemoryPool;

/** A tree of small nodes over a file in memory, for tests of what drives its merges. */
public final class SmallTree implements AutoCloseable {
    private final TrunkFixture tree =
            new TrunkFixture(new TreeShape(8, 4, 4096, 8192, 16384), TrunkPolicies.SIZE_TIERED, new History.Append(true));

    private final Compactions compactions = new Compactions(
            tree.storage, tree.trunk, new MergeAdmission(tree.pool), () -> 0, tree::liveSnapshots, tree.operator(), null);

    public Compactions compactions() {
        return compactions;
    }

    /** Packs memtables into it. */
    public MemtablePacker packer() {
        return tree.packer;
    }

    /** Those of its file. */
    public ExtentAllocator extents() {
        return tree.extents;
    }

    /** Where merges take their memory from. */
    public MemoryPool pool() {
        return tree.pool;
    }

    /** Writes so many keys, the same ones each time, as one run. */
    public void write(int keys) {
        for (int i = 0; i < keys; i++) {
            tree.put("key" + i, "value ".repeat(20));
        }
        tree.pack();
    }

    @Override
    public void close() {
        tree.storage.close();
        tree.releaseAll();
        tree.close();
    }
}
