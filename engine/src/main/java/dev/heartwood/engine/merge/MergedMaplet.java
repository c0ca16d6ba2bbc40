package dev.heartwood.engine.merge;

import dev.heartwood.CorruptionException;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.engine.branch.BranchCursor;
import dev.heartwood.engine.filter.FingerprintBuffer;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.filter.MapletBuilder;
import dev.heartwood.engine.filter.WriteMode;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.MergeInput;
import dev.heartwood.engine.node.TreeStorage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Builds the one maplet of a merge's bundle. Belongs to one thread. */
final class MergedMaplet {
    /*
     * The merged run's own fingerprints are the best: as long as can be, and of live keys only. So are those of kept runs
     * whose maplet has become too short for the size of the new one. Both take memory for each key, and a merge takes no more for that than it
     * was admitted with: whoever packs a memtable needs some too. And kept runs that cannot be read are taken as they are. The maplets of the plan's
     * bundles name every key that the merged run has, too, among others that are gone; so where memory is short, they are taken over
     * as they are, and the maplet errs a little more often. So they are where a key's versions and those of kept runs make more
     * fingerprints than a maplet may have: what the plan's bundles name is not more (FilterLimit).
     */
    private enum Effort {
        REFRESHED,
        FRESH,
        INHERITED
    }

    private final TreeStorage storage;
    private final WriteMode mode;
    private final CompactionPlan plan;
    private final List<MergeInput> inputs;
    private final int mergedPosition;
    private final RunFingerprints fresh;
    private final long entriesMax;

    /**
     * A maplet to be built.
     *
     * @param mergedPosition the place of the merged run in the new bundle, or -1 when there is none
     * @param fresh fingerprints of the merged run; null when there is none or they were given up
     * @param entriesMax the most entries of a maplet
     */
    MergedMaplet(
            TreeStorage storage,
            WriteMode mode,
            CompactionPlan plan,
            List<MergeInput> inputs,
            int mergedPosition,
            RunFingerprints fresh,
            long entriesMax) {
        this.storage = storage;
        this.mode = mode;
        this.plan = plan;
        this.inputs = inputs;
        this.mergedPosition = mergedPosition;
        this.fresh = fresh;
        this.entriesMax = entriesMax;
    }

    /**
     * Builds it with the number {@code id}, as well as the memory allows.
     *
     * @param mayRefresh whether the merge was admitted with memory for new fingerprints of kept runs
     */
    Maplet build(long id, boolean mayRefresh) {
        if (mergedPosition < 0 || fresh != null) {
            for (Effort effort : mayRefresh ? List.of(Effort.REFRESHED, Effort.FRESH) : List.of(Effort.FRESH)) {
                try {
                    Maplet maplet = build(id, effort);
                    if (maplet != null) {
                        return maplet;
                    }
                } catch (InsufficientMemoryException e) {
                    continue; // the next takes less
                } catch (CorruptionException | ReadFailedException e) {
                    if (effort == Effort.REFRESHED) {
                        continue; // the next does not read kept runs
                    }
                    if (mergedPosition < 0 || !fresh.isInPieces()) {
                        throw e;
                    }
                    break; // if it is not a piece that is damaged, the input is met again
                }
            }
        }
        return build(id, Effort.INHERITED);
    }

    /** Null when new fingerprints are too many for a maplet. */
    private Maplet build(long id, Effort effort) {
        // Never grows: on a full Java heap what could not be added would not be closed.
        List<FingerprintBuffer> refreshed = new ArrayList<>(inputs.size());
        try {
            MapletBuilder builder = builder(id, effort, 0, refreshed);
            long stale = effort == Effort.REFRESHED ? builder.needsRefresh() : 0;
            builder = stale == 0 ? builder : builder(id, effort, stale, refreshed);
            return effort == Effort.INHERITED || builder.fits() ? builder.build() : null;
        } finally {
            refreshed.forEach(FingerprintBuffer::close);
        }
    }

    /** A builder of the new maplet; kept runs whose new position is in {@code stale} have their keys hashed again. */
    private MapletBuilder builder(long id, Effort effort, long stale, List<FingerprintBuffer> refreshed) {
        MapletBuilder builder = new MapletBuilder(storage.maplets(), id, mode, entriesMax);
        if (effort != Effort.INHERITED && mergedPosition >= 0) {
            fresh.addTo(builder, mergedPosition);
        }
        for (Bundle bundle : plan.bundles()) {
            int[] newValues = new int[Math.max(Long.SIZE, bundle.runs().length)];
            Arrays.fill(newValues, -1);
            int kept = 0;
            for (MergeInput input : inputs) {
                boolean merged = input.isMerged(plan);
                int position = merged ? mergedPosition : positionOfKept(kept);
                kept += merged ? 0 : 1;
                if (input.bundle() != bundle || merged && effort != Effort.INHERITED) {
                    continue;
                }
                if (!merged && (stale >>> position & 1) != 0) {
                    FingerprintBuffer again = fingerprints(input);
                    refreshed.add(again);
                    builder.add(again, position);
                } else {
                    newValues[input.value()] = position;
                }
            }
            if (Arrays.stream(newValues).anyMatch(value -> value >= 0)) {
                builder.add(bundle.maplet(), newValues);
            }
        }
        return builder;
    }

    /** The place in the new bundle of the run that is kept after {@code keptBefore} others. */
    private int positionOfKept(int keptBefore) {
        return mergedPosition >= 0 && keptBefore >= mergedPosition ? keptBefore + 1 : keptBefore;
    }

    /** Fingerprints of what a run holds for the node. */
    private FingerprintBuffer fingerprints(MergeInput input) {
        FingerprintBuffer again = new FingerprintBuffer(storage.mergeBuffers(), storage.fingerprintBufferBytes());
        try (BranchCursor entries = BranchCursor.streaming(input.run().branch(), input.activeRanges(plan))) {
            for (entries.seekFirst(); entries.valid(); entries.next()) {
                again.add(storage.filterHash(entries.keyAddress(), entries.keyLength()));
            }
            return again;
        } catch (RuntimeException | Error e) {
            again.close();
            throw e;
        }
    }
}
