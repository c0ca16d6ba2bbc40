package dev.heartwood.bench;

import dev.heartwood.bench.process.DataSet;
import dev.heartwood.bench.process.EngineClient;
import dev.heartwood.bench.process.EngineClient.EngineFailure;
import dev.heartwood.bench.process.PhaseResult;
import dev.heartwood.bench.report.Rounds;
import dev.heartwood.bench.workload.Phase;
import dev.heartwood.bench.workload.Step;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * One run of the benchmark. Phase by phase and thread count by thread count, the engines take turns; who begins
 * changes from turn to turn. An engine that fails is left out of what follows. Settings of one engine are run one after the other
 * instead, since their number is not bounded by the memory of the machine then, and so is a cycle, in which nobody is to gain by the time
 * that others take. Every round does the same; another engine begins.
 */
final class Bench {
    /**
     * All engines do the same.
     *
     * @param number how many there were before in this round
     * @param repetition how often the phase came by now, from 1 on
     */
    private record Turn(int number, Step step, int repetition, int threads) {}

    private final BenchOptions options;
    private final Progress progress;
    private final Consumer<Rounds> whenInterrupted;
    /** What was measured; read by the shutdown hook too. */
    private final List<List<PhaseResult>> rounds = new CopyOnWriteArrayList<>();
    /** The engines that run; read by the shutdown hook too. */
    private final List<EngineClient> clients = new CopyOnWriteArrayList<>();

    /** Those of the round under way. */
    private List<PhaseResult> results = List.of();

    private ClaimedDirectory claim;
    private boolean clean = true;
    /** Whether the JVM is to end, so that engines that end are no failures, and none is to be started. */
    private volatile boolean isEnding;

    /** @param whenInterrupted is given what was finished when the JVM is ended before all is, as by Ctrl-C */
    Bench(BenchOptions options, Progress progress, Consumer<Rounds> whenInterrupted) {
        this.options = options;
        this.progress = progress;
        this.whenInterrupted = whenInterrupted;
    }

