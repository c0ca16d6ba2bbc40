package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.StoreStats;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.TestDirectory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.MockTime;
import org.apache.kafka.streams.KeyValue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The restore of an empty store does not pay for the log, and is durable when it says so. */
class BulkRestoreTest {
    private static final int BATCH = 1_000;
    private static final int VALUE_BYTES = 2_000;

    private final TestDirectory directory = new TestDirectory("restore");

    @AfterEach
    void removeDirectory() {
        directory.close();
    }

    private StoreContext context() {
        return new StoreContext(directory.path(), Map.of(HeartwoodStoreConfig.MEMORY_MAX_BYTES, "64m"));
    }

    private static HeartwoodKeyValueStore store() {
        return HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN);
    }

    private static byte[] key(int number) {
        return String.format("%08d", number).getBytes();
    }

    private static void restore(StoreContext context, int batch) {
        List<KeyValue<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < BATCH; i++) {
            records.add(KeyValue.pair(key(batch * BATCH + i), new byte[VALUE_BYTES]));
        }
        context.streams().restore("s", records);
    }

    @Test
    void anEmptyStoreIsRestoredPastTheLog() {
        StoreContext context = context();
        HeartwoodKeyValueStore store = context.open(store());
        for (int batch = 0; batch < 4; batch++) {
            restore(context, batch);
            store.commit(Map.of(StoreContext.CHANGELOG, (long) batch));
            assertEquals(batch, store.committedOffset(StoreContext.CHANGELOG));
        }
        StoreStats restored = store.table().stats();
        assertTrue(restored.logBytesWritten() < restored.userBytesWritten() / 10, restored::toString);

        // The first record that is processed is logged again, and all that was restored is durable by then.
        store.put(Bytes.wrap(key(0)), new byte[] {1});
        assertTrue(store.table().stats().checkpoints() > 0);
        store.close();
        store = context().open(store());
        assertEquals(3L, store.committedOffset(StoreContext.CHANGELOG));
        for (int i = 0; i < 4 * BATCH; i++) {
            assertEquals(i == 0 ? 1 : VALUE_BYTES, store.get(Bytes.wrap(key(i))).length);
        }
        store.close();
    }

    /** A standby that has caught up commits little at a time: from then on its batches are logged and each commit is durable. */
    @Test
    void aStoreThatHasCaughtUpIsLogged() {
        MockTime time = new MockTime();
        StoreContext context = context();
        HeartwoodKeyValueStore store = store();
        store.goBy(time);
        context.open(store);
        restore(context, 0);
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        long atFirst = store.table().stats().logBytesWritten();
        for (int commit = 2; commit < 20; commit++) {
            // As where many stores are restored together under exactly-once.
            time.sleep(100);
            restoreLittle(context);
            store.commit(Map.of(StoreContext.CHANGELOG, (long) commit));
        }
        assertEquals(atFirst, store.table().stats().logBytesWritten(), "the restore goes on");
        time.sleep(BulkRestore.CAUGHT_UP_MILLIS);
        restoreLittle(context);
        store.commit(Map.of(StoreContext.CHANGELOG, 20L));
        long logged = store.table().stats().logBytesWritten();
        restore(context, 1);
        long bytes = store.table().stats().logBytesWritten() - logged;
        assertTrue(bytes > (long) BATCH * VALUE_BYTES, () -> "only " + bytes + " bytes were logged");
        store.close();
    }

    private static void restoreLittle(StoreContext context) {
        context.streams().restore("s", List.of(KeyValue.pair(key(1), new byte[] {1})));
    }

    /** Kafka Streams commits a standby to which nothing comes again and again: what it has must not be restored a second time then. */
    @Test
    void aStoreToWhichNothingComesAnyMoreIsDurable() {
        MockTime time = new MockTime();
        SimulatedMachine machine = new SimulatedMachine(1);
        HeartwoodKeyValueStore store = store();
        store.goBy(time);
        StoreContext context = StoreContext.on(machine, directory.path(), Map.of());
        context.open(store);
        restore(context, 0);
        for (int commit = 0; commit < 3; commit++) {
            store.commit(Map.of(StoreContext.CHANGELOG, 7L));
            time.sleep(BulkRestore.CAUGHT_UP_MILLIS);
        }
        machine = machine.crash(CrashKind.KILL, new SplittableRandom(1));
        store.close();
        store = StoreContext.on(machine, directory.path(), Map.of()).open(store());
        assertEquals(7L, store.committedOffset(StoreContext.CHANGELOG));
        assertEquals(BATCH, Counted.entries(store.all()));
        store.close();
    }

    @Test
    void restoredTombstonesRemove() {
        StoreContext context = context();
        HeartwoodKeyValueStore store = context.open(store());
        context.streams()
                .restore("s", List.of(KeyValue.pair(key(1), new byte[] {1}), KeyValue.pair(key(1), (byte[]) null)));
        assertNull(store.get(Bytes.wrap(key(1))));
        store.close();
    }
}
