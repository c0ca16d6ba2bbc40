package dev.heartwood.engine.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.NoSpaceException;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.extent.Purpose;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.filter.MapletBuilder;
import dev.heartwood.engine.filter.WriteMode;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.FingerprintPieces;
import dev.heartwood.engine.node.MergeAdmission;
import dev.heartwood.engine.node.MergeInput;
import dev.heartwood.engine.node.MergeMemory;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
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
    /** As little as stores have. */
    private static final long LITTLE_MEMORY = 3 << 20;

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
        // Those of one buffer would be 13 bytes for each while they are sorted.
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

    /** What the maplets of pieces lack the maplets of the input have. */
    @Test
    void aDamagedPieceIsGivenUp() {
        open(LITTLE_MEMORY);
        CompactionPlan plan = plan();
        int firstExtent = tree.extents.allocate(Purpose.COMPACTION);
        tree.extents.giveBack(firstExtent, Purpose.COMPACTION);
        int before = tree.extents.allocatedCount();
        try (RunFingerprints fingerprints =
                RunFingerprints.ofMerged(tree.storage, new FingerprintPieces(4, 1000, MERGED), tree.trunk::newId)) {
            for (long hash = 1; hash <= 3500; hash++) {
                fingerprints.add(hash * 0x9E3779B97F4A7C15L);
            }
            int pieces = tree.extents.allocatedCount() - before;
            assertEquals(3, pieces);
            MergedMaplet maplet = new MergedMaplet(
                    tree.storage, WriteMode.CACHED, plan, MergeInput.of(plan), 0, fingerprints, KEYS * 2L);
            Maplet sound = maplet.build(tree.trunk.newId(), false);
            assertEquals(3500, sound.entries());
            sound.release();
            tree.storage.file().discard((long) (firstExtent + 1) << PageLayout.EXTENT_SHIFT, PageLayout.EXTENT_PAGES);
            Maplet inherited = maplet.build(tree.trunk.newId(), false);
            assertEquals(KEYS, inherited.entries(), KEYS / 1000.0);
            inherited.release();
        }
        assertEquals(0, tree.mergePool.allocated());
    }

    @Test
    void ofVeryManyThereAreNoPieces() {
        open(LITTLE_MEMORY);
        long bytes = tree.storage.fingerprintBufferBytes();
        long buffer = bytes / FingerprintPieces.FINGERPRINT_BYTES;
        FingerprintPieces most = FingerprintPieces.of(buffer * 8, buffer * 8, bytes);
        assertTrue(most.count() > 1 && most.count() <= 24, most::toString);
        assertTrue(most.count() * most.pieceEntries() >= buffer * 8, most::toString);
        assertTrue(most.extents() * PageLayout.EXTENT_BYTES > buffer * 8 * 2, most::toString);
        // What they take, beside what merging takes.
        long building = most.pieceEntries() * 13 + MapletBuilder.memoryBytes(0, most.count());
        assertTrue(most.writingBytes(buffer * 8) < tree.mergePool.capacity() / 3, most::toString);
        assertTrue(building < MergeAdmission.mergeBytesMax(tree.mergePool), () -> building + " bytes of " + most);
        assertTrue(FingerprintPieces.of(buffer * 9, buffer * 9, bytes).isOneBuffer());
    }
}
