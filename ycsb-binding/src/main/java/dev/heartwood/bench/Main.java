package dev.heartwood.bench;

import dev.heartwood.ByteSize;
import dev.heartwood.bench.engine.EngineKind;
import dev.heartwood.bench.process.EngineClient.EngineFailure;
import dev.heartwood.bench.report.HtmlReport;
import dev.heartwood.bench.report.JsonReport;
import dev.heartwood.bench.report.Rounds;
import dev.heartwood.bench.report.RunFacts;
import dev.heartwood.bench.report.TextReport;
import dev.heartwood.bench.workload.Phase;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** The benchmark's main program. */
public final class Main {
    private static final int DONE = 0;
    private static final int FAILED = 1;
    private static final int BAD_OPTION = 2;

    private Main() {}

    /** Runs the benchmark and exits with its code. */
    public static void main(String[] arguments) {
        System.exit(run(arguments, System.out, System.err));
    }

    static int run(String[] arguments, PrintStream out, PrintStream err) {
        BenchOptions options = new BenchOptions();
        CommandLine commandLine = commandLine(options);
        try {
            commandLine.parseArgs(arguments);
            if (options.help) {
                commandLine.usage(out);
                return DONE;
            }
            options.check();
        } catch (ParameterException | IllegalArgumentException e) {
            // Of a map the parser says "option" twice.
            err.println("heartwood bench: " + e.getMessage().replace("option option ", "option "));
            err.println("Try 'heartwood bench --help'.");
            return BAD_OPTION;
        }
        try {
            return measure(options, out, err);
        } catch (IOException | EngineFailure | IllegalStateException e) {
            err.println("heartwood bench: " + e.getMessage());
            return FAILED;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return FAILED;
        }
    }

    /** The parser; every kind of value prints its own message when it is wrong. */
    static CommandLine commandLine(BenchOptions options) {
        return new CommandLine(options)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .registerConverter(EngineKind.class, text -> converted(() -> EngineKind.parse(text)))
                .registerConverter(Phase.class, text -> converted(() -> Phase.parse(text)))
                .registerConverter(ByteSize.class, text -> converted(() -> ByteSize.parse(text)))
                .registerConverter(
                        BenchOptions.CycleStep.class, text -> converted(() -> BenchOptions.CycleStep.parse(text)))
                .registerConverter(BenchOptions.Count.class, text -> converted(() -> BenchOptions.Count.parse(text)));
    }

    private static <T> T converted(Supplier<T> parse) {
        try {
            return parse.get();
        } catch (IllegalArgumentException e) {
            throw new CommandLine.TypeConversionException(e.getMessage());
        }
    }

    /** Refuses a file that the report could not be written to, before anything is measured. */
    private static void requireWritable(Path file) throws IOException {
        if (file == null) {
            return;
        }
        Path parent = file.toAbsolutePath().getParent();
        if (parent != null && !Files.isDirectory(parent)) {
            throw new IOException("cannot write " + file + ": there is no such directory");
        }
        boolean isNew = Files.notExists(file, LinkOption.NOFOLLOW_LINKS);
        try {
            Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND).close();
            if (isNew) {
                Files.delete(file); // a run that ends early leaves no empty report
            }
        } catch (FileSystemException e) {
            String reason = e.getReason() != null ? e.getReason() : "a file cannot be made or opened there";
            throw new IOException("cannot write " + file + ": " + reason, e);
        }
    }

    static RunFacts facts(BenchOptions options) {
        List<RunFacts.Part> parts = options.contestants().stream()
                .map(c -> new RunFacts.Part(c.name(), c.kind(), c.settings().records(), c.settings().memoryBytes()))
                .toList();
        return RunFacts.of(
                parts, options.settings(options.engines.getFirst()), options.verification(), options.warmup.value());
    }

    private static int measure(BenchOptions options, PrintStream out, PrintStream err)
            throws IOException, EngineFailure, InterruptedException {
        for (Path file : new Path[] {options.json, options.html}) {
            requireWritable(file);
        }
        RunFacts facts = facts(options);
        facts.lines().forEach(out::println);
        boolean isTerminal = System.console() != null && System.console().isTerminal();
        Bench bench = bench(options, facts, new Progress(err, isTerminal), out);
        boolean clean = bench.run();
        Rounds rounds = bench.rounds();
        report(options, facts, rounds, out);
        boolean right = rounds.all().stream().noneMatch(r -> r.faults().any());
        if (!right) {
            err.println("heartwood bench: there were missing or wrong values");
        }
        return clean && right ? DONE : FAILED;
    }

    /** A benchmark that tells what was finished when it is ended before all is. */
    static Bench bench(BenchOptions options, RunFacts facts, Progress progress, PrintStream out) {
        return new Bench(options, progress, finished -> {
            if (finished.all().isEmpty()) {
                progress.end("heartwood bench: interrupted before anything was finished");
                return;
            }
            progress.end("heartwood bench: interrupted; this was finished:");
            try {
                report(options, facts.ofInterrupted(), finished, out);
            } catch (IOException e) {
                progress.print("heartwood bench: " + e.getMessage());
            }
        });
    }

    private static void report(BenchOptions options, RunFacts facts, Rounds rounds, PrintStream out) throws IOException {
        out.print(new TextReport(rounds).text());
        if (options.json != null) {
            Files.writeString(options.json, JsonReport.of(rounds));
        }
        if (options.html != null) {
            Files.writeString(options.html, new HtmlReport(facts, rounds).page());
        }
    }
}
