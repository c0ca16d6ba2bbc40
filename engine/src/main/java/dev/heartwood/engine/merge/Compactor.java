package dev.heartwood.engine.merge;

import dev.heartwood.CompactionFilter;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.MergeOperator;
import dev.heartwood.engine.branch.MergeInputs;
import dev.heartwood.engine.branch.WriteMode;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.FingerprintPieces;
import dev.heartwood.engine.node.KeptVersions;
import dev.heartwood.engine.node.MergeInput;
import dev.heartwood.engine.node.MergeMemory;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.trunk.Trunk;
import java.util.ArrayList;
import java.util.List;

/**
 * Carries a plan out: merges the runs it names into one, leaves the others as they are, and builds the one maplet for all of
 * them. Thread-safe; each call is on its own.
 */
public final class Compactor {
    /** Room for the longest key. */
    static final long KEY_SCRATCH_BYTES = 1 << 16;

    private final TreeStorage storage;
    private final Trunk trunk;
    private final MergeOutput output;
    private final MergeOperator operator;
    private final CompactionFilter filter;

    public Compactor(TreeStorage storage, Trunk trunk, MergeOutput output, MergeOperator operator, CompactionFilter filter) {
        this.storage = storage;
        this.trunk = trunk;
        this.output = output;
        this.operator = operator;
        this.filter = filter;
    }

    /**
     * What a plan came to.
     *
     * @param bundle the new bundle with references of its own, or null when nothing is left
     * @param mergedPosition where in it the merged run is, or -1 when there is none
     */
    public record Result(Bundle bundle, int mergedPosition) {}

    /** Does the work; {@code snapshots} are the live ones, ascending. Inputs are read {@code chunkPages} at once. */
    public Result run(CompactionPlan plan, long[] snapshots, MergeMemory memory, int chunkPages) {
        List<MergeInput> inputs = MergeInput.of(plan);
        WriteMode mode = output.mode(plan);
        RunWriter writer = null;
        Run merged = null;
        try {
            if (plan.runFrom() < plan.runTo()) {
                writer = new RunWriter(storage, trunk.newId(), mode, fingerprints(memory.pieces()));
                if (plan.gathers()) {
                    writer.gatherLargeValues();
                }
                KeptVersions versions = merge(plan, inputs, snapshots, chunkPages, writer);
                merged = writer.finish(versions);
            }
            Arrangement arrangement = arrange(plan, inputs, merged);
            RunFingerprints fresh = merged == null ? null : writer.fingerprints();
            MergedMaplet maplet = new MergedMaplet(
                    storage,
                    MergeOutput.filterMode(mode),
                    plan,
                    inputs,
                    arrangement.mergedPosition(),
                    fresh,
                    trunk.shape().filterEntriesMax());
            return assemble(plan, arrangement, maplet, memory.refreshes());
        } catch (RuntimeException | Error e) {
            if (merged != null) {
                merged.branch().release();
            }
            throw e;
        } finally {
            if (writer != null) {
                writer.close();
            }
        }
    }

    /** In pieces only where there is space for them beside what merges need. */
    private RunFingerprints fingerprints(FingerprintPieces pieces) {
        boolean areHeld = pieces.isOneBuffer() || storage.extents().hasForMerges(trunk.mergeExtents() + pieces.extents());
        return RunFingerprints.ofMerged(storage, areHeld ? pieces : pieces.inOneBuffer(), trunk::newId);
    }

    private KeptVersions merge(
            CompactionPlan plan, List<MergeInput> inputs, long[] snapshots, int chunkPages, RunWriter writer) {
        long scratch = storage.mergeBuffers().allocate(KEY_SCRATCH_BYTES);
        if (scratch == 0) {
            throw new InsufficientMemoryException("no buffer to merge with");
        }
        try (MergeInputs merge = new MergeInputs(storage.file(), chunkPages)) {
            writer.takePlacesOf(merge);
            long bytes = 0;
            for (MergeInput input : inputs) {
                if (input.isMerged(plan)) {
                    merge.add(input.run().branch(), input.activeRanges(plan));
                    bytes += input.run().sample().bytesWithin(plan.span());
                }
            }
            VersionCollapser collapser =
                    new VersionCollapser(snapshots, plan.reachesBottom(), operator, filter, trunk.events());
            collapser.run(merge.merged(), writer, scratch);
            trunk.events().compacted(bytes, writer.bytes());
            return collapser.kept();
        } finally {
            storage.mergeBuffers().free(scratch, KEY_SCRATCH_BYTES);
        }
    }

    /** The runs of the new bundle, which of the inputs are among them, and where the merged run is, or -1. */
    private record Arrangement(List<Run> runs, List<MergeInput> kept, int mergedPosition) {}

    private static Arrangement arrange(CompactionPlan plan, List<MergeInput> inputs, Run merged) {
        List<Run> runs = new ArrayList<>();
        List<MergeInput> kept = new ArrayList<>();
        int mergedPosition = -1;
        for (MergeInput input : inputs) {
            if (!input.isMerged(plan)) {
                if (input.position() >= plan.runTo() && merged != null && mergedPosition < 0) {
                    mergedPosition = runs.size();
                    runs.add(merged);
                }
                kept.add(input);
                runs.add(input.run());
            }
        }
        if (merged != null && mergedPosition < 0) {
            mergedPosition = runs.size();
            runs.add(merged);
        }
        return new Arrangement(runs, kept, mergedPosition);
    }

    private Result assemble(CompactionPlan plan, Arrangement arrangement, MergedMaplet mergedMaplet, boolean mayRefresh) {
        if (arrangement.runs().isEmpty()) {
            return new Result(null, -1);
        }
        Run[] runs = arrangement.runs().toArray(Run[]::new);
        Maplet maplet = mergedMaplet.build(trunk.newId(), mayRefresh);
        Result result;
        try {
            Bundle bundle = new Bundle(trunk.newId(), maplet, runs, plan.outputSpan(), plan.dealsWithAll());
            result = new Result(bundle, arrangement.mergedPosition());
        } catch (RuntimeException | Error e) {
            maplet.release();
            throw e;
        }
        // Last, and without taking anything of the Java heap: from here on nothing fails.
        for (int i = 0; i < arrangement.kept().size(); i++) {
            arrangement.kept().get(i).run().branch().retain();
        }
        return result;
    }
}
