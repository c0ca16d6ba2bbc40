package dev.heartwood.bench;

import dev.heartwood.bench.process.PhaseResult;
import dev.heartwood.bench.report.Numbers;
import dev.heartwood.bench.workload.Phase;
import dev.heartwood.bench.workload.Step;
import java.io.PrintStream;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/**
 * Tells how far the run is: on a terminal one line that is written over, with rate and time to go; elsewhere a
 * line every ten seconds and per phase. Thread-safe.
 *
 * <p>The time to go counts timed steps at their length and the others at the pace of the latest of their kind.
 */
final class Progress {
    private static final double WRITE_RATE_GUESS = 300_000;
    private static final double RATE_GUESS = 20_000;
    private static final long QUIET_NANOS_MAX = 10_000_000_000L;

    private final PrintStream out;
    private final boolean terminal;
    private final Map<Phase, Double> rates = new EnumMap<>(Phase.class);
    /** What is to come, the step under way not among it. */
    private final Deque<Step> toCome = new ArrayDeque<>();

    private int steps;
    private int number;
    private long records;
    private String label = "";
    private Step step;
    private long beganNanos;
    private long printedNanos;
    private boolean lineOpen;
    private boolean isOver;

    Progress(PrintStream out, boolean terminal) {
        this.out = out;
        this.terminal = terminal;
        printedNanos = System.nanoTime();
    }

    /** What is to come. */
    synchronized void plan(BenchOptions options) {
        records = options.records.value();
        int turns = options.rounds * options.contestants().size() * options.threads.size();
        for (int turn = 0; turn < turns; turn++) {
            toCome.addAll(options.steps());
        }
        steps = toCome.size();
    }

    /** The stores that are measured next hold so many records. */
    synchronized void size(long count) {
        records = count;
    }

    synchronized void begin(String engine, Step begun, int threads) {
        step = begun;
        toCome.removeFirstOccurrence(begun);
        number++;
        label = String.format(
                Locale.ROOT,
                "[%d/%d] %-10s %-9s %d thread%s",
                number,
                steps,
                begun.phase(),
                engine,
                threads,
                threads == 1 ? "" : "s");
        beganNanos = System.nanoTime();
        show(label);
    }

    synchronized void beginWarmUp(String engine) {
        show("warming up " + engine);
    }

    synchronized void beginSettling(String engine, Phase phase) {
        show(String.format(Locale.ROOT, "[%d/%d] %-10s %-9s settling", number, steps, phase, engine));
    }

    synchronized void update(long operations) {
        double elapsed = (System.nanoTime() - beganNanos) / 1e9;
        double rate = operations / elapsed;
        if (operations > 0) {
            rates.put(step.phase(), rate);
        }
        double done = step.isTimed() ? elapsed / step.seconds() : (double) operations / step.turns(records);
        double toGo = seconds(step) * (1 - done) + toCome.stream().mapToDouble(this::seconds).sum();
        show(String.format(
                Locale.ROOT,
                "%s  %8s/s  %3.0f %%  ETA %s",
                label,
                Numbers.count(rate),
                100 * Math.min(1, done),
                Numbers.clock(Math.max(0, toGo))));
    }

    /** How long a step is likely to take. */
    private double seconds(Step some) {
        double guess = some.phase().extent() == Phase.Extent.EVERY_RECORD ? WRITE_RATE_GUESS : RATE_GUESS;
        return some.isTimed() ? some.seconds() : some.turns(records) / rates.getOrDefault(some.phase(), guess);
    }

    synchronized void end(PhaseResult result) {
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

    /** A line that stays, after which it is not told any more how far the run is. */
    synchronized void end(String line) {
        print(line);
        isOver = true;
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
        if (isOver) {
            return;
        }
        if (terminal) {
            out.print("\r" + line + "\033[K");
            out.flush();
            lineOpen = true;
        } else if (System.nanoTime() - printedNanos > QUIET_NANOS_MAX) {
            print(line);
        }
    }
}