    /**
     * Runs everything; whether no engine failed.
     *
     * @throws InterruptedException also when the JVM is ending
     */
    boolean run() throws IOException, InterruptedException {
        claim = ClaimedDirectory.of(options.directory());
        Thread hook = Thread.ofPlatform().unstarted(this::interrupt);
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            progress.plan(options);
            for (int round = 0; round < options.rounds; round++) {
                round(round);
            }
        } catch (IOException e) {
            requireNotEnding(); // which closes what engines say
            throw e;
        } finally {
            if (remove(hook)) {
                endInHaste();
            } else {
                isEnding = true; // also where the hook has not begun: it reports what this would
            }
        }
        requireNotEnding();
        return clean;
    }

    /** Ends the run, by another thread as a rule: stops the engines, hands on what was finished, and deletes what is not to stay. */
    void interrupt() {
        isEnding = true;
        clients.forEach(EngineClient::close);
        try {
            whenInterrupted.accept(rounds());
        } finally {
            endInHaste();
        }
    }

    /** Returns whether it was still to be removed, and has not begun. */
    private static boolean remove(Thread hook) {
        try {
            return Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException isShuttingDown) {
            return false;
        }
    }

    private void requireNotEnding() throws InterruptedException {
        if (isEnding) {
            throw new InterruptedException("the JVM is ending");
        }
    }

    /** What was measured so far, without a round of which nothing was. */
    Rounds rounds() {
        List<List<PhaseResult>> begun = new ArrayList<>();
        rounds.forEach(round -> begun.add(List.copyOf(round)));
        if (!begun.isEmpty() && begun.getLast().isEmpty()) {
            begun.removeLast();
        }
        return new Rounds(begun, options.steps().size());
    }

    private void round(int number) throws IOException, InterruptedException {
        results = new CopyOnWriteArrayList<>();
        rounds.add(results);
        List<Contestant> contestants = new ArrayList<>(options.contestants());
        Collections.rotate(contestants, -number % contestants.size());
        if (options.comparesSettings() || options.isCycle()) {
            for (Contestant contestant : contestants) {
                run(List.of(contestant));
            }
        } else {
            run(contestants);
        }
    }

    private void run(List<Contestant> contestants) throws IOException, InterruptedException {
        progress.size(contestants.getFirst().settings().records());
        for (Contestant c : contestants) {
            requireNotEnding();
            try {
                EngineClient client = EngineClient.start(
                        c.name(), c.kind(), c.settings(), options.verification(), options.seed, progress::print);
                clients.add(client);
                if (isEnding) {
                    client.close(); // who ends all may not have seen it
                }
                requireNotEnding();
                warmUp(client);
            } catch (EngineFailure e) {
                fail(e);
            }
        }
        int turns = 0;
        Map<Phase, Integer> repetitions = new EnumMap<>(Phase.class);
        for (Step step : options.steps()) {
            int repetition = repetitions.merge(step.phase(), 1, Integer::sum);
            for (int threads : options.threads) {
                requireNotEnding();
                take(new Turn(turns++, step, repetition, threads));
            }
        }
        quit();
        clients.clear();
    }

    private void warmUp(EngineClient client) throws IOException {
        if (options.warmup.value() == 0) {
            return;
        }
        progress.beginWarmUp(client.name());
        List<Phase> phases = options.steps().stream().map(Step::phase).distinct().toList();
        try {
            client.warmUp(options.warmup.value(), Collections.max(options.threads), phases);
        } catch (EngineFailure e) {
            leaveOut(client, e);
        }
    }

    private void take(Turn turn) throws IOException {
        List<EngineClient> order = new ArrayList<>(clients);
        if (!order.isEmpty()) {
            Collections.rotate(order, -turn.number() % order.size());
        }
        for (EngineClient client : order) {
            try {
                if (options.isCycle()) {
                    add(measured(client, turn).asStep(turn.number() + 1));
                    describe(client);
                } else {
                    measure(client, turn);
                }
            } catch (EngineFailure e) {
                leaveOut(client, e);
            }
        }
    }

    private void leaveOut(EngineClient client, EngineFailure failure) {
        fail(failure);
        client.close();
        clients.remove(client);
        makeRoom(client.name());
    }

    /**
     * Deletes what is not to stay of an engine that failed, of which others may need the space; not beside the shutdown hook, which
     * deletes it too.
     */
    private synchronized void makeRoom(String engine) {
        if (!isEnding) {
            tryDeleteStores(engine);
        }
    }

    private void tryDeleteStores(String engine) {
        try {
            deleteStores(engine);
        } catch (UncheckedIOException e) {
            progress.print("could not delete the store of " + engine + ": " + e.getMessage());
        }
    }

    /** Deletes the stores of an engine that are not to stay; those of others may lie beside them. */
    private void deleteStores(String engine) {
        Path store = options.directory().resolve(engine);
        if (deletesStores()) {
            DataSet.delete(store);
        } else {
            DataSet.deletePassingBeside(store);
        }
    }

    /** Whether nobody named the directory to find them there again. */
    private boolean deletesStores() {
        return options.directory == null;
    }

    private PhaseResult measured(EngineClient client, Turn turn) throws IOException, EngineFailure {
        progress.begin(client.name(), turn.step(), turn.threads());
        return client.run(turn.step(), turn.threads(), progress::update);
    }

    /** Measures a phase, and what has to be done after it. */
    private void measure(EngineClient client, Turn turn) throws IOException, EngineFailure {
        Phase phase = turn.step().phase();
        add(measured(client, turn).asRepetition(turn.repetition()));
        if (phase.startsEmpty() && !options.distances.isEmpty()) {
            add(client.retune(1).asRepetition(turn.repetition()));
        }
        if (phase.writes()) {
            progress.beginSettling(client.name(), phase);
            add(client.settle().asRepetition(turn.repetition()));
        }
        describe(client);
    }

    private void add(PhaseResult result) {
        results.add(result);
        progress.end(result);
    }

    private void describe(EngineClient client) throws IOException, EngineFailure {
        if (options.stats) {
            client.describe().forEach(progress::print);
        }
    }

    private void fail(EngineFailure failure) {
        clean = false;
        if (!isEnding) {
            progress.print(failure.getMessage());
        }
    }

    private void quit() throws IOException, InterruptedException {
        for (EngineClient client : clients) {
            try {
                client.quit();
            } catch (EngineFailure e) {
                fail(e);
                client.close(); // it may still write to its store, which is deleted now
            }
        }
    }

    private synchronized void endInHaste() {
        clients.forEach(EngineClient::close);
        options.contestants().forEach(contestant -> tryDeleteStores(contestant.name()));
        try {
            claim.close();
        } catch (IOException e) {
            progress.print("could not delete what is in " + options.directory() + ": " + e.getMessage());
        }
        if (deletesStores()) {
            options.directory().toFile().delete(); // when nothing else is in it
        }
    }
}
