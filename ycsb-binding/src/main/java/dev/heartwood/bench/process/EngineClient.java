package dev.heartwood.bench.process;

import dev.heartwood.bench.engine.EngineKind;
import dev.heartwood.bench.engine.EngineSettings;
import dev.heartwood.bench.workload.Phase;
import dev.heartwood.bench.workload.Step;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;

/** The driver's end of the line to an engine's process. Belongs to one thread. */
public final class EngineClient implements AutoCloseable {
    /** An engine's process refused a command or died. */
    public static final class EngineFailure extends Exception {
        private static final long serialVersionUID = 1;

        EngineFailure(String message) {
            super(message);
        }
    }

    /** Exit codes after Ctrl-C and SIGTERM, which all processes get. */
    private static final Set<Integer> ENDED_BY_USER = Set.of(130, 143);

    private static final String MALLOC_ARENAS = "2";
    private static final Duration QUIT_MAX = Duration.ofMinutes(10);
    /** A child of an engine that has ended may hold its standard error open. */
    private static final Duration ERRORS_MAX = Duration.ofSeconds(10);

    private final String name;
    private final Process process;
    private final Duration quitMax;
    private final Consumer<String> log;
    private final PrintStream commands;
    private final BufferedReader answers;
    private final Thread errors;
    /** Whether its end is no failure. */
    private volatile boolean isClosed;

    EngineClient(String name, Process process, Consumer<String> log) {
        this(name, process, log, QUIT_MAX);
    }

    /** @param quitMax how long the process may take to end once it has closed its store */
    EngineClient(String name, Process process, Consumer<String> log, Duration quitMax) {
        this.name = name;
        this.process = process;
        this.quitMax = quitMax;
        this.log = log;
        commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        answers = process.inputReader(StandardCharsets.UTF_8);
        errors = Thread.ofVirtual().start(() -> relay(process.errorReader(StandardCharsets.UTF_8)));
    }

