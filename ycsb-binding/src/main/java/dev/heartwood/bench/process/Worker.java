package dev.heartwood.bench.process;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.heartwood.bench.engine.Engine.Access;
import dev.heartwood.bench.engine.RecordBuffer;
import dev.heartwood.bench.engine.Session;
import dev.heartwood.bench.process.PhaseTask.Checking;
import dev.heartwood.bench.workload.Phase;
import dev.heartwood.bench.workload.Requests;
import dev.heartwood.bench.workload.SeededRandom;
import dev.heartwood.bench.workload.Values;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.HdrHistogram.Histogram;

/**
 * One thread of a phase. Its counters may be read by others while it runs ({@code completed}, opaque) or after
 * it has ended (all the rest).
 */
final class Worker implements Runnable {
    private static final VarHandle COMPLETED;
    private static final long LATENCY_NANOS_MAX = 100_000_000_000L;
    private static final int LATENCY_DIGITS = 3;

    static {
        try {
            COMPLETED = MethodHandles.lookup().findVarHandle(Worker.class, "completed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final PhaseTask task;
    private final SeededRandom random;
    private final Requests requests;
    private final RecordBuffer buffer;
    private final Session.ScanVisitor visitor;
    private final BooleanSupplier hasFailed;
    private final Histogram latencies = new Histogram(1, LATENCY_NANOS_MAX, LATENCY_DIGITS);
    private final MemorySegment previousKey;
    private Session session;
    private long completed;
    private long recordsWritten;
    private long recordsScanned;
    private long recordsInScan;
    private long missing;
    private long wrong;

    Worker(PhaseTask task, long seed) {
        this.task = task;
        random = new SeededRandom(seed);
        requests = new Requests(task.phase.distribution(), random);
        buffer = new RecordBuffer(task.settings.keyBytes(), task.settings.valueBytes());
        previousKey = MemorySegment.ofArray(new byte[task.settings.keyBytes()]);
        visitor = this::checkScanned;
        hasFailed = task::failed;
    }

    @Override
    public void run() {
        boolean everyRecord = task.phase.extent() == Phase.Extent.EVERY_RECORD;
        try (Session opened = task.engine.session(buffer, everyRecord ? Access.LOAD : Access.OPERATIONS)) {
            session = opened;
            Queue queue = task.phase == Phase.QUEUE ? new Queue() : null;
            task.awaitBegin();
            if (everyRecord) {
                writeEveryRecord();
            } else if (task.phase == Phase.IDLE) {
                idle();
            } else if (queue != null) {
                queue.turnOver();
            } else {
                operate();
            }
        } catch (Throwable failure) {
            task.fail(failure);
        }
    }

    private void writeEveryRecord() {
        long last = System.nanoTime();
        for (long first = task.claim(); first < task.turns; first = task.claim()) {
            long end = Math.min(task.turns, first + task.claimTurns);
            for (long turn = first; turn < end; turn++) {
                writeInOrderOfPhase(turn % task.records);
                last = complete(last);
            }
        }
    }

    private void idle() {
        for (long left = task.deadlineNanos() - System.nanoTime(); left > 0; left = task.deadlineNanos() - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** A queue of this worker's own: records in the order of their keys, taken at one end and put at the other. */
    private final class Queue {
        private static final int RECORDS = 1000;
        private static final int QUEUES_MAX = 1024;

        private final MemorySegment first = MemorySegment.ofArray(new byte[task.settings.keyBytes()]);
        private final long numbersMax = task.keys.recordsMax() / QUEUES_MAX;
        private final long begin = task.claim() / task.claimTurns * numbersMax;
        private long head;
        private long tail;

        /** A full one; its filling is not counted. */
        Queue() {
            task.keys.writeOrdered(begin, first);
            while (tail < RECORDS && !task.failed()) {
                append();
            }
            recordsWritten = 0;
        }

        void turnOver() {
            long deadline = task.deadlineNanos();
            long last = System.nanoTime();
            while (last < deadline && !task.failed()) {
                take();
                append();
                last = complete(last);
            }
        }

        private void take() {
            buffer.key().copyFrom(first);
            recordsInScan = 0;
            missing += session.scan(1, visitor) == 1 ? 0 : 1;
            task.keys.writeOrdered(begin + head++, buffer.key());
            wrong += compare(buffer.key(), buffer.scannedKey()) == 0 ? 0 : 1;
            session.delete();
        }

        private void append() {
            if (tail == numbersMax) {
                throw noMoreKeys("fewer --seconds");
            }
            task.keys.writeOrdered(begin + tail++, buffer.key());
            putNewValue();
        }
    }

    private IllegalStateException noMoreKeys(String orElse) {
        return new IllegalStateException("there are no more keys of " + task.settings.keyBytes() + " bytes to insert; "
                + "give a greater --key-bytes or " + orElse);
    }

    private void writeInOrderOfPhase(long number) {
        if (task.phase == Phase.OVERWRITE) {
            task.keys.write(Permutation.apply(number, task.records), buffer.key());
        } else if (isHashed()) {
            task.keys.write(number, buffer.key());
        } else {
            task.keys.writeOrdered(number, buffer.key());
        }
        putNewValue();
    }

    private boolean isHashed() {
        int percent = task.phase.hashedPercent();
        return percent == 100 || percent > 0 && random.below(100) < percent;
    }

    private void operate() {
        Phase.Mix mix = task.phase.mix();
        int updatesFrom = mix.reads();
        int insertsFrom = updatesFrom + mix.updates();
        int scansFrom = insertsFrom + mix.inserts();
        int readModifyWritesFrom = scansFrom + mix.scans();
        long deadline = task.deadlineNanos();
        long last = System.nanoTime();
        long claimed = 0;
        while (last < deadline && !task.failed()) {
            if (claimed == 0) {
                long first = task.claim();
                if (first >= task.turns) {
                    return;
                }
                claimed = Math.min(task.claimTurns, task.turns - first);
            }
            claimed--;
            long dice = random.below(100);
            if (task.phase == Phase.MANY) {
                readMany();
            } else if (dice < updatesFrom) {
                read();
            } else if (dice < insertsFrom) {
                chooseKey();
                putNewValue();
            } else if (dice < scansFrom) {
                insert();
            } else if (dice < readModifyWritesFrom) {
                scan();
            } else {
                read();
                putNewValue();
            }
            last = complete(last);
        }
    }

    private long complete(long last) {
        long now = System.nanoTime();
        latencies.recordValue(Math.min(now - last, LATENCY_NANOS_MAX));
        COMPLETED.setOpaque(this, completed + 1);
        return now;
    }

    private void chooseKey() {
        boolean latest = task.phase.distribution() == Requests.Distribution.LATEST;
        task.keys.write(requests.next(latest ? task.inserts.written() : task.records), buffer.key());
    }

    private void putNewValue() {
        Values.fill(buffer.key(), buffer.value(), random.nextLong());
        session.put();
        recordsWritten++;
    }

    private void insert() {
        long number = task.inserts.next();
        if (number >= task.keys.recordsMax()) {
            throw noMoreKeys("fewer --records");
        }
        task.keys.write(number, buffer.key());
        putNewValue();
        task.inserts.acknowledge(number, hasFailed);
    }

    private void read() {
        if (task.phase == Phase.ABSENT) {
            task.keys.write(task.keys.absentNumber(random), buffer.key());
            missing += session.get() < 0 ? 0 : 1;
            return;
        }
        chooseKey();
        int length = session.get();
        if (length < 0) {
            missing++;
        } else if (!isRight(buffer.key(), length)) {
            wrong++;
        }
    }

    private void readMany() {
        List<byte[]> keys = new ArrayList<>(Phase.KEYS_AT_ONCE);
        for (int i = 0; i < Phase.KEYS_AT_ONCE; i++) {
            chooseKey();
            keys.add(buffer.key().toArray(JAVA_BYTE));
        }
        List<byte[]> values = session.getAll(keys, buffer);
        for (int i = 0; i < Phase.KEYS_AT_ONCE; i++) {
            byte[] value = values.get(i);
            if (value == null) {
                missing++;
            } else if (!isRight(MemorySegment.ofArray(keys.get(i)), MemorySegment.ofArray(value), value.length)) {
                wrong++;
            }
        }
    }

    private boolean isRight(MemorySegment key, int length) {
        return isRight(key, buffer.result(), length);
    }

    private boolean isRight(MemorySegment key, MemorySegment value, int length) {
        return length == buffer.result().byteSize()
                && (task.checking == Checking.LENGTH || Values.matches(key, value, length));
    }

    private void scan() {
        chooseKey();
        int max = task.phase.scanRecordsMax();
        int length = task.phase == Phase.SCANLONG ? max : 1 + (int) random.below(max);
        recordsInScan = 0;
        int scanned = session.scan(length, visitor);
        recordsScanned += scanned;
        // The key asked for is present, so a scan from it sees at least that record; what is inserted meanwhile comes in addition.
        int least = task.lastKeys == null ? 1 : Math.min(length, task.lastKeys.countFrom(buffer.key()));
        missing += scanned != recordsInScan ? 1 : Math.max(0, least - scanned);
    }

    private void checkScanned(int valueLength) {
        recordsInScan++;
        boolean right = isRight(buffer.scannedKey(), valueLength);
        if (task.checking == Checking.EVERYTHING) {
            MemorySegment before = recordsInScan == 1 ? buffer.key() : previousKey;
            int least = recordsInScan == 1 ? 0 : 1;
            right &= compare(buffer.scannedKey(), before) >= least;
            previousKey.copyFrom(buffer.scannedKey());
        }
        wrong += right ? 0 : 1;
    }

    private static int compare(MemorySegment a, MemorySegment b) {
        long at = a.mismatch(b);
        if (at < 0) {
            return 0;
        }
        return Byte.compareUnsigned(a.get(JAVA_BYTE, at), b.get(JAVA_BYTE, at));
    }

    long completed() {
        return (long) COMPLETED.getOpaque(this);
    }

    Histogram latencies() {
        return latencies;
    }

    long recordsWritten() {
        return recordsWritten;
    }

    long recordsScanned() {
        return recordsScanned;
    }

    long missing() {
        return missing;
    }

    long wrong() {
        return wrong;
    }
}
