package dev.heartwood.kafka.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A JVM with the class path of this one, whose output goes to a file. Ends with this object, by a kill. */
final class ChildProcess implements AutoCloseable {
    private final Process process;
    private final Path output;

    private ChildProcess(Process process, Path output) {
        this.process = process;
        this.output = output;
    }

    /** Starts the main class; {@code heap} is the value of -Xmx. */
    static ChildProcess start(Path output, String heap, String mainClass, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + heap,
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=" + System.getProperty("heartwood.child.tiers", "4"),
                "--enable-native-access=ALL-UNNAMED"));
        String flags = System.getenv().getOrDefault("HEARTWOOD_JAVA_OPTS", "").strip();
        command.addAll(flags.isEmpty() ? List.of() : List.of(flags.split("\\s+")));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), mainClass));
        command.addAll(arguments);
        try {
            Files.createDirectories(output.getParent());
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()))
                    .start();
            return new ChildProcess(process, output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Everything it has said. */
    String said() {
        try {
            return Files.readString(output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean isAlive() {
        return process.isAlive();
    }

    long id() {
        return process.pid();
    }

    int join() {
        try {
            return process.waitFor();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** Waits for its end, but not for longer than so many milliseconds; returns whether it has ended. */
    boolean endsWithin(long millis) {
        try {
            return process.waitFor(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            process.destroyForcibly();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** Ends it as kill -9 does. */
    void kill() {
        process.destroyForcibly();
        join();
    }

    /** Asks it to end, and waits. */
    void terminate() {
        process.destroy();
        join();
    }

    @Override
    public void close() {
        kill();
    }
}
