package dev.heartwood.bench.process;

import dev.heartwood.bench.engine.Engine;
import dev.heartwood.bench.engine.EngineKind;
import dev.heartwood.bench.engine.EngineSettings;
import dev.heartwood.bench.workload.InsertSequence;
import dev.heartwood.bench.workload.Phase;
import dev.heartwood.bench.workload.Step;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.function.LongConsumer;

/**
 * Keeps one engine's store open between phases. Belongs to one thread.
 *
 * <p>There are two stores: that of the load, on which all phases work, and that of a sequential load, which is
 * deleted when the next phase wants the other.
 */
final class EngineHost implements AutoCloseable {
    private static final double WARM_UP_SECONDS = 2;

    private final String name;
    private final Function<EngineSettings, Engine> opener;
    private final EngineSettings loaded;
    private final EngineSettings sequential;
    private final PhaseTask.Checking checking;
    private final long seed;
    private int phasesRun;
    private Engine engine;
    private EngineSettings open;
    private InsertSequence inserts;
    /** The checkpoint distance that the store of the load was set to; 0 while it has the one that it was opened with. */
    private int retuned;
    /** The result of the last phase, which what is done after it is added to. */
    private PhaseResult last;
    /** What the process had been charged at the end of the last result, before any when the store was opened. */
    private ProcessCounters told;
    /** Bytes written since the last phase began, to the end of what was done after it. */
    private long written;
    /** Bytes of keys and values that the last phase wrote. */
    private long userBytesWritten;

    EngineHost(EngineKind kind, EngineSettings settings, PhaseTask.Checking checking, long seed) {
        this(kind.toString(), kind::open, settings, checking, seed);
    }

    /** @param opener opens the store in the settings' directory, and makes what is missing */
    EngineHost(String name, Function<EngineSettings, Engine> opener, EngineSettings settings, PhaseTask.Checking checking, long seed) {
        this.name = name;
        this.opener = opener;
        this.checking = checking;
        this.seed = seed;
        loaded = settings;
        sequential = settings.in(beside(DataSet.SEQUENTIAL_SUFFIX));
    }

    private Path beside(String suffix) {
        return loaded.directory().resolveSibling(loaded.directory().getFileName() + suffix);
    }

    /**
     * Loads a store of its own, runs phases on it that nobody counts, and deletes it, so that the JVM has compiled what is measured
     * later. Before the first phase.
     *
     * @throws IllegalStateException when a value was missing or wrong
     */
    void warmUp(long records, int threads, List<Phase> phases) throws InterruptedException, ExecutionException, IOException {
        EngineSettings settings = loaded.in(beside(DataSet.WARM_UP_SUFFIX)).withRecords(records);
        try (EngineHost other = new EngineHost(name, opener, settings, checking, seed)) {
            other.warmUp(Phase.LOAD, threads);
            for (Phase phase : phases) {
                if (phase != Phase.LOAD && phase != Phase.IDLE) {
                    other.warmUp(phase, threads);
                }
            }
        }
        new DataSet(settings).delete();
    }

    private void warmUp(Phase phase, int threads) throws InterruptedException, ExecutionException, IOException {
        PhaseResult.Faults faults = run(Step.of(phase, WARM_UP_SECONDS), threads, operations -> {}).faults();
        if (faults.any()) {
            throw new IllegalStateException("phase " + phase + " of its warm-up had " + faults.missing() + " missing and "
                    + faults.wrong() + " wrong values");
        }
        if (phase.writes()) {
            settle();
        }
    }

    /**
     * Runs a phase.
     *
     * @throws ExecutionException when an operation failed
     * @throws IllegalStateException when the phase needs records and there are none, or not as many as were to be loaded
     */
    PhaseResult run(Step step, int threads, LongConsumer progress)
            throws InterruptedException, ExecutionException, IOException {
        Phase phase = step.phase();
        openFor(phase);
        PhaseTask task = new PhaseTask(step, engine, open, inserts, checking);
        PhaseRun run = new PhaseRun(task, threads, seed + 1_000_003L * phasesRun++);
        run.run(progress);
        if (phase.startsEmpty()) {
            inserts = new InsertSequence(open.records());
        }
        DataSet data = new DataSet(open);
        data.note(inserts.written());
        last = result(phase.toString(), threads, run, data.diskBytes(), task.records);
        return last;
    }

