package dev.heartwood.bench;

import dev.heartwood.bench.process.PhaseResult;
import dev.heartwood.bench.report.Numbers;
import dev.heartwood.bench.workload.Phase;
import java.io.PrintStream;
import java.util.Locale;

/**
 * Tells how far the run is: on a terminal one line that is written over, with rate and time to go; elsewhere a
 * line every ten seconds and per phase. Thread-safe.
 *
 * <p>The time to go counts timed phases at their length and the others at the pace of the latest of their kind.
 */
final class Progress {
    private static final double RATE_GUESS = 300_000;
    private static final long QUIET_NANOS_MAX = 10_000_000_000L;

    private final PrintStream out;
    private final boolean terminal;
    private int steps;
    private int step;
    private int timedSteps;
    private int recordSteps;
    private long records;
    private int seconds;
    private double recordRate = RATE_GUESS;
    private String label = "";
    private Phase phase;
    private long beganNanos;
    private long printedNanos;
    private boolean lineOpen;

    Progress(PrintStream out, boolean terminal) {
        this.out = out;
        this.terminal = terminal;
        printedNanos = System.nanoTime();
    }

    /** What is to come. */
    synchronized void plan(BenchOptions options) {
        records = options.records.value();
        seconds = options.seconds;
        int turns = options.contestants().size() * options.threads.size();
        steps = turns * options.phases.size();
        recordSteps = turns
                * (int) options.phases.stream()
                        .filter(p -> p.extent() == Phase.Extent.EVERY_RECORD)
                        .count();
        timedSteps = steps - recordSteps;
    }

    /** The stores that are measured next hold so many records. */
    synchronized void size(long count) {
        records = count;
    }

    synchronized void begin(String engine, Phase phase, int threads) {
        this.phase = phase;
        step++;
        label = String.format(
                Locale.ROOT,
                "[%d/%d] %-10s %-9s %d thread%s",
                step,
                steps,
                phase,
                engine,
                threads,
                threads == 1 ? "" : "s");
        beganNanos = System.nanoTime();
        show(label);
    }

    synchronized void beginSettling(String engine, Phase phase) {
        show(String.format(Locale.ROOT, "[%d/%d] %-10s %-9s settling", step, steps, phase, engine));
    }

    synchronized void update(long operations) {
        double elapsed = (System.nanoTime() - beganNanos) / 1e9;
        double rate = operations / elapsed;
        boolean everyRecord = phase.extent() == Phase.Extent.EVERY_RECORD;
        if (everyRecord && operations > 0) {
            recordRate = rate;
        }
        double done = everyRecord ? (double) operations / records : elapsed / seconds;
        double left = everyRecord ? (records - operations) / recordRate : seconds - elapsed;
        double toGo = left
                + (timedSteps - (everyRecord ? 0 : 1)) * (double) seconds
                + (recordSteps - (everyRecord ? 1 : 0)) * records / recordRate;
        show(String.format(
                Locale.ROOT,
                "%s  %8s/s  %3.0f %%  ETA %s",
                label,
                Numbers.count(rate),
                100 * Math.min(1, done),
                Numbers.clock(Math.max(0, toGo))));
    }

    synchronized void end(PhaseResult result) {
        if (result.isPhase()) {
            if (phase.extent() == Phase.Extent.EVERY_RECORD) {
                recordSteps--;
                recordRate = result.operationsPerSecond();
            } else {
                timedSteps--;
            }
        }
        if (!result.isPhase()) {
            print(String.format(
                    Locale.ROOT,
                    "%s  %s in %.1f s, %s",
                    label,
                    result.isSettling() ? "settled" : "tuned back",
                    result.seconds(),
                    Numbers.bytes(result.storage().bytesWritten())));
        } else {
            print(String.format(
                    Locale.ROOT,
                    "%s  %8s/s  p50 %s  p99 %s  max %s",
                    label,
                    Numbers.count(result.operationsPerSecond()),
                    Numbers.latency(result.latency().p50Micros()),
                    Numbers.latency(result.latency().p99Micros()),
                    Numbers.latency(result.latency().maxMicros())));
        }
    }

    /** A line that stays. */
    synchronized void print(String line) {
        if (lineOpen) {
            out.print("\r\033[K");
            lineOpen = false;
        }
        out.println(line);
        printedNanos = System.nanoTime();
    }

    private void show(String line) {
        if (terminal) {
            out.print("\r" + line + "\033[K");
            out.flush();
            lineOpen = true;
        } else if (System.nanoTime() - printedNanos > QUIET_NANOS_MAX) {
            print(line);
        }
    }
}