    private void relay(BufferedReader lines) {
        try {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                relay(line);
            }
        } catch (IOException killed) {
            // The stream closes under its reader when the process is killed; there is nothing more to relay.
            return;
        }
    }

    private void relay(String line) {
        log.accept(name + ": " + line);
    }

    /**
     * Starts a process.
     *
     * @param name what the results call it
     * @param verify whether every byte that is read is to be checked, or its length only
     * @param log shown what the process prints
     * @throws EngineFailure when it does not come up
     */
    public static EngineClient start(
            String name,
            EngineKind kind,
            EngineSettings settings,
            Verification verify,
            long seed,
            Consumer<String> log)
            throws IOException, EngineFailure {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("--enable-native-access=ALL-UNNAMED");
        command.addAll(kind.jvmArguments(settings));
        command.addAll(furtherJvmArguments());
        command.add("-cp");
        command.add(System.getProperty("java.class.path"));
        command.add(EngineProcess.class.getName());
        command.add(kind.toString());
        command.add(verify == Verification.ON ? "EVERYTHING" : "LENGTH");
        command.add(Long.toString(seed));
        command.addAll(settings.toArguments());
        EngineClient client = new EngineClient(name, processOf(command).start(), log);
        client.await("ready", operations -> {}, line -> {});
        return client;
    }

    /**
     * The allocator of the C library has up to eight arenas for each processor, and RocksDB's blocks come to lie in all of them, so that its process has several
     * times its cache. Two are what its users are advised to have; who has set another number in the environment gets that.
     */
    static ProcessBuilder processOf(List<String> command) {
        ProcessBuilder process = new ProcessBuilder(command);
        process.environment().putIfAbsent("MALLOC_ARENA_MAX", MALLOC_ARENAS);
        return process;
    }

    /** The flags that the launcher gives to its own JVM too, for profilers and the like. */
    private static List<String> furtherJvmArguments() {
        String flags = System.getenv().getOrDefault("HEARTWOOD_JAVA_OPTS", "").strip();
        return flags.isEmpty() ? List.of() : List.of(flags.split("\\s+"));
    }

    /** Whether values that are read are compared with what was written. */
    public enum Verification {
        /** Every byte. */
        ON,
        /** The length only. */
        OFF
    }

    /** What the results call the engine at the other end. */
    public String name() {
        return name;
    }

    /** Has the JVM of the engine compile what these phases need, on a store of so many records that is deleted then. */
    public void warmUp(long records, int threads, List<Phase> phases) throws IOException, EngineFailure {
        String names = phases.stream().map(Phase::toString).collect(Collectors.joining(" "));
        commands.println("warmup " + records + " " + threads + " " + names);
        await("done", operations -> {}, line -> {});
    }

    /** Runs a phase; {@code progress} is told the operations completed so far. */
    public PhaseResult run(Step step, int threads, LongConsumer progress) throws IOException, EngineFailure {
        commands.println("run " + step.phase() + " " + threads + " " + step.operations() + " " + step.seconds());
        return PhaseResult.parse(await("result", progress, line -> {})).named(name);
    }

    /** Lets the engine finish the work that the last phase has caused. */
    public PhaseResult settle() throws IOException, EngineFailure {
        commands.println("settle");
        return PhaseResult.parse(await("result", operations -> {}, line -> {})).named(name);
    }

    /** Sets another checkpoint distance, in memtables, and waits until nothing of the one before is left. */
    public PhaseResult retune(int distance) throws IOException, EngineFailure {
        commands.println("retune " + distance);
        return PhaseResult.parse(await("result", operations -> {}, line -> {})).named(name);
    }

    /** What the engine tells about itself. */
    public List<String> describe() throws IOException, EngineFailure {
        commands.println("describe");
        List<String> lines = new ArrayList<>();
        await("done", operations -> {}, lines::add);
        return lines;
    }

    /** Reads answers until one of {@code kindOfAnswer} comes; its text. */
    private String await(String kindOfAnswer, LongConsumer progress, Consumer<String> text)
            throws IOException, EngineFailure {
        for (String line = answers.readLine(); line != null; line = answers.readLine()) {
            if (!line.startsWith(EngineProcess.MARK)) {
                relay(line); // what a library prints, or a JVM that crashes
                continue;
            }
            String answer = line.substring(EngineProcess.MARK.length());
            String word = answer.split(" ", 2)[0];
            String rest = answer.substring(Math.min(answer.length(), word.length() + 1));
            switch (word) {
                case "progress" -> progress.accept(Long.parseLong(rest));
                case "text" -> text.accept(rest);
                case "error" -> throw new EngineFailure(name + ": " + rest);
                default -> {
                    if (word.equals(kindOfAnswer)) {
                        return rest;
                    }
                    throw new EngineFailure(name + ": expected '" + kindOfAnswer + "' and got '" + answer + "'");
                }
            }
        }
        throw new EngineFailure(name + ": its process ended" + exitCode());
    }

    private String exitCode() {
        try {
            return process.waitFor(1, TimeUnit.SECONDS) ? " with exit code " + process.exitValue() : "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }

    /**
     * Ends the process in order, and waits until it has ended; it may have been closed before.
     *
     * @throws EngineFailure when it has died before, or could not close its store, or does not end, for which it is killed
     */
    public void quit() throws IOException, EngineFailure, InterruptedException {
        if (isClosed) {
            return;
        }
        commands.println("quit");
        await("done", operations -> {}, line -> {});
        if (!process.waitFor(quitMax.toNanos(), TimeUnit.NANOSECONDS)) {
            close();
            throw new EngineFailure(name + ": its process had closed its store and did not end");
        }
        errors.join(ERRORS_MAX);
        if (process.exitValue() != 0 && !ENDED_BY_USER.contains(process.exitValue()) && !isClosed) {
            throw new EngineFailure(name + ": its process had closed its store and ended" + exitCode());
        }
    }

    /** Kills the process if it still runs, and waits for its end. Idempotent; safe from any thread. */
    @Override
    public void close() {
        isClosed = true;
        process.destroyForcibly().onExit().join();
    }
}
