package dev.heartwood.engine.node;

import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.BranchCursor;
import dev.heartwood.engine.branch.BranchWriter;
import dev.heartwood.engine.filter.MapletBuilder;
import dev.heartwood.engine.page.PageLayout;
import java.util.List;

/**
 * The memory that carrying out a plan takes, about, in bytes: first for merging, with read-ahead and a key for every input, a writer, and the
 * fingerprints of what is written; then for the maplet, with those, the same sorted, those of kept runs that have to be made anew, and a buffer for every
 * maplet read. Only the read-ahead can be made smaller.
 *
 * @param inputs runs to be read
 * @param mergingBytes what merging takes and does not depend on how much is read at once
 * @param mapletBytes what building the maplet takes
 * @param refreshes whether that is with new fingerprints of kept runs
 * @param pieces how the fingerprints of what is written are held
 */
public record MergeMemory(int inputs, long mergingBytes, long mapletBytes, boolean refreshes, FingerprintPieces pieces) {
    /** Reads shorter than this cost more in operations than they save in memory. */
    public static final int CHUNK_PAGES_MIN = 4;

    private static final int CHUNK_PAGES_MAX = PageLayout.EXTENT_PAGES;
    /** The two buffers of a cursor that reads a kept run, and a key. */
    private static final long REFRESHING_BYTES = 2L * PageLayout.EXTENT_BYTES + Branch.KEY_BYTES_MAX;

    public static MergeMemory of(CompactionPlan plan, TreeStorage storage) {
        List<MergeInput> runs = MergeInput.of(plan);
        int inputs = 0;
        long entries = 0;
        long cursors = 0;
        for (MergeInput run : runs) {
            if (run.isMerged(plan)) {
                inputs++;
                cursors += BranchCursor.memoryBytes(run.run().branch());
                entries += run.entriesWithin(plan);
            }
        }
        long all = entries + keptEntries(plan, runs);
        FingerprintPieces pieces = FingerprintPieces.of(entries, all, storage.fingerprintBufferBytes());
        long writer = inputs == 0 ? 0 : BranchWriter.memoryBytes(storage.mergeBuffers());
        long merging = writer + cursors + pieces.writingBytes(entries);
        long fresh = pieces.buffered(entries);
        int maplets = plan.bundles().size() + pieces.maplets();
        long stale = staleEntries(plan, runs, all);
        if (stale > 0) {
            long maplet = mapletBytes(fresh + stale, maplets) + REFRESHING_BYTES;
            if (maplet <= MergeAdmission.mergeBytesMax(storage.mergeBuffers())) {
                return new MergeMemory(inputs, merging, maplet, true, pieces);
            }
        }
        return new MergeMemory(inputs, merging, mapletBytes(fresh, maplets), false, pieces);
    }

    private static long mapletBytes(long fingerprints, int maplets) {
        return fingerprints * FingerprintPieces.FINGERPRINT_BYTES + MapletBuilder.memoryBytes(fingerprints, maplets);
    }

    private static long keptEntries(CompactionPlan plan, List<MergeInput> runs) {
        long kept = 0;
        for (MergeInput run : runs) {
            kept += run.isMerged(plan) ? 0 : run.bundle().maplet().entries(run.value());
        }
        return kept;
    }

    /** The entries of kept runs whose fingerprints are too short for a maplet of {@code all}. */
    private static long staleEntries(CompactionPlan plan, List<MergeInput> runs, long all) {
        long stale = 0;
        for (MergeInput run : runs) {
            boolean isStale = !run.isMerged(plan) && MapletBuilder.needsRefresh(run.bundle().maplet(), all);
            stale += isStale ? run.entriesWithin(plan) : 0;
        }
        return stale;
    }

    /** All of it when {@code chunkPages} are read at once. */
    public long bytes(int chunkPages) {
        return Math.max(mapletBytes, mergingBytes + 2L * inputs * chunkPages * PageLayout.PAGE_BYTES);
    }

    /** The most pages to read at once, a power of two, so that no more than {@code bytesMax} are taken; at least the minimum. */
    int chunkPages(long bytesMax) {
        int chunkPages = CHUNK_PAGES_MAX;
        while (chunkPages > CHUNK_PAGES_MIN && bytes(chunkPages) > bytesMax) {
            chunkPages /= 2;
        }
        return chunkPages;
    }
}
