package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MemoryStats;
import dev.heartwood.PolicyChange;
import dev.heartwood.PolicyChange.Part;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SteppedEnvironment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Memory that memtables and merges have no use for holds records and pages until they have. */
class LentMemoryTest {
    private static final int RECORDS = 120_000;
    private static final ByteSize MEMORY = ByteSize.mib(64);
    private static final int SECONDS = 10;
    private static final int WRITES_PER_FINISH = 500;
    private static final int LARGE_BYTES = 5_000;
    private static final int LARGE_RECORDS = 3_200;
    private static final int LARGE_PER_SECOND = 50;
    private static final int SMALL_RECORDS = 20_000;

    private final PolicyChanges changes = new PolicyChanges();
    private ByteSize budget;
    private SteppedEnvironment environment;
    private KeyValueStore store;

    LentMemoryTest() {
        open(MEMORY);
    }

    private void open(ByteSize memory) {
        budget = memory;
        StoreOptions options = StoreOptions.builder()
                .memory(memory)
                .policy(CompactionPolicyKind.AUTO)
                .listener(changes)
                .build();
        environment = new SteppedEnvironment(1, OptionMatrix.environment(options), new SimulatedMachine(1));
        environment.holdTime();
        store = environment.open(Path.of("store"), options);
        write(RECORDS);
        environment.finish();
    }

    @AfterEach
    void close() {
        environment.close();
    }

    /** Writes while the background keeps up. */
    private void write(int records) {
        for (int i = 0; i < records; i++) {
            store.put(Load.key(i), Load.value(i));
            if (i % WRITES_PER_FINISH == 0) {
                environment.finish();
            }
        }
    }

    private void readAll() {
        for (int i = 0; i < RECORDS; i++) {
            assertArrayEquals(Load.value(i), store.get(Load.key(i)));
        }
    }

    private void pass(int seconds) {
        for (int i = 0; i < seconds; i++) {
            environment.passTime();
        }
    }

    private long capacity() {
        return memory().cacheCapacityBytes();
    }

    private MemoryStats memory() {
        MemoryStats memory = environment.memoryStats();
        assertTrue(memory.usedBytes() <= budget.bytes(), memory.toString());
        return memory;
    }

    /** Reads until the record cache is full, and a while longer. */
    private long lend() {
        long before = capacity();
        readAll();
        readAll();
        assertEquals(before, capacity());
        pass(SECONDS);
        return capacity() - before;
    }

    @Test
    void recordsHaveWhatMemtablesDoNotNeed() {
        readAll();
        readAll();
        long few = store.stats().recordHits();
        readAll();
        few = store.stats().recordHits() - few;
        long lent = lend();
        // Of 15 MiB for memtables, all but half a memtable and what is in the active one.
        assertTrue(lent > 5 << 20, "lent: " + lent);
        readAll();
        readAll();
        long more = store.stats().recordHits();
        readAll();
        more = store.stats().recordHits() - more;
        assertTrue(more > few * 3 / 2, few + " records found, and " + more + " with " + lent + " bytes more");
        PolicyChange change = changes.last(Part.LENT_MEMORY);
        assertEquals("0", change.from());
        assertTrue(change.reason().contains("MB are written a second"), change.toString());
    }

    @Test
    void memtablesHaveItBackAndLoseNothing() {
        write(RECORDS);
        environment.finish();
        long before = capacity();
        long sealed = store.stats().memtablesSealed();
        long lent = lend();
        write(RECORDS);
        write(RECORDS);
        long more = store.stats().memtablesSealed() - sealed;
        environment.finish();
        assertTrue(capacity() - before < lent, "given back");
        readAll();
        assertTrue(more <= sealed + 1, "memtables sealed: " + sealed + ", and when memory was lent " + more);
        assertTrue(store.verify().isClean());
        pass(1);
        assertEquals(before, capacity(), "so much is written that nothing is lent");
        readAll();
        assertTrue(store.verify().isClean());
    }

    /** A write that needs more than what is left free, of a store whose memtable is empty: nothing else would give memory back. */
    @Test
    void aLargeWriteWaitsForIt() {
        environment.close();
        // A memtable of 1.5 MiB, of which half is left free; the write takes a block of 1 MiB.
        open(ByteSize.mib(16));
        assertTrue(lend() > 0);
        store.checkpoint();
        readAll();
        readAll();
        pass(1);
        assertEquals(0, memory().memtableBytes());
        long before = capacity();
        byte[] value = new byte[900_000];
        store.put(Load.key(1), value);
        assertTrue(capacity() < before, "given back");
        assertArrayEquals(value, store.get(Load.key(1)));
    }

    /** Opens a store of little memory with so many large values, which are not kept one by one. */
    private void openLarge(int records) {
        environment.close();
        open(ByteSize.mib(16));
        writeLarge(0, records);
    }

