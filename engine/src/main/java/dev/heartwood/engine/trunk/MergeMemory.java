package dev.heartwood.engine.trunk;

import dev.heartwood.engine.branch.BranchWriter;
import dev.heartwood.engine.filter.MapletBuilder;
import dev.heartwood.engine.page.PageLayout;

/**
 * The memory that carrying out a plan takes, about, in bytes: read-ahead for every input, a writer, the fingerprints of what is
 * written, once as they come and once sorted, and a buffer for every maplet read. Only the read-ahead can be made smaller.
 *
 * @param inputs runs to be read
 * @param fixedBytes what does not depend on how much is read at once
 */
record MergeMemory(int inputs, long fixedBytes) {
    /** Reads shorter than this cost more in operations than they save in memory. */
    static final int CHUNK_PAGES_MIN = 4;

    private static final int CHUNK_PAGES_MAX = PageLayout.EXTENT_PAGES;
    private static final long MAPLET_WRITER_BYTES = PageLayout.EXTENT_BYTES;
    private static final long FINGERPRINT_BYTES = 5;
    private static final long SORTED_FINGERPRINT_BYTES = 8;

    static MergeMemory of(CompactionPlan plan, TreeStorage storage) {
        int inputs = 0;
        long entries = 0;
        for (MergeInput input : MergeInput.of(plan)) {
            if (input.isMerged(plan)) {
                inputs++;
                entries += input.entriesWithin(plan);
            }
        }
        int maplets = plan.bundles().size();
        long readers = (long) maplets * MapletBuilder.chunkPages(maplets) * PageLayout.PAGE_BYTES;
        long fingerprints = Math.min(entries * FINGERPRINT_BYTES, fingerprintBytesMax(storage));
        long sorted = fingerprints / FINGERPRINT_BYTES * SORTED_FINGERPRINT_BYTES;
        long writer = inputs == 0 ? 0 : BranchWriter.memoryBytes(storage.mergeBuffers());
        return new MergeMemory(inputs, writer + fingerprints + sorted + readers + MAPLET_WRITER_BYTES);
    }

    /** The most that one merge takes for the fingerprints of what it writes, before they are sorted. */
    static long fingerprintBytesMax(TreeStorage storage) {
        return storage.mergeBuffers().capacity() / 5;
    }

    /** All of it when {@code chunkPages} are read at once. */
    long bytes(int chunkPages) {
        return fixedBytes + 2L * inputs * chunkPages * PageLayout.PAGE_BYTES;
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
