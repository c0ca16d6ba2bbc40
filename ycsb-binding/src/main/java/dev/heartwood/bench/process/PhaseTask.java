package dev.heartwood.bench.process;

import dev.heartwood.bench.engine.Engine;
import dev.heartwood.bench.engine.EngineSettings;
import dev.heartwood.bench.workload.InsertSequence;
import dev.heartwood.bench.workload.KeySpace;
import dev.heartwood.bench.workload.Phase;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * What the workers of one phase share.
 *
 * <p>Access: {@code claimed} and {@code failure} are atomic; {@code deadlineNanos} is written before {@code
 * start} opens and read after; everything else is final.
 */
final class PhaseTask {
    /** What is checked of a value that was read. */
    enum Checking {
        /** Its length. */
        LENGTH,
        /** Every byte, and the order of scans. */
        EVERYTHING
    }

    /** Records that a worker claims at a time. */
    static final int CLAIM_RECORDS = 1000;

    final Phase phase;
    final Engine engine;
    final EngineSettings settings;
    final KeySpace keys;
    final InsertSequence inserts;
    final Checking checking;
    final long records;
    final CountDownLatch start = new CountDownLatch(1);
    private final AtomicLong claimed = new AtomicLong();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private long deadlineNanos;

    PhaseTask(Phase phase, Engine engine, EngineSettings settings, InsertSequence inserts, Checking checking) {
        this.phase = phase;
        this.engine = engine;
        this.settings = settings;
        this.keys = new KeySpace(settings.keyBytes());
        this.inserts = inserts;
        this.checking = checking;
        this.records = phase.startsEmpty() ? settings.records() : inserts.written();
    }

    /** Lets the workers go; timed phases last {@code seconds}. */
    void begin(double seconds) {
        deadlineNanos = System.nanoTime() + (long) (seconds * 1e9);
        start.countDown();
    }

    long deadlineNanos() {
        return deadlineNanos;
    }

    /**
     * The first of the next {@link #CLAIM_RECORDS} records, or at least {@link #records} when there is none left.
     */
    long claim() {
        return failed() ? Long.MAX_VALUE : claimed.getAndAdd(CLAIM_RECORDS);
    }

    /** Ends the phase for everyone. */
    void fail(Throwable cause) {
        failure.compareAndSet(null, cause);
    }

    boolean failed() {
        return failure.get() != null;
    }

    Throwable failure() {
        return failure.get();
    }
}
