package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MemoryStats;
import dev.heartwood.PolicyChange;
import dev.heartwood.PolicyChange.Part;
import dev.heartwood.StoreListener;
import dev.heartwood.StoreOptions;
import dev.heartwood.WriteBatch;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SteppedEnvironment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Memory that memtables have no use for holds records until they have. */
class LentMemoryTest {
    private static final int RECORDS = 120_000;
    private static final long MEMORY = 64 << 20;
    private static final int SECONDS = 5;

    private final List<PolicyChange> events = new ArrayList<>();
    private final StoreListener listener = new StoreListener() {
        @Override
        public void policyChange(PolicyChange event) {
            if (event.part() == Part.LENT_MEMORY) {
                events.add(event);
            }
        }
    };
    private final StoreOptions options = StoreOptions.builder()
            .memory(new ByteSize(MEMORY))
            .policy(CompactionPolicyKind.AUTO)
            .listener(listener)
            .build();
    private final SteppedEnvironment environment =
            new SteppedEnvironment(1, OptionMatrix.environment(options), new SimulatedMachine(1));
    private final KeyValueStore store = environment.open(Path.of("store"), options);

    LentMemoryTest() {
        environment.holdTime();
        write(RECORDS);
        environment.finish();
    }

    @AfterEach
    void close() {
        environment.close();
    }

    private void write(int records) {
        for (int i = 0; i < records; i++) {
            store.put(Load.key(i), Load.value(i));
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
        assertTrue(memory.usedBytes() <= MEMORY, memory.toString());
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
        assertFalse(events.isEmpty());
        assertTrue(events.getFirst().reason().contains("MB are written a second"), events.toString());
    }

    @Test
    void memtablesHaveItBackAndLoseNothing() {
        long before = capacity();
        write(RECORDS);
        environment.finish();
        long sealed = store.stats().memtablesSealed();
        assertTrue(lend() > 0);
        write(RECORDS);
        write(RECORDS);
        long more = store.stats().memtablesSealed() - sealed;
        environment.finish();
        assertTrue(capacity() < before + (6 << 20), "given back");
        readAll();
        assertTrue(more <= sealed + 1, "memtables sealed: " + sealed + ", and when memory was lent " + more);
        assertTrue(store.verify().isClean());
        pass(SECONDS);
        readAll();
        assertTrue(store.verify().isClean());
    }

    /** A batch that needs more than what is left free at once. */
    @Test
    void aLargeWriteWaitsForIt() {
        assertTrue(lend() > 0);
        try (WriteBatch batch = store.newBatch()) {
            for (int i = 0; i < 1800; i++) {
                batch.put(Load.key(i), new byte[1000]);
            }
            store.write(batch);
        }
        assertArrayEquals(new byte[1000], store.get(Load.key(1799)));
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
