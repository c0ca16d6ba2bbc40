package dev.heartwood.engine.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.merge.Compactor;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.page.PageLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What merges take of the pool beside what they say that they will. */
class MergeMemoryTest {
    /** With one maplet, whose fingerprints are too short for one of all runs. */
    private static final int SMALL_RUNS = 10;

    private static final int SMALL_RUN_KEYS = 7_000;
    private static final int LARGE_RUNS = 8;
    private static final int LARGE_RUN_KEYS = 70_000;
    private static final int RUNS = SMALL_RUNS + LARGE_RUNS;

    /** What is not counted: room for a key, and what blocks and buckets of fingerprints are larger than what is in them. */
    private static final double UNCOUNTED_SHARE = 0.25;

    private static final long UNCOUNTED_BYTES = 256 << 10;

    private final TrunkFixture tree = new TrunkFixture(
            new TreeShape(8, 2 * RUNS, 1, 1 << 26, 1 << 26), TrunkPolicies.SIZE_TIERED, null);
    private long peak;

    @BeforeEach
    void fill() {
        for (int run = 0; run < SMALL_RUNS; run++) {
            pack(run, SMALL_RUN_KEYS);
        }
        CompactionPlan bundled = plan(0, 0);
        bundled.bundles().forEach(Bundle::retain);
        tree.trunk.install(bundled, tree.run(bundled).bundle(), -1);
        for (int run = SMALL_RUNS; run < RUNS; run++) {
            pack(run, LARGE_RUN_KEYS);
        }
    }

    private void pack(int run, int keys) {
        for (int i = 0; i < keys; i++) {
            tree.put(String.format("%06d%02d", i, run), "v");
        }
        tree.pack();
    }

    @AfterEach
    void close() {
        tree.releaseAll();
        tree.close();
    }

    /** It kept a store that was opened without memory for merges from ever being written to. */
    @Test
    void aMemtableWithoutEntriesIsPackedWithoutMemory() {
        try (TrunkFixture small = new TrunkFixture(new TreeShape(8, 4, 4096, 8192, 16384), TrunkPolicies.SIZE_TIERED, 4096)) {
            long generation = small.trunk.version().generation();
            small.pack();
            assertEquals(generation + 1, small.trunk.version().generation());
            small.put("key", "value");
            assertThrows(InsufficientMemoryException.class, small::pack);
            small.releaseAll();
        }
    }

    @Test
    void whatIsMergedIsCounted() {
        CompactionPlan plan = plan(0, RUNS);
        MergeMemory memory = MergeMemory.of(plan, tree.storage);
        assertEquals(RUNS, memory.inputs());
        check(plan, memory, PageLayout.EXTENT_PAGES);
        check(plan, memory, MergeMemory.CHUNK_PAGES_MIN);
    }

    @Test
    void newFingerprintsOfKeptRunsAreCounted() {
        CompactionPlan plan = plan(SMALL_RUNS, SMALL_RUNS + 2);
        MergeMemory memory = MergeMemory.of(plan, tree.storage);
        assertTrue(memory.refreshes());
        long keys = SMALL_RUNS * SMALL_RUN_KEYS + 2 * LARGE_RUN_KEYS;
        assertTrue(memory.mapletBytes() > 13 * keys, () -> "13 bytes for each of " + keys + " keys: " + memory);
        check(plan, memory, MergeMemory.CHUNK_PAGES_MIN);
    }

    @Test
    void keptRunsAreTakenAsTheyAreWhereThatIsTooMuch() {
        CompactionPlan plan = plan(SMALL_RUNS, SMALL_RUNS + 2);
        MergeMemory whole = MergeMemory.of(plan, tree.storage);
        long saved = 13L * SMALL_RUNS * SMALL_RUN_KEYS;
        check(plan, whole, MergeMemory.CHUNK_PAGES_MIN);
        long refreshing = peak;
        check(plan, new MergeMemory(2, 0, whole.mapletBytes() - saved, false, whole.pieces()), MergeMemory.CHUNK_PAGES_MIN);
        assertTrue(peak < refreshing - saved / 2, () -> peak + " bytes taken, with new fingerprints " + refreshing);
    }

    /** New fingerprints of what is kept are a gain, which a merge does without. */
    @Test
    void keptRunsAreTakenAsTheyAreWhereTheyCannotBeRead() {
        CompactionPlan plan = plan(SMALL_RUNS, SMALL_RUNS + 2);
        MergeMemory memory = MergeMemory.of(plan, tree.storage);
        assertTrue(memory.refreshes());
        for (int extent : tree.trunk.version().root().bundle(0).runs()[0].branch().extents()) {
            tree.makeUnreadable(extent);
        }
        check(plan, memory, MergeMemory.CHUNK_PAGES_MIN);
        assertTrue(tree.device.unreadableMet > 0, "the run was not to be read");
        tree.device.unreadable.clear();
    }

    /** Some runs merged, all others kept. */
    private CompactionPlan plan(int from, int to) {
        TrunkNode leaf = tree.trunk.version().root();
        return new CompactionPlan(0, Span.ALL, leaf, 0, leaf.bundleCount(), from, to);
    }

    private void check(CompactionPlan plan, MergeMemory memory, int chunkPages) {
        long before = tree.pool.allocated();
        peak = 0;
        tree.pool.whenShort(Long.MAX_VALUE, refused -> peak = Math.max(peak, tree.pool.allocated() - before));
        Compactor.Result result = tree.compactor.run(plan, tree.liveSnapshots(), memory, chunkPages);
        tree.pool.whenShort(0, refused -> {});
        assertEquals(SMALL_RUNS * SMALL_RUN_KEYS + LARGE_RUNS * LARGE_RUN_KEYS, entries(result.bundle()));
        result.bundle().release();
        long counted = memory.bytes(chunkPages);
        assertTrue(peak <= counted * (1 + UNCOUNTED_SHARE) + UNCOUNTED_BYTES, () -> peak + " bytes taken, counted " + counted);
    }

    private static long entries(Bundle bundle) {
        long entries = 0;
        for (Run run : bundle.runs()) {
            entries += run.branch().entries();
        }
        return entries;
    }
}
