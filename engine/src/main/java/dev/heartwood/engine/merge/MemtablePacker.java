package dev.heartwood.engine.merge;

import dev.heartwood.CompactionFilter;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.MergeOperator;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.WriteMode;
import dev.heartwood.engine.filter.FingerprintBuffer;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.filter.MapletBuilder;
import dev.heartwood.engine.memtable.Memtable;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.KeptVersions;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.trunk.PackedMemtable;
import dev.heartwood.engine.trunk.Trunk;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Packs a sealed memtable into a run with its maplet and adds it to the root (incorporation; SplinterDB, section 2.3). One
 * memtable at a time, in the order of their generations.
 */
public final class MemtablePacker {
    private final TreeStorage storage;
    private final Trunk trunk;
    private final Supplier<long[]> snapshots;
    private final MergeOperator operator;
    private final Consumer<FingerprintBuffer> beforeIncorporation;

    /** @param beforeIncorporation is given the hashes of the keys whose newest entries readers will find in the tree from then on */
    public MemtablePacker(
            TreeStorage storage,
            Trunk trunk,
            Supplier<long[]> snapshots,
            MergeOperator operator,
            Consumer<FingerprintBuffer> beforeIncorporation) {
        this.storage = storage;
        this.trunk = trunk;
        this.snapshots = snapshots;
        this.operator = operator;
        this.beforeIncorporation = beforeIncorporation;
    }

    /**
     * Packs {@code memtable}, which holds everything of {@code generation} and is not written to any more.
     *
     * @return what it has become, for those who go on reading an older version; the caller gives it back
     */
    public PackedMemtable pack(Memtable memtable, long generation) {
        memtable.seal();
        // One without entries needs no memory for it: a store that was just opened may have none, and has to go on to another.
        Bundle bundle = memtable.entries() == 0 ? null : bundle(memtable);
        PackedMemtable packed = packed(bundle, generation);
        try {
            trunk.incorporate(bundle, generation);
            return packed;
        } catch (RuntimeException | Error e) {
            storage.extents().packingFailed();
            packed.release();
            throw e;
        }
    }

    private PackedMemtable packed(Bundle bundle, long generation) {
        try {
            return new PackedMemtable(bundle, generation);
        } catch (RuntimeException | Error e) {
            storage.extents().packingFailed();
            if (bundle != null) {
                bundle.release();
            }
            throw e;
        }
    }

    private Bundle bundle(Memtable memtable) {
        long scratch = storage.mergeBuffers().allocate(Compactor.KEY_SCRATCH_BYTES);
        if (scratch == 0) {
            throw new InsufficientMemoryException("no buffer to pack a memtable with");
        }
        try (EntryCursor entries = memtable.sealedCursor();
                RunWriter writer = RunWriter.withKeyHashes(storage, trunk.newId(), WriteMode.CACHED)) {
            VersionCollapser collapser =
                    new VersionCollapser(snapshots.get(), false, operator, (CompactionFilter) null, trunk.events());
            collapser.run(entries, writer, scratch);
            return bundle(writer, collapser.kept());
        } finally {
            storage.mergeBuffers().free(scratch, Compactor.KEY_SCRATCH_BYTES);
        }
    }

    private Bundle bundle(RunWriter writer, KeptVersions kept) {
        if (writer.fingerprints() == null) {
            throw new InsufficientMemoryException("no memory for the fingerprints of a memtable");
        }
        beforeIncorporation.accept(writer.keyHashes());
        Run run = null;
        Maplet maplet = null;
        try {
            run = writer.finish(kept);
            if (run == null) {
                return null;
            }
            maplet = new MapletBuilder(storage.maplets(), trunk.newId(), dev.heartwood.engine.filter.WriteMode.CACHED)
                    .add(writer.fingerprints().buffer(), 0)
                    .build();
            return new Bundle(trunk.newId(), maplet, new Run[] {run}, Span.ALL, true);
        } catch (RuntimeException | Error e) {
            storage.extents().packingFailed();
            if (maplet != null) {
                maplet.release();
            }
            if (run != null) {
                run.branch().release();
            }
            throw e;
        }
    }
}
