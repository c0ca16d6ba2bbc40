package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.TestDirectory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.MockTime;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A process that is killed in the midst of a restore under exactly-once. What had been restored was found by the next one, which read the changelog from its
 * beginning; what had been deleted meanwhile, and whose deletion had left the changelog, was there for good.
 */
class UnfinishedRestoreTest {
    private static final int BATCH = 1_000;
    private static final int BATCHES = 10;
    private static final long UNKNOWN = -4;

    private final TestDirectory directory = new TestDirectory("unfinished");
    private final MockTime time = new MockTime();
    private SimulatedMachine machine = new SimulatedMachine(1);
    private StoreContext context;

    /** Whose store it is. */
    private enum Owner {
        TASK {
            @Override
            StoreContext context(SimulatedMachine machine, TestDirectory directory, Map<String, String> configs) {
                return StoreContext.on(machine, directory.path(), configs);
            }
        },
        GLOBAL {
            @Override
            StoreContext context(SimulatedMachine machine, TestDirectory directory, Map<String, String> configs) {
                return StoreContext.globalOn(machine, directory.path(), configs);
            }
        };

        abstract StoreContext context(SimulatedMachine machine, TestDirectory directory, Map<String, String> configs);
    }

    @AfterEach
    void removeDirectory() {
        directory.close();
    }

    private HeartwoodKeyValueStore open(Owner owner, Map<String, String> more) {
        Map<String, String> configs = new HashMap<>(Map.of(
                StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2,
                HeartwoodStoreConfig.MEMTABLE_BYTES, "64k",
                HeartwoodStoreConfig.CHECKPOINT_DISTANCE, "1"));
        configs.putAll(more);
        context = owner.context(machine, directory, configs);
        HeartwoodKeyValueStore store = HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN);
        store.goBy(time);
        return context.open(store);
    }

    private HeartwoodKeyValueStore open(Owner owner) {
        return open(owner, Map.of());
    }

    private static byte[] key(int number) {
        return ("key" + number).getBytes();
    }

    private static void commit(HeartwoodKeyValueStore store, long offset) {
        store.commit(Map.of(StoreContext.CHANGELOG, offset));
    }

    private void restore(int batch) {
        List<KeyValue<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < BATCH; i++) {
            records.add(KeyValue.pair(key(batch * BATCH + i), new byte[100]));
        }
        context.streams().restore("s", records);
    }

    private void kill(HeartwoodKeyValueStore store) {
        machine = machine.crash(CrashKind.KILL, new SplittableRandom(1));
        store.close();
    }

    /** As Kafka Streams does: it commits that it knows no offset, and then what it has restored; a global store it commits in the end. */
    private void restoreAndKill(Owner owner) {
        HeartwoodKeyValueStore store = open(owner);
        if (owner == Owner.TASK) {
            commit(store, UNKNOWN);
        }
        for (int batch = 0; batch < BATCHES; batch++) {
            restore(batch);
            if (owner == Owner.TASK) {
                commit(store, (batch + 1L) * BATCH - 1);
            }
        }
        store.table().settle();
        assertTrue(store.table().stats().checkpoints() > 0, "nothing is on the disk");
        kill(store);
    }

    @ParameterizedTest
    @EnumSource
    void theNextOneBeginsInAnEmptyStore(Owner owner) {
        restoreAndKill(owner);
        HeartwoodKeyValueStore store = open(owner);
        assertEquals(owner == Owner.TASK ? UNKNOWN : null, store.committedOffset(StoreContext.CHANGELOG));
        assertEquals(0, Counted.entries(store.all()));
        context.streams().restore("s", List.of(KeyValue.pair(key(1), new byte[] {1})));
        commit(store, 20_000);
        store.close();
        store = open(owner);
        assertEquals(20_000, store.committedOffset(StoreContext.CHANGELOG));
        assertEquals(1, Counted.entries(store.all()));
        store.close();
    }

    /** Under the other guarantee, too, the changelog is read from its beginning. */
    @Test
    void soItDoesUnderAtLeastOnce() {
        restoreAndKill(Owner.TASK);
        HeartwoodKeyValueStore store =
                open(Owner.TASK, Map.of(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.AT_LEAST_ONCE));
        assertEquals(0, Counted.entries(store.all()));
        store.close();
    }

    /** A commit of an offset that has reached the disk is what the restore goes on from. */
    @Test
    void whatIsOfAnOffsetStays() {
        HeartwoodKeyValueStore store = open(Owner.TASK);
        commit(store, UNKNOWN);
        restore(0);
        time.sleep(BulkRestore.CAUGHT_UP_MILLIS);
        commit(store, 0);
        restore(1);
        kill(store);
        store = open(Owner.TASK);
        assertEquals(0, store.committedOffset(StoreContext.CHANGELOG));
        assertEquals(2 * BATCH, Counted.entries(store.all()));
        store.close();
    }

    /** Nothing would bring its data back. */
    @Test
    void aStoreWithoutAChangelogKeepsWhatItCommitted() {
        Bytes kept = Bytes.wrap(key(1));
        Bytes lost = Bytes.wrap(key(2));
        HeartwoodKeyValueStore store = open(Owner.TASK);
        store.put(kept, new byte[] {1});
        store.commit(Map.of());
        store.commit(Map.of());
        store.put(lost, new byte[] {2});
        kill(store);
        store = open(Owner.TASK);
        assertArrayEquals(new byte[] {1}, store.get(kept));
        assertNull(store.get(lost));
        store.close();
    }
}
