package dev.heartwood.bench.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.bench.engine.Engine;
import dev.heartwood.bench.engine.EngineSettings;
import dev.heartwood.bench.engine.RecordBuffer;
import dev.heartwood.bench.engine.Session;
import dev.heartwood.bench.process.PhaseTask.Checking;
import dev.heartwood.bench.workload.InsertSequence;
import dev.heartwood.bench.workload.KeySpace;
import dev.heartwood.bench.workload.Phase;
import dev.heartwood.bench.workload.Step;
import dev.heartwood.bench.workload.Values;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

class WorkerTest {
    private static final int RECORDS = 300_000;
    private static final int WARM_OPERATIONS = 100_000;

    private final EngineSettings settings = new EngineSettings(
            Path.of("nowhere"), 1, RECORDS, 24, 100, 1 << 20, Durability.NONE, DeviceKind.AUTO, Map.of());

    /** But the keys and values of reads of many, which are arrays whatever the engine. */
    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = {"SCANLONG", "IDLE", "MANY"})
    void drivingAllocatesNothing(Phase phase) throws Exception {
        FakeEngine engine = new FakeEngine();
        engine.endsAfter = 2 * WARM_OPERATIONS;
        PhaseRun run = new PhaseRun(task(Step.of(phase, 3600), engine), 1, 3);
        Throwable cause = assertThrows(ExecutionException.class, () -> run.run(completed -> {}))
                .getCause();
        assertEquals(EnoughException.class, cause.getClass(), () -> cause.toString());
        // Compilation and classes met late account for a little; an object per operation would be millions of bytes.
        assertTrue(engine.allocatedSinceWarm < 200_000, engine.allocatedSinceWarm + " bytes");
    }

    @Test
    void wrongAndMissingValuesAreCounted() throws Exception {
        FakeEngine engine = new FakeEngine();
        engine.flippedEvery = 10;
        PhaseRun run = new PhaseRun(task(Step.of(Phase.READ, 0.2), engine), 2, 3);
        run.run(completed -> {});
        assertTrue(
                run.faults().wrong() > run.completed() / 20 && run.faults().wrong() < run.completed() / 5,
                run.faults().wrong() + " wrong");
        assertEquals(0, run.faults().missing());

        engine.absent = true;
        run = new PhaseRun(task(Step.of(Phase.READ, 0.1), engine), 1, 3);
        run.run(completed -> {});
        assertEquals(run.completed(), run.faults().missing());
        run = new PhaseRun(task(Step.of(Phase.MANY, 0.1), engine), 1, 3);
        run.run(completed -> {});
        assertEquals(Phase.KEYS_AT_ONCE * run.completed(), run.faults().missing());

        engine.absent = false;
        run = new PhaseRun(task(Step.of(Phase.ABSENT, 0.1), engine), 1, 3);
        run.run(completed -> {});
        assertEquals(run.completed(), run.faults().missing(), "found what should be absent");
    }

    @Test
    void aFailingOperationEndsThePhaseForAll() {
        FakeEngine engine = new FakeEngine();
        engine.failure = new IllegalStateException("disk on fire");
        PhaseRun run = new PhaseRun(task(Step.of(Phase.A, 3600), engine), 2, 3);
        Throwable cause = assertThrows(ExecutionException.class, () -> run.run(completed -> {}))
                .getCause();
        assertEquals(engine.failure, cause);
    }

    /** Others looked for ever for the record whose insert had failed, once they were as far ahead of it as they may be. */
    @Test
    void anInsertThatFailsEndsThePhaseForThoseFarAhead() {
        LateFailureEngine engine = new LateFailureEngine();
        PhaseTask task = new PhaseTask(Step.of(Phase.D, 3600), engine, settings, new InsertSequence(RECORDS), Checking.LENGTH);
        PhaseRun run = new PhaseRun(task, 2, 3);
        Throwable cause = assertThrows(ExecutionException.class, () -> run.run(completed -> {})).getCause();
        assertEquals(engine.failure, cause);
    }

    /** Records of numbers beyond had keys of others, and of those that are never there: the engine was said to have found such. */
    @Test
    void insertsEndWithTheKeys() throws Exception {
        EngineSettings shortKeys = new EngineSettings(
                Path.of("nowhere"), 1, 4000, 8, 100, 1 << 20, Durability.NONE, DeviceKind.AUTO, Map.of());
        InsertSequence inserts = new InsertSequence(4000);
        FakeEngine engine = new FakeEngine();
        PhaseTask task = new PhaseTask(new Step(Phase.D, 1_000_000, 0), engine, shortKeys, inserts, Checking.LENGTH);
        PhaseRun run = new PhaseRun(task, 2, 3);
        Throwable cause = assertThrows(ExecutionException.class, () -> run.run(completed -> {})).getCause();
        assertTrue(cause.getMessage().contains("no more keys of 8 bytes"), cause.toString());
        assertEquals(new KeySpace(8).recordsMax(), inserts.written());
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.INCLUDE, names = {"READ", "SCAN", "A", "OVERWRITE"})
    void asManyOperationsAsAreAskedForAreDone(Phase phase) throws Exception {
        for (long operations : new long[] {1, 777, RECORDS + 1}) {
            Checking checking = phase.scans() ? Checking.LENGTH : Checking.EVERYTHING; // of a scan there is only the first record
            PhaseTask task = new PhaseTask(new Step(phase, operations, 0), new FakeEngine(), settings, new InsertSequence(RECORDS), checking);
            PhaseRun run = new PhaseRun(task, 2, 3);
            run.run(completed -> {});
            assertEquals(operations, run.completed());
            assertEquals(PhaseResult.Faults.NONE, run.faults());
        }
    }

    @Test
    void anIdleStepAsksNothingForItsTime() throws Exception {
        FakeEngine engine = new FakeEngine();
        PhaseRun run = new PhaseRun(task(Step.of(Phase.IDLE, 0.2), engine), 2, 3);
        run.run(completed -> {});
        assertEquals(0, engine.operations);
        assertEquals(0, run.completed());
        assertTrue(run.seconds() >= 0.2, run.seconds() + " s");
    }

    @Test
    void aQueueHasAThousandRecordsThatComeAsTheyWerePut() throws Exception {
        SortedEngine engine;
        PhaseRun run;
        double seconds = 0.3;
        do { // until more was taken than there was at first, which takes longer on a machine that is busy
            engine = new SortedEngine();
            run = new PhaseRun(task(Step.of(Phase.QUEUE, seconds), engine), 2, 3);
            run.run(completed -> {});
            seconds *= 2;
        } while (run.completed() <= 1000);
        assertEquals(PhaseResult.Faults.NONE, run.faults());
        assertEquals(2 * 1000, engine.keys.size(), "one queue for each thread");
        assertEquals(run.completed(), run.recordsWritten(), "without those that filled the queues");

        engine.deletes = false;
        PhaseRun stuck = new PhaseRun(task(Step.of(Phase.QUEUE, 0.1), engine), 1, 3);
        stuck.run(completed -> {});
        assertEquals(stuck.completed() - 1, stuck.faults().wrong(), "the first is never taken");
    }

    /** A thread turned its queue over while others filled theirs, and where each write is synced that was most of the time. */
    @Test
    void aQueueIsMeasuredOnceAllAreFull() throws Exception {
        SortedEngine engine = new SortedEngine();
        PhaseRun run = new PhaseRun(task(Step.of(Phase.QUEUE, 0.1), engine), 3, 3);
        run.run(completed -> {});
        assertEquals(3 * 1000, engine.keysAtFirstScan.get());
        assertTrue(run.beginNanos() - engine.filledNanos >= 0, "began before it was full");
    }

    /** A scan that returned one record was right, however many there were. */
    @ParameterizedTest
    @EnumSource(names = {"SCAN", "SCANLONG"})
    void scansReturnAllThatTheyHaveTo(Phase phase) throws Exception {
        int records = 500; // so that many of them come to the end
        SortedEngine engine = new SortedEngine();
        MemorySegment key = MemorySegment.ofArray(new byte[24]);
        for (int number = 0; number < records; number++) {
            new KeySpace(24).write(number, key);
            engine.keys.add(SortedEngine.text(key));
        }
        assertEquals(PhaseResult.Faults.NONE, scanned(phase, engine, records).faults());
        engine.scanMax = 3;
        PhaseRun run = scanned(phase, engine, records);
        assertEquals(0, run.faults().wrong());
        assertTrue(run.faults().missing() > 20 * run.completed(), run.faults().toString());
        engine.scanMax = Integer.MAX_VALUE;
        engine.keys.pollLast();
        run = scanned(phase, engine, records);
        assertTrue(run.faults().missing() >= run.completed() / 20, "without the last one: " + run.faults());
    }

    private PhaseRun scanned(Phase phase, Engine engine, int records) throws Exception {
        PhaseTask task = new PhaseTask(new Step(phase, 400, 0), engine, settings, new InsertSequence(records), Checking.EVERYTHING);
        PhaseRun run = new PhaseRun(task, 1, 3);
        run.run(completed -> {});
        return run;
    }

    private PhaseTask task(Step step, Engine engine) {
        return new PhaseTask(step, engine, settings, new InsertSequence(RECORDS), Checking.EVERYTHING);
    }

    /** Has nothing to sync, settle or close. */
    private abstract static class MemoryEngine implements Engine {
        @Override
        public void sync() {}

        @Override
        public void settle() {}

        @Override
        public String describe() {
            return "";
        }

        @Override
        public void close() {}
    }

    /** Has keys in their order, and any value for each. */
    private static final class SortedEngine extends MemoryEngine {
        private final ConcurrentSkipListSet<String> keys = new ConcurrentSkipListSet<>();
        private final AtomicInteger keysAtFirstScan = new AtomicInteger(-1);
        private volatile boolean deletes = true;
        private volatile int scanMax = Integer.MAX_VALUE;
        private volatile long filledNanos;

        private static String text(MemorySegment key) {
            return new String(key.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.ISO_8859_1);
        }

        @Override
        public Session session(RecordBuffer buffer, Access access) {
            return new Session() {
                @Override
                public void put() {
                    keys.add(key());
                    if (keysAtFirstScan.get() < 0) {
                        filledNanos = System.nanoTime();
                    }
                }

                @Override
                public int get() {
                    return -1;
                }

                @Override
                public void delete() {
                    if (deletes) {
                        keys.remove(key());
                    }
                }

                @Override
                public int scan(int records, ScanVisitor visitor) {
                    if (keysAtFirstScan.get() < 0) {
                        keysAtFirstScan.compareAndSet(-1, keys.size());
                    }
                    int visited = 0;
                    Iterator<String> found = keys.tailSet(key()).iterator();
                    while (visited < Math.min(scanMax, records) && found.hasNext()) {
                        buffer.scannedKey().copyFrom(MemorySegment.ofArray(found.next().getBytes(StandardCharsets.ISO_8859_1)));
                        Values.fill(buffer.scannedKey(), buffer.result(), 1);
                        visitor.record(100);
                        visited++;
                    }
                    return visited;
                }

                private String key() {
                    return text(buffer.key());
                }

                @Override
                public void close() {}
            };
        }
    }

    /** Its first put fails, once so many others were made that the last one waits for it. */
    private static final class LateFailureEngine extends MemoryEngine {
        private static final int PUTS_AHEAD = 1 << 16;

        private final RuntimeException failure = new IllegalStateException("disk on fire");
        private final AtomicInteger puts = new AtomicInteger();

        @Override
        public Session session(RecordBuffer buffer, Access access) {
            return new Session() {
                @Override
                public void put() {
                    if (puts.getAndIncrement() == 0) {
                        while (puts.get() <= PUTS_AHEAD) {
                            Thread.onSpinWait();
                        }
                        throw failure;
                    }
                }

                @Override
                public int get() {
                    return 100;
                }

                @Override
                public void delete() {}

                @Override
                public int scan(int records, ScanVisitor visitor) {
                    return 0;
                }

                @Override
                public void close() {}
            };
        }
    }

    /** Ends a phase when enough has been seen. */
    private static final class EnoughException extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** Answers every read with the right value, or as the fields say, and watches what its thread allocates. */
    private static final class FakeEngine extends MemoryEngine {
        private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

        private volatile int flippedEvery;
        private volatile boolean absent;
        private volatile RuntimeException failure;
        private long endsAfter;
        private long operations;
        private long allocatedAtWarm;
        private long allocatedSinceWarm;

        @Override
        public Session session(RecordBuffer buffer, Access access) {
            return new Session() {
                private int reads;

                @Override
                public void put() {
                    watch();
                }

                @Override
                public int get() {
                    watch();
                    Values.fill(buffer.key(), buffer.result(), operations);
                    if (flippedEvery > 0 && ++reads % flippedEvery == 0) {
                        buffer.result().asByteBuffer().put(50, (byte)
                                ~buffer.result().asByteBuffer().get(50));
                    }
                    return absent ? -1 : 100;
                }

                @Override
                public void delete() {}

                @Override
                public int scan(int records, ScanVisitor visitor) {
                    watch();
                    buffer.scannedKey().copyFrom(buffer.key());
                    Values.fill(buffer.key(), buffer.result(), operations);
                    visitor.record(100);
                    return 1;
                }

                @Override
                public void close() {}
            };
        }

        private void watch() {
            if (failure != null) {
                throw failure;
            }
            operations++;
            if (operations == WARM_OPERATIONS) {
                allocatedAtWarm = THREADS.getCurrentThreadAllocatedBytes();
            } else if (operations == endsAfter) {
                allocatedSinceWarm = THREADS.getCurrentThreadAllocatedBytes() - allocatedAtWarm;
                throw new EnoughException();
            }
        }
    }
}
