package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.TestDirectory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.MockTime;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The restore of an empty store does not pay for the log, and is durable when it says so. */
class BulkRestoreTest {
    private static final int BATCH = 1_000;
    private static final int VALUE_BYTES = 2_000;
    private static final Bytes ABORTED = Bytes.wrap("aborted".getBytes());

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

    /** How a bulk restore may come to write a commit's record. */
    private enum Recording {
        END {
            @Override
            void run(BulkRestore bulk, Runnable record) {
                bulk.end(record);
            }
        },
        COMMIT {
            @Override
            void run(BulkRestore bulk, Runnable record) {
                bulk.commit(record);
            }
        },
        COMMIT_AGAIN {
            @Override
            void run(BulkRestore bulk, Runnable record) {
                bulk.commitAgain(record);
            }
        };

        abstract void run(BulkRestore bulk, Runnable record);
    }

    /** It was taken for written when the checkpoint before it had been made, and then never was. */
    @ParameterizedTest
    @EnumSource
    void aRecordThatCouldNotBeWrittenIsWrittenNextTime(Recording recording) {
        EnvironmentOptions options = EnvironmentOptions.builder().memory(ByteSize.mib(32)).build();
        try (Environment environment = EngineAccess.open(options, new SimulatedMachine(1));
                KeyValueStore store = environment.open(directory.path(), StoreOptions.builder().build())) {
            MockTime time = new MockTime();
            BulkRestore bulk = new BulkRestore(store, time, true);
            List<String> written = new ArrayList<>();
            bulk.write(key(1), new byte[VALUE_BYTES]);
            bulk.commit(() -> written.add("at once"));
            assertEquals(List.of(), written, "a commit of what is not on the disk stays in memory");
            time.sleep(BulkRestore.CAUGHT_UP_MILLIS);
            assertThrows(NoSpaceException.class, () -> recording.run(bulk, () -> {
                throw new NoSpaceException("full");
            }));
            bulk.end(() -> written.add("next time"));
            bulk.end(() -> written.add("once more"));
            assertEquals(List.of("next time"), written);
        }
    }

    /**
     * The device has room for the checkpoint that ends the restore and none for the commit's record after it, and then for all again. What was
     * processed next was without a way back, for it was to lead to a commit that was nowhere.
     */
    @Test
    void whatIsProcessedAfterAFullDeviceIsUndone() {
        int full = 0;
        for (long roomBytes = 0; full < 3 && roomBytes < 8 << 20; roomBytes += 64 << 10) {
            if (endsWithARecordThatFoundNoSpace(roomBytes)) {
                full++;
            }
        }
        assertTrue(full > 0, "the device was never full between the checkpoint and the record");
    }

    /** Returns whether the record, and not the checkpoint before it, found the device full. */
    private boolean endsWithARecordThatFoundNoSpace(long roomBytes) {
        SimulatedMachine machine = new SimulatedMachine(1);
        StoreContext context = exactlyOnce(machine);
        HeartwoodKeyValueStore store = context.open(store());
        // As Kafka Streams does: first of the offset that it has found, which is none, and then of what it has restored.
        store.commit(Map.of(StoreContext.CHANGELOG, -4L));
        restore(context, 0);
        store.commit(Map.of(StoreContext.CHANGELOG, 200L));
        machine.capacity(machine.usedBytes() + roomBytes);
        boolean isFull = false;
        try {
            store.put(ABORTED, new byte[] {1});
        } catch (ProcessorStateException e) {
            isFull = e.getCause() instanceof NoSpaceException && store.table().stats().checkpoints() > 0;
        }
        machine.capacity(Long.MAX_VALUE);
        store.put(ABORTED, new byte[] {2});
        SimulatedMachine next = machine.crash(CrashKind.KILL, new SplittableRandom(1));
        store.close();
        store = exactlyOnce(next).open(store());
        assertNull(store.get(ABORTED), () -> "after " + roomBytes + " bytes");
        assertEquals(200L, store.committedOffset(StoreContext.CHANGELOG));
        assertEquals(BATCH, Counted.entries(store.all()));
        store.close();
        return isFull;
    }

    private StoreContext exactlyOnce(SimulatedMachine machine) {
        return StoreContext.on(
                machine,
                directory.path(),
                Map.of(
                        StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2,
                        HeartwoodStoreConfig.MEMTABLE_BYTES, "64k"));
    }
}
