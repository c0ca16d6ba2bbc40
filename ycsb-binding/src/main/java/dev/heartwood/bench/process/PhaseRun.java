package dev.heartwood.bench.process;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.function.LongConsumer;
import java.util.function.ToLongFunction;
import org.HdrHistogram.Histogram;

/** Runs one phase on an open engine and measures it, from when all workers are ready on. */
final class PhaseRun {
    /** There is no memory for what so many threads need before they begin. */
    static final class NoMemoryForThreadsException extends RuntimeException {
        private static final long serialVersionUID = 1;

        private NoMemoryForThreadsException(int threads, OutOfMemoryError cause) {
            super("no memory for " + threads + " threads: " + cause.getMessage(), cause);
        }
    }

    private static final long SAMPLE_MILLIS_MIN = 250;
    private static final int SAMPLES_MAX = 240;
    private static final double NANOS_PER_MICRO = 1000;

    private final PhaseTask task;
    private final List<Worker> workers = new ArrayList<>();
    private final List<Long> samples = new ArrayList<>();
    private long sampleMillis = SAMPLE_MILLIS_MIN;
    private ProcessCounters before;
    private ProcessCounters after;
    private long begin;
    private long nanos;

    PhaseRun(PhaseTask task, int threads, long seed) {
        this.task = task;
        try {
            for (int i = 0; i < threads; i++) {
                workers.add(new Worker(task, seed + i));
            }
        } catch (OutOfMemoryError e) {
            workers.clear();
            throw new NoMemoryForThreadsException(threads, e);
        }
    }

    /**
     * Runs to the end.
     *
     * @param progress told the operations completed so far, four times a second
     * @throws ExecutionException when a worker failed
     */
    void run(LongConsumer progress) throws InterruptedException, ExecutionException {
        List<Thread> threads = new ArrayList<>();
        for (Worker worker : workers) {
            threads.add(Thread.ofPlatform().name("bench-" + threads.size()).start(worker));
        }
        task.awaitReady(threads.size());
        ProcessCounters.resetPeak();
        before = ProcessCounters.now();
        begin = System.nanoTime();
        task.begin();
        long sampleAt = begin + sampleMillis * 1_000_000;
        for (Thread thread : threads) {
            while (thread.isAlive()) {
                long wait = sampleAt - System.nanoTime();
                if (wait > 0) {
                    thread.join(Duration.ofNanos(wait));
                } else {
                    sample();
                    progress.accept(completed());
                    sampleAt += sampleMillis * 1_000_000;
                }
            }
        }
        nanos = System.nanoTime() - begin;
        after = ProcessCounters.now();
        if (task.failed()) {
            throw new ExecutionException(task.failure());
        }
    }

    /** Adds a sample; when there are too many, every second one goes and samples become twice as long. */
    private void sample() {
        samples.add(completed());
        if (samples.size() == SAMPLES_MAX) {
            for (int i = 0; i < SAMPLES_MAX / 2; i++) {
                samples.set(i, samples.get(2 * i + 1));
            }
            samples.subList(SAMPLES_MAX / 2, SAMPLES_MAX).clear();
            sampleMillis *= 2;
        }
    }

    /** What the process had been charged when it began. */
    ProcessCounters before() {
        return before;
    }

    /** What the process had been charged when it was over. */
    ProcessCounters after() {
        return after;
    }

    /** When it began, as {@link System#nanoTime} has it. */
    long beginNanos() {
        return begin;
    }

    double seconds() {
        return nanos / 1e9;
    }

    long completed() {
        return sum(Worker::completed);
    }

    long recordsWritten() {
        return sum(Worker::recordsWritten);
    }

    long recordsScanned() {
        return sum(Worker::recordsScanned);
    }

    PhaseResult.Faults faults() {
        return new PhaseResult.Faults(sum(Worker::missing), sum(Worker::wrong));
    }

    private long sum(ToLongFunction<Worker> counter) {
        return workers.stream().mapToLong(counter).sum();
    }

    PhaseResult.Latency latency() {
        Histogram all = workers.getFirst().latencies().copy();
        workers.stream().skip(1).map(Worker::latencies).forEach(all::add);
        return new PhaseResult.Latency(
                all.getValueAtPercentile(50) / NANOS_PER_MICRO,
                all.getValueAtPercentile(99) / NANOS_PER_MICRO,
                all.getValueAtPercentile(99.9) / NANOS_PER_MICRO,
                all.getMaxValue() / NANOS_PER_MICRO);
    }

    PhaseResult.Series progress() {
        return new PhaseResult.Series(
                sampleMillis, samples.stream().mapToLong(Long::longValue).toArray());
    }
}
