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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Memory that memtables have no use for holds records until they have. */
class LentMemoryTest {
    private static final int RECORDS = 120_000;
    private static final ByteSize MEMORY = ByteSize.mib(64);
    private static final int SECONDS = 10;
    private static final int WRITES_PER_FINISH = 500;

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
