package dev.heartwood.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Another JVM with the class path of this one, for what must not happen in this one. Built, then run or started once. */
public final class JavaProcess {
    /**
     * A process that has ended.
     *
     * @param exit its exit status; 128 and the signal's number when a signal ended it
     * @param output all that it printed
     */
    public record Ended(int exit, String output) {}

    private static final String NATIVE_ACCESS = "--enable-native-access=ALL-UNNAMED";

    private final String main;
    private final List<String> arguments;
    private final List<String> prefix = new ArrayList<>();
    private final List<String> flags = new ArrayList<>(List.of("-ea", NATIVE_ACCESS));

    private JavaProcess(String main, List<String> arguments) {
        this.main = main;
        this.arguments = arguments;
    }

    /** A process that runs the main method of a class. */
    public static JavaProcess of(Class<?> main, String... arguments) {
        return new JavaProcess(main.getName(), List.of(arguments));
    }

    /** Adds flags of the JVM. */
    public JavaProcess flags(String... more) {
        flags.addAll(List.of(more));
        return this;
    }

    /** Gives no native access by a flag, so that the JVM does what a word of its own says about it: {@code deny} or {@code warn}. */
    public JavaProcess illegalNativeAccess(String word) {
        flags.remove(NATIVE_ACCESS);
        return flags("--illegal-native-access=" + word);
    }

    /** Has another program run the JVM: its command comes first. */
    public JavaProcess under(String... command) {
        prefix.addAll(List.of(command));
        return this;
    }

    /** Starts the process, which prints to a file, so that nothing is lost when it is killed. */
    public Process start(Path output) {
        List<String> command = new ArrayList<>(prefix);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags);
        command.add("-cp");
        command.add(System.getProperty("java.class.path"));
        command.add(main);
        command.addAll(arguments);
        try {
            return new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs the process to its end. */
    public Ended run(Path output) {
        try {
            int exit = start(output).waitFor();
            return new Ended(exit, Files.readString(output));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