    private void writeLarge(int first, int records) {
        for (int i = first; i < first + records; i++) {
            store.put(Load.key(i), large(i));
            if (i % 20 == 0) {
                environment.finish();
            }
        }
        environment.finish();
    }

    private static byte[] large(int number) {
        return Arrays.copyOf(Load.value(number), LARGE_BYTES);
    }

    /** Pages read from the device for so many of the large values, chosen at random. */
    private long pagesRead(int records) {
        Random random = new Random(1);
        long before = store.stats().pageReads();
        for (int i = 0; i < records; i++) {
            int number = random.nextInt(LARGE_RECORDS);
            assertArrayEquals(large(number), store.get(Load.key(number)));
        }
        return store.stats().pageReads() - before;
    }

    @Test
    void pagesHaveWhatNobodyUses() {
        openLarge(LARGE_RECORDS);
        long before = capacity();
        pagesRead(2 * LARGE_RECORDS);
        long alone = pagesRead(2 * LARGE_RECORDS);
        pass(SECONDS);
        long lent = capacity() - before;
        // Of 3 MiB for merges and of 3.75 MiB for memtables, with what is left free and what the active one has.
        assertTrue(lent > 4 << 20 && lent < 6 << 20, "lent: " + lent);
        PolicyChange change = changes.last(Part.LENT_MEMORY);
        assertTrue(change.reason().contains("page cache is full"), change.toString());
        pagesRead(2 * LARGE_RECORDS);
        long withLoan = pagesRead(2 * LARGE_RECORDS);
        assertTrue(withLoan < alone * 3 / 4, alone + " pages read, and " + withLoan + " with " + lent + " bytes more");
    }

    @Test
    void pagesHaveWhatRecordsHadOnceMoreOfThemAreFound() {
        openLarge(LARGE_RECORDS);
        long before = capacity();
        for (int i = 0; i < 3 * SMALL_RECORDS; i++) {
            int number = LARGE_RECORDS + i % SMALL_RECORDS;
            if (i < SMALL_RECORDS) {
                store.put(Load.key(number), Load.value(number));
            }
            if (i == SMALL_RECORDS) {
                store.checkpoint();
            }
            store.get(Load.key(number));
        }
        pass(SECONDS);
        PolicyChange lent = changes.last(Part.LENT_MEMORY);
        assertTrue(lent.reason().contains("written") && !lent.to().equals("0"), lent.toString());
        for (int i = 0; i < SECONDS; i++) {
            pagesRead(LARGE_RECORDS);
            pass(1);
        }
        PolicyChange taken = changes.last(Part.LENT_MEMORY);
        assertTrue(taken.from().equals(lent.to()) && taken.to().equals("0"), taken.toString());
        assertTrue(capacity() - before > 4 << 20, "lent: " + (capacity() - before));
    }

    @Test
    void mergesHaveItBackAndLoseNothing() {
        openLarge(LARGE_RECORDS);
        long before = capacity();
        // So much is written that memtables lend nothing, and so little that nothing is merged.
        for (int second = 0; second < 4; second++) {
            for (int i = 0; i < LARGE_PER_SECOND; i++) {
                store.put(Load.key(i), large(i));
            }
            pass(1);
        }
        long lent = capacity() - before;
        assertTrue(lent > 2 << 20, "lent: " + lent);
        long merged = store.stats().compactions();
        long sealed = store.stats().memtablesSealed();
        // Small ones, whose merges read several extents at once.
        for (int i = 0; i < RECORDS; i++) {
            store.put(Load.key(LARGE_RECORDS + i), Load.value(i));
            if (i % WRITES_PER_FINISH == 0) {
                environment.finish();
            }
        }
        environment.finish();
        merged = store.stats().compactions() - merged;
        sealed = store.stats().memtablesSealed() - sealed;
        assertTrue(capacity() - before < lent * 3 / 4, "still lent: " + (capacity() - before) + " of " + lent);
        assertTrue(merged > sealed / 4, merged + " merges of " + sealed + " memtables");
        pagesRead(LARGE_RECORDS);
        assertTrue(store.verify().isClean());
    }

    @Test
    void aStoreThatIsNoLongerToDecideTakesPagesBack() {
        openLarge(LARGE_RECORDS);
        long before = capacity();
        pass(SECONDS);
        assertTrue(capacity() > before);
        store.tune(store.tuning().withPolicy(CompactionPolicyKind.SIZE_TIERED));
        assertEquals(before, capacity());
        pass(SECONDS);
        assertEquals(before, capacity());
    }

    @Test
    void aStoreThatIsNoLongerToDecideGivesAllBack() {
        long before = capacity();
        assertTrue(lend() > 0);
        store.tune(store.tuning().withPolicy(CompactionPolicyKind.SIZE_TIERED));
        environment.finish();
        assertEquals(before, capacity());
        pass(SECONDS);
        assertEquals(before, capacity());
        store.tune(store.tuning().withPolicy(CompactionPolicyKind.AUTO));
        pass(SECONDS);
        assertTrue(capacity() > before);
    }
}