    private PhaseResult result(String phase, int threads, PhaseRun run, long diskBytes, long records) {
        ProcessCounters before = run.before();
        ProcessCounters after = run.after();
        PhaseResult.Between between = before.since(told);
        told = after;
        written = after.bytesWritten() - before.bytesWritten();
        userBytesWritten = run.recordsWritten() * (open.keyBytes() + open.valueBytes());
        return new PhaseResult(
                name,
                phase,
                threads,
                records,
                run.completed(),
                run.seconds(),
                after.cpuSeconds() - before.cpuSeconds(),
                between,
                run.latency(),
                new PhaseResult.Storage(
                        after.bytesRead() - before.bytesRead(),
                        Math.max(0, written),
                        userBytesWritten == 0 ? 0 : Math.max(0, (double) written / userBytesWritten),
                        diskBytes),
                new PhaseResult.Memory(after.rssPeakBytes(), after.anonymousBytes()),
                run.recordsScanned(),
                run.faults(),
                run.progress(),
                changesSince(run.beginNanos()));
    }

    /** What the engine has changed by itself, and when; before a time means at that time. */
    private List<PhaseResult.Change> changesSince(long nanoTime) {
        return engine.changes().stream()
                .map(change -> new PhaseResult.Change(Math.max(0, change.nanoTime() - nanoTime) / 1e9, change.what()))
                .toList();
    }

    /** Waits until the work that the last phase has caused is done. */
    PhaseResult settle() throws InterruptedException {
        return after(PhaseResult.SETTLE_SUFFIX, engine::settle);
    }

    /** Sets another checkpoint distance, until the store is loaded anew, and waits until nothing of the one before is left. */
    PhaseResult retune(int distance) throws InterruptedException {
        retuned = open == loaded ? distance : retuned;
        return after(PhaseResult.RETUNE_SUFFIX, () -> engine.retune(distance));
    }

    /** What is done after a phase. */
    private interface Aftermath {
        void run() throws InterruptedException;
    }

    private PhaseResult after(String suffix, Aftermath aftermath) throws InterruptedException {
        ProcessCounters.resetPeak();
        ProcessCounters before = ProcessCounters.now();
        long begin = System.nanoTime();
        aftermath.run();
        double seconds = (System.nanoTime() - begin) / 1e9;
        ProcessCounters after = ProcessCounters.now();
        PhaseResult.Between between = before.since(told);
        long writtenNow = after.bytesWritten() - before.bytesWritten();
        written += after.bytesWritten() - told.bytesWritten();
        told = after;
        return new PhaseResult(
                name,
                last.phase() + suffix,
                last.threads(),
                last.records(),
                0,
                seconds,
                after.cpuSeconds() - before.cpuSeconds(),
                between,
                PhaseResult.Latency.NONE,
                new PhaseResult.Storage(
                        after.bytesRead() - before.bytesRead(),
                        Math.max(0, writtenNow),
                        userBytesWritten == 0 ? 0 : Math.max(0, (double) written / userBytesWritten),
                        new DataSet(open).diskBytes()),
                new PhaseResult.Memory(after.rssPeakBytes(), after.anonymousBytes()),
                0,
                PhaseResult.Faults.NONE,
                PhaseResult.Series.NONE,
                List.of());
    }

    /** What the engine tells about itself. */
    String describe() {
        return engine == null ? "" : engine.describe();
    }

    private void openFor(Phase phase) throws IOException {
        EngineSettings wanted = phase.hasOwnRecords() ? sequential : loaded;
        if (engine != null && (wanted != open || phase.startsEmpty())) {
            close();
        }
        if (engine != null) {
            return;
        }
        DataSet data = new DataSet(wanted);
        if (phase.startsEmpty()) {
            data.makeEmpty();
        } else if (data.records() == 0) {
            throw new IllegalStateException("phase " + phase + " needs records of " + wanted.keyBytes() + " + "
                    + wanted.valueBytes() + " bytes in " + stores(wanted) + " and there are none in " + wanted.directory()
                    + "; run phase load first");
        } else {
            data.requireLoadedAsSet();
        }
        engine = opener.apply(wanted);
        open = wanted;
        told = told == null ? ProcessCounters.now() : told;
        if (wanted == loaded) {
            retuned = phase.startsEmpty() ? 0 : retuned;
            retuneOpened();
        }
        inserts = new InsertSequence(data.records());
    }

    /** A store that was closed in between, for phases on records of their own, does not know any more. */
    private void retuneOpened() {
        if (retuned > 0) {
            engine.retune(retuned);
        }
    }

    private static String stores(EngineSettings settings) {
        return settings.stores() == 1 ? "one store" : settings.stores() + " stores";
    }

    @Override
    public void close() throws IOException {
        if (engine != null) {
            engine.close();
            engine = null;
            if (open == sequential) {
                new DataSet(sequential).delete();
            }
        }
    }
}
