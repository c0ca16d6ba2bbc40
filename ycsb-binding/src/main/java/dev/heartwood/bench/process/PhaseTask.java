package dev.heartwood.bench.process;

import dev.heartwood.bench.engine.Engine;
import dev.heartwood.bench.engine.EngineSettings;
import dev.heartwood.bench.workload.InsertSequence;
import dev.heartwood.bench.workload.KeySpace;
import dev.heartwood.bench.workload.Phase;
import dev.heartwood.bench.workload.Step;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * What the workers of one phase share.
 *
 * <p>Access: {@code claimed} and {@code failure} are atomic; {@code ready} has a permit for each worker that is ready or
 * has failed; {@code deadlineNanos} is written before {@code start} opens and read after; everything else is final.
 */
final class PhaseTask {
    /** What is checked of a value that was read. */
    enum Checking {
        /** Its length. */
        LENGTH,
        /** Every byte, and of scans the order, and that nothing is missing at their ends. */
        EVERYTHING
    }

    /** Operations that a worker claims at a time, of those that go through the records and of others. */
    private static final int CLAIM_RECORDS = 1000;

    private static final int CLAIM_REQUESTS = 50;

    private static final double FOREVER_SECONDS = 1e9;

    final Phase phase;
    final Engine engine;
    final EngineSettings settings;
    final KeySpace keys;
    final InsertSequence inserts;
    final Checking checking;
    final long records;
    /** Operations of all workers together. */
    final long turns;
    /** Those that a worker claims at a time. */
    final int claimTurns;
    /** As many as the longest scan has; null where it is not checked how many records a scan returns. */
    final LastKeys lastKeys;

    private final double seconds;
    private final Semaphore ready = new Semaphore(0);
    private final CountDownLatch start = new CountDownLatch(1);
    private final AtomicLong claimed = new AtomicLong();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private long deadlineNanos;

    PhaseTask(Step step, Engine engine, EngineSettings settings, InsertSequence inserts, Checking checking) {
        this.phase = step.phase();
        this.engine = engine;
        this.settings = settings;
        this.keys = new KeySpace(settings.keyBytes());
        this.inserts = inserts;
        this.checking = checking;
        this.records = phase.startsEmpty() ? settings.records() : inserts.written();
        this.turns = step.turns(records);
        this.claimTurns = phase.extent() == Phase.Extent.EVERY_RECORD ? CLAIM_RECORDS : CLAIM_REQUESTS;
        this.lastKeys = checking == Checking.EVERYTHING && phase.mix().scans() > 0 ? LastKeys.of(keys, records, phase.scanRecordsMax()) : null;
        this.seconds = step.isTimed() ? step.seconds() : FOREVER_SECONDS;
    }

    /** Says that a worker is ready, and waits until all go. */
    void awaitBegin() throws InterruptedException {
        ready.release();
        start.await();
    }

    /** Waits until all of so many workers are ready or have failed. */
    void awaitReady(int workers) throws InterruptedException {
        ready.acquire(workers);
    }

    /** Lets the workers go. */
    void begin() {
        deadlineNanos = System.nanoTime() + (long) (seconds * 1e9);
        start.countDown();
    }

    /** When a timed phase is over. */
    long deadlineNanos() {
        return deadlineNanos;
    }

    /** The first of the next {@link #claimTurns} operations, or at least {@link #turns} when there is none left. */
    long claim() {
        return failed() ? Long.MAX_VALUE : claimed.getAndAdd(claimTurns);
    }

    /** Ends the phase for everyone. */
    void fail(Throwable cause) {
        failure.compareAndSet(null, cause);
        ready.release();
    }

    boolean failed() {
        return failure.get() != null;
    }

    Throwable failure() {
        return failure.get();
    }
}
