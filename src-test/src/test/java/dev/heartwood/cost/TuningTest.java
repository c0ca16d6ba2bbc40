package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.ClosedException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.StoreTuning;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SteppedEnvironment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * What a checkpoint distance is worth, and that changing it costs nobody anything. Nothing happens in the background but when the
 * tests say so, so that every number is the same in every run.
 */
class TuningTest {
    private static final Path DIRECTORY = Path.of("store");
    private static final int RECORDS_PER_FINISH = 200;
    private static final StoreOptions OPTIONS = StoreOptions.builder()
            .memory(ByteSize.mib(64))
            .memtable(ByteSize.kib(128))
            .checkpointDistance(1)
            .build();

    private static final class Subject implements AutoCloseable {
        private final SteppedEnvironment environment;
        private final KeyValueStore store;

        Subject() {
            environment = new SteppedEnvironment(1, OptionMatrix.environment(OPTIONS), new SimulatedMachine(1));
            store = environment.open(DIRECTORY, OPTIONS);
            // No store is ever at rest long enough to have a checkpoint made for that alone.
            environment.holdTime();
        }

        /** Puts the records of a range of numbers, of which {@code keys} are different. */
        void load(int from, int to, int keys) {
            for (int i = from; i < to; i++) {
                store.put(Load.key(i % keys), Load.value(i));
                if (i % RECORDS_PER_FINISH == 0) {
                    environment.finish();
                }
            }
        }

        /** Tunes, and lets the background do what follows. */
        void tune(int distance) {
            store.tune(store.tuning().withCheckpointDistance(distance));
            environment.finish();
        }

        @Override
        public void close() {
            environment.close();
        }
    }

    @Test
    void theFartherCheckpointsAreApartTheLessIsWritten() {
        int records = 250_000;
        long[] written = LongStream.iterate(1, distance -> distance <= 256, distance -> 2 * distance)
                .map(distance -> {
                    try (Subject subject = new Subject()) {
                        subject.tune((int) distance);
                        subject.load(0, records, records);
                        subject.store.checkpoint();
                        return subject.store.stats().dataBytesWritten();
                    }
                })
                .toArray();
        String all = "bytes written at distances 1, 2, 4, ...: " + LongStream.of(written).boxed().toList();
        for (int i = 1; i < written.length; i++) {
            assertTrue(written[i] < written[i - 1], all);
        }
        assertTrue(2 * written[written.length - 1] <= written[0], all);
    }

    @Test
    void whatIsOverwrittenWithinTheDistanceIsHardlyWritten() {
        int keys = 20_000;
        try (Subject near = new Subject();
                Subject far = new Subject()) {
            near.load(0, 10 * keys, keys);
            far.tune(256);
            far.load(0, 10 * keys, keys);
            StoreStats nearStats = near.store.stats();
            StoreStats farStats = far.store.stats();
            assertTrue(farStats.dataBytesWritten() < nearStats.dataBytesWritten() / 10, nearStats + "\n" + farStats);
        }
    }

    @Test
    void nothingOfADistanceIsLeftAfterTuningBack() {
        int records = 250_000;
        try (Subject untouched = new Subject();
                Subject tuned = new Subject()) {
            untouched.load(0, records, records);
            tuned.tune(256);
            tuned.load(0, records / 10 * 9, records);
            tuned.tune(1);
            tuned.load(records / 10 * 9, records, records);
            assertTrue(tuned.store.stats().dataBytesWritten() < untouched.store.stats().dataBytesWritten() * 2 / 3);
            for (Subject subject : new Subject[] {untouched, tuned}) {
                subject.store.settle();
                readSome(subject.store, records, 1);
            }
            long expected = pageReads(untouched.store, records);
            long found = pageReads(tuned.store, records);
            assertTrue(expected > 0 && Math.abs(found - expected) <= expected / 20, found + " page reads, not " + expected);
        }
    }

    private static long pageReads(KeyValueStore store, int records) {
        long before = store.stats().pageReads();
        readSome(store, records, 2);
        return store.stats().pageReads() - before;
    }

    private static void readSome(KeyValueStore store, int records, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 20_000; i++) {
            assertNotNull(store.get(Load.key(random.nextInt(records))));
        }
    }

    /** A call that waited would do the background's work itself, since nobody else does. */
    @Test
    void noCallWaitsForARetune() {
        try (Subject subject = new Subject()) {
            subject.tune(256);
            subject.load(0, 60_000, 60_000);
            KeyValueStore store = subject.store;
            StoreStats before = store.stats();
            assertTrue(before.unwrittenBytes() > ByteSize.mib(4).bytes() && before.checkpoints() == 0, before.toString());
            store.tune(store.tuning().withCheckpointDistance(1));
            store.put(Load.key(1), Load.value(2));
            assertEquals(2, ByteBuffer.wrap(store.get(Load.key(1))).getLong());
            StoreStats tuned = store.stats();
            assertEquals(1, tuned.checkpointDistance());
            assertEquals(before.dataBytesWritten(), tuned.dataBytesWritten());
            assertEquals(before.checkpoints(), tuned.checkpoints());
            subject.environment.finish();
            StoreStats after = store.stats();
            assertEquals(1, after.checkpoints());
            assertEquals(0, after.unwrittenBytes());
        }
    }

    @Test
    void whatIsOutOfRangeOrTooLateIsRefusedAndChangesNothing() {
        KeyValueStore closed;
        try (Subject subject = new Subject()) {
            KeyValueStore store = subject.store;
            closed = store;
            StoreTuning first = store.tuning();
            assertThrows(IllegalArgumentException.class, () -> first.withCheckpointDistance(0));
            assertThrows(IllegalArgumentException.class, () -> first.withCheckpointDistance(1025));
            assertThrows(NullPointerException.class, () -> store.tune(null));
            assertEquals(first, store.tuning());
            assertEquals(OPTIONS, store.options());
            store.tune(first.withCheckpointDistance(1024));
            assertEquals(1024, store.options().checkpointDistance());
            assertEquals(1, first.checkpointDistance());
            assertNull(store.get(Load.key(0)));
        }
        assertThrows(ClosedException.class, () -> closed.tune(StoreTuning.of(OPTIONS)));
    }
}
