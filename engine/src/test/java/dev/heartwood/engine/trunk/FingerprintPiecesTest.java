package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.NoSpaceException;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.extent.Purpose;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.page.PageLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Merges of more keys than one buffer has fingerprints of. Each is of half of the keys of its runs, so that filters that are taken over show:
 * they name them all.
 */
class FingerprintPiecesTest {
    private static final int RUNS = 8;
    private static final int RUN_KEYS = 40_000;
    private static final int KEYS = RUNS * RUN_KEYS;
    private static final int MERGED = KEYS / 2;
    private static final String MIDDLE = key(0, RUN_KEYS / 2);
    private static final long LITTLE_MEMORY = 2 << 20;
    /** Has a buffer for all. */
    private static final long MUCH_MEMORY = 16 << 20;

    /** What is not counted: room for a key, and what blocks and buckets of fingerprints are larger than what is in them. */
    private static final double UNCOUNTED_SHARE = 0.25;

    private static final long UNCOUNTED_BYTES = 128 << 10;

    private TrunkFixture tree;

    private void open(long mergeBytes) {
        tree = new TrunkFixture(new TreeShape(8, 2 * RUNS, 1, 1 << 26, 1 << 26), TrunkPolicies.SIZE_TIERED, mergeBytes);
        for (int run = 0; run < RUNS; run++) {
            for (int i = 0; i < RUN_KEYS; i++) {
                tree.put(key(run, i), "v");
            }
            tree.pack();
        }
        tree.epochs.reclaim();
    }

    private static String key(int run, int number) {
        return String.format("%06d%02d", number, run);
    }

    @AfterEach
    void close() {
        tree.releaseAll();
        tree.close();
    }

    private CompactionPlan plan() {
        TrunkNode leaf = tree.trunk.version().root();
        Span half = new Span(null, History.bytes(MIDDLE));
        return new CompactionPlan(0, half, leaf, 0, leaf.bundleCount(), 0, RUNS);
    }

    private Bundle merge(FingerprintPieces pieces) {
        MergeMemory whole = MergeMemory.of(plan(), tree.storage);
        MergeMemory memory =
                new MergeMemory(RUNS, whole.mergingBytes(), whole.mapletBytes(), whole.refreshes(), pieces);
        return merge(memory);
    }

    /** A merge, which has nothing left but its result. */
    private Bundle merge(MergeMemory memory) {
        tree.epochs.reclaim();
        int before = tree.extents.allocatedCount();
        Bundle bundle = tree.compactor
                .run(plan(), tree.liveSnapshots(), memory, MergeMemory.CHUNK_PAGES_MIN)
                .bundle();
        tree.epochs.reclaim();
        assertEquals(MERGED, bundle.runs()[0].branch().entries());
        int ofResult = bundle.runs()[0].branch().extents().length + bundle.maplet().extentCount();
        assertEquals(before + ofResult, tree.extents.allocatedCount());
        return bundle;
    }

    /** Some keys have the same fingerprint. */
    private static void assertNames(int keys, Bundle bundle) {
        assertEquals(keys, bundle.maplet().entries(), keys / 1000.0);
    }

    @Test
    void theirFilterIsAsThatOfOneBuffer() {
        open(MUCH_MEMORY);
        FingerprintPieces buffer = MergeMemory.of(plan(), tree.storage).pieces();
        assertTrue(buffer.isOneBuffer(), buffer::toString);
        Bundle atOnce = merge(buffer);
        Bundle joined = merge(new FingerprintPieces(RUNS, MERGED / RUNS + 1, MERGED));
        assertEquals(shape(atOnce.maplet()), shape(joined.maplet()));
        atOnce.release();
        joined.release();
    }

    private static String shape(Maplet maplet) {
        return maplet.entries() + " entries, " + maplet.fingerprintBits() + " bits, " + maplet.pages() + " pages";
    }

    @Test
    void theirMemoryIsCounted() {
        open(LITTLE_MEMORY);
        MergeMemory memory = MergeMemory.of(plan(), tree.storage);
        assertTrue(memory.pieces().count() > 2, memory::toString);
        long before = tree.mergePool.allocated();
        long[] peak = {0};
        tree.mergePool.whenShort(
                Long.MAX_VALUE, refused -> peak[0] = Math.max(peak[0], tree.mergePool.allocated() - before));
        Bundle bundle = merge(memory);
        tree.mergePool.whenShort(0, refused -> {});
        assertNames(MERGED, bundle);
        bundle.release();
        long counted = memory.bytes(MergeMemory.CHUNK_PAGES_MIN);
        assertTrue(
                peak[0] <= counted * (1 + UNCOUNTED_SHARE) + UNCOUNTED_BYTES,
                () -> peak[0] + " bytes taken, counted " + counted);
        // Those of one buffer, sorted, would be more than all of the memory.
        assertTrue(peak[0] < MERGED * 13L * 3 / 4, () -> peak[0] + " bytes taken");
    }

    @Test
    void moreThanWereExpectedAreGivenUp() {
        open(LITTLE_MEMORY);
        Bundle bundle = merge(new FingerprintPieces(2, MERGED / 4, MERGED));
        assertNames(KEYS, bundle);
        bundle.release();
    }

    @Test
    void theyTakeNoSpaceThatMergesNeed() {
        open(LITTLE_MEMORY);
        MergeMemory memory = MergeMemory.of(plan(), tree.storage);
        Deque<Integer> taken = new ArrayDeque<>();
        try {
            while (true) {
                taken.push(tree.extents.allocate(Purpose.PACKING));
            }
        } catch (NoSpaceException full) {
            // From here on with ever one more to spare.
        }
        long needed = tree.trunk.mergeExtents();
        while (!tree.extents.hasForMerges(needed)) {
            tree.extents.giveBack(taken.pop(), Purpose.PACKING);
        }
        Bundle bundle = merge(memory);
        assertNames(KEYS, bundle);
        bundle.release();
        while (!tree.extents.hasForMerges(needed + memory.pieces().extents())) {
            tree.extents.giveBack(taken.pop(), Purpose.PACKING);
        }
        bundle = merge(memory);
        assertNames(MERGED, bundle);
        bundle.release();
    }

    @Test
    void tooManyPiecesAreNotBegun() {
        open(LITTLE_MEMORY);
        long buffer = FingerprintPieces.bufferBytesMax(tree.mergePool) / FingerprintPieces.FINGERPRINT_BYTES;
        FingerprintPieces most = FingerprintPieces.of(buffer * 14, buffer * 14, tree.mergePool);
        assertTrue(most.count() <= 64, most::toString);
        assertTrue(most.count() * most.pieceEntries() >= buffer * 14, most::toString);
        assertTrue(most.extents() * PageLayout.EXTENT_BYTES > buffer * 14 * 2, most::toString);
        assertNull(FingerprintPieces.of(buffer * 16, buffer * 16, tree.mergePool));
    }
}
