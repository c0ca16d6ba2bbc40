package dev.heartwood.bench.process;

import dev.heartwood.bench.engine.EngineKind;
import dev.heartwood.bench.engine.EngineSettings;
import dev.heartwood.bench.workload.Phase;
import dev.heartwood.bench.workload.Step;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;

/** The main program of a process that runs one engine; see the package note for its commands. */
public final class EngineProcess {
    /** Begins every line meant for the driver. */
    static final String MARK = "@heartwood ";

    private final PrintStream driver;
    private final EngineHost host;

    private EngineProcess(PrintStream driver, EngineHost host) {
        this.driver = driver;
        this.host = host;
    }

    /** Takes the engine's name, what to check, a seed, and the words of {@link EngineSettings#toArguments}. */
    public static void main(String[] arguments) throws Exception {
        PrintStream driver = System.out;
        System.setOut(System.err);
        List<String> words = Arrays.asList(arguments);
        EngineHost host = new EngineHost(
                EngineKind.parse(words.get(0)),
                EngineSettings.parse(words.subList(3, words.size())),
                PhaseTask.Checking.valueOf(words.get(1)),
                Long.parseLong(words.get(2)));
        CountDownLatch served = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(() -> awaitQuietly(served)));
        try {
            new EngineProcess(driver, host).serve();
        } finally {
            served.countDown();
        }
        System.exit(0);
    }

    /** Ctrl-C reaches this process too; when it ends is for the driver to say, who would take it for a failure. */
    private static void awaitQuietly(CountDownLatch served) {
        try {
            served.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void serve() throws IOException, InterruptedException {
        say("ready");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("quit")) {
                break;
            }
            try {
                obey(words);
            } catch (ExecutionException e) {
                report(e.getCause());
            } catch (RuntimeException | IOException | LinkageError | OutOfMemoryError e) {
                report(e);
            }
        }
        try {
            host.close();
            say("done");
        } catch (RuntimeException | IOException e) {
            report(e);
        }
    }

    private void obey(String[] words) throws InterruptedException, ExecutionException, IOException {
        switch (words[0]) {
            case "warmup" -> {
                List<Phase> phases = Arrays.stream(words).skip(3).map(Phase::parse).toList();
                host.warmUp(Long.parseLong(words[1]), Integer.parseInt(words[2]), phases);
                say("done");
            }
            case "run" -> {
                Step step = new Step(Phase.parse(words[1]), Long.parseLong(words[3]), Double.parseDouble(words[4]));
                PhaseResult result = host.run(step, Integer.parseInt(words[2]), this::progress);
                say("result " + result.toLine());
            }
            case "settle" -> say("result " + host.settle().toLine());
            case "retune" -> say("result " + host.retune(Integer.parseInt(words[1])).toLine());
            case "describe" -> {
                host.describe().lines().forEach(line -> say("text " + line));
                say("done");
            }
            default -> throw new IllegalArgumentException("no such command: " + words[0]);
        }
    }

    private void progress(long operations) {
        say("progress " + operations);
    }

    /** Tells the driver; what is not a plain refusal leaves its stack for people to read. */
    private void report(Throwable failure) {
        FailureAnswer answer = FailureAnswer.of(failure);
        if (answer.leavesStack()) {
            failure.printStackTrace();
        }
        say("error " + answer.text());
    }

    private void say(String line) {
        driver.println(MARK + line);
        if (driver.checkError()) {
            Runtime.getRuntime().halt(1);
        }
    }
}
