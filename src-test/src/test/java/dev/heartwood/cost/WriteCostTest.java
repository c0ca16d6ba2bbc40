package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.Cursor;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SteppedEnvironment;
import dev.heartwood.testkit.TestDirectory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What loads write, what deletes give back, and that small budgets do the same work. {@code -Dheartwood.sweep=true} prints how often loads are
 * written that are partly in order.
 */
class WriteCostTest {
    private static final boolean SWEEP = Boolean.getBoolean("heartwood.sweep");

    @Test
    void aSequentialLoadIsWrittenAboutOnceAndHalfARandomOneLiesBetween() {
        double sequential = written(0).settled();
        double half = written(50).settled();
        double random = written(100).settled();
        assertTrue(sequential <= 1.3, "a sequential load was written " + sequential + " times");
        assertTrue(sequential < half && half < random, sequential + ", " + half + ", " + random);
        for (int percent : SWEEP ? new int[] {0, 2, 10, 25, 50, 75, 90, 100} : new int[0]) {
            Written written = written(percent);
            System.out.printf(
                    Locale.ROOT, "%d %% in random order: written %.2f times, settled %.2f%n", percent, written.loaded(), written.settled());
        }
    }

    /** Two writers take blocks of keys in turns: nearly every memtable ends a little behind where the next one begins. */
    @ParameterizedTest
    @EnumSource(names = {"AUTO", "LAZY_LEVELING"})
    void aLoadThatIsNearlyInOrderIsWrittenAboutOnce(CompactionPolicyKind policy) {
        double settled = written(0, 256, policy).settled();
        assertTrue(settled <= 1.3, "it was written " + settled + " times");
    }

    /** How often a load's bytes were written at its end, and once it was settled. */
    private record Written(double loaded, double settled) {}

    /** With a background that works in steps: how much a load of files is written depends on how far the background is behind. */
    private static Written written(int randomPercent) {
        return written(randomPercent, 0, CompactionPolicyKind.AUTO);
    }

    /** @param swapped blocks of so many keys, a power of two, come in turns, the second first; 0 for all in order */
    private static Written written(int randomPercent, int swapped, CompactionPolicyKind policy) {
        StoreOptions options =
                StoreOptions.builder().memory(ByteSize.mib(16)).policy(policy).build();
        try (SteppedEnvironment environment =
                new SteppedEnvironment(1, OptionMatrix.environment(options), new SimulatedMachine(1))) {
            KeyValueStore store = environment.open(Path.of("store"), options);
            SplittableRandom random = new SplittableRandom(randomPercent);
            for (int i = 0; i < 1_000_000; i++) {
                boolean isRandom = random.nextInt(100) < randomPercent;
                byte[] key = isRandom ? Load.inOrder(random.nextLong(1L << 40)) : Load.inOrder((1L << 40) + (i ^ swapped));
                store.put(key, Load.value(i));
                if (i % 500 == 0) {
                    environment.finish();
                }
            }
            store.checkpoint();
            double loaded = store.stats().dataWriteAmplification();
            store.settle();
            assertTrue(swapped == 0 || store.verify().isClean(), "its nodes are not as their policy has them");
            return new Written(loaded, store.stats().dataWriteAmplification());
        }
    }

    @Test
    void deletingEverythingGivesTheSpaceBack() {
        try (TestDirectory directory = new TestDirectory("delete");
                KeyValueStore store = open(directory, 16)) {
            int records = 300_000;
            Load.random(store, records);
            // Nothing is left in memory.
            store.checkpoint();
            store.settle();
            StoreStats full = store.stats();
            assertTrue(full.height() > 1 && full.liveBytes() > (long) records * Load.RECORD_BYTES, full.toString());
            for (int i = 0; i < records; i++) {
                store.delete(Load.key(i));
            }
            store.checkpoint();
            store.settle();
            StoreStats empty = store.stats();
            try (Cursor cursor = store.cursor()) {
                assertFalse(cursor.next());
            }
            assertEquals(1, empty.height(), empty.toString());
            assertEquals(0, empty.runs(), empty.toString());
            assertTrue(empty.liveBytes() < 1 << 20, empty.liveBytes() + " bytes in use of an empty store");
        }
    }

    @Test
    void whatIsFreedBeforeItIsWrittenIsNeverWritten() {
        try (TestDirectory directory = new TestDirectory("dirty");
                KeyValueStore store = Heartwood.open(
                        directory.path(),
                        StoreOptions.builder()
                                .memory(ByteSize.mib(128))
                                .memtable(ByteSize.mib(1))
                                .checkpointDistance(1_000)
                                .build())) {
            for (int i = 0; i < 600_000; i++) {
                store.put(Load.key(i % 20_000), Load.value(i));
            }
            store.settle();
            StoreStats stats = store.stats();
            assertTrue(stats.pagesDiscardedDirty() > 0, stats.toString());
            assertTrue(stats.dataBytesWritten() < stats.userBytesWritten() / 2, stats.toString());
        }
    }

    @Test
    void manySmallEntriesInASmallBudgetAreMergedLikeAnyOthers() {
        try (TestDirectory directory = new TestDirectory("small");
                KeyValueStore store = open(directory, 16)) {
            int records = 1_500_000;
            for (int i = 0; i < records; i++) {
                store.put(smallKey(i), ByteBuffer.allocate(4).putInt(i).array());
            }
            store.settle();
            StoreStats stats = store.stats();
            assertEquals(0, stats.debtBytes(), stats.toString());
            for (int i = 0; i < records; i += 97) {
                assertArrayEquals(ByteBuffer.allocate(4).putInt(i).array(), store.get(smallKey(i)));
            }
        }
    }

    private static byte[] smallKey(int number) {
        return ByteBuffer.allocate(8).putLong(number * 0x9E3779B97F4A7C15L).array();
    }

    private static KeyValueStore open(TestDirectory directory, int memoryMib) {
        return Heartwood.open(
                directory.path(),
                StoreOptions.builder().memory(ByteSize.mib(memoryMib)).build());
    }
}
