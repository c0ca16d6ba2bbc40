package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code bin/heartwood} says by itself, before it builds or starts anything. */
class LauncherTest {
    private record Ended(int code, String said) {}

    private static Ended run(String arguments) throws IOException, InterruptedException {
        return run(arguments, "");
    }

    private static Ended run(String arguments, String flags, String... variable) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(Path.of("..", "bin", "heartwood").toString()));
        command.addAll(List.of(arguments.split(" ")));
        ProcessBuilder launcher = new ProcessBuilder(command).redirectErrorStream(true);
        launcher.environment().put("HEARTWOOD_JAVA_OPTS", flags);
        if (variable.length > 0) {
            launcher.environment().put(variable[0], variable[1]);
        }
        Process process = launcher.start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(process.waitFor(), said);
    }

    /** The shell looked for its directory there, and found another. */
    @Test
    void aPathForDirectoriesDoesNotLeadAstray() throws IOException, InterruptedException {
        Path project = Path.of("..").toRealPath();
        ProcessBuilder launcher = new ProcessBuilder("bash", "-x", "bin/heartwood", "mend").redirectErrorStream(true).directory(project.toFile());
        launcher.environment().put("CDPATH", "/usr");
        Process process = launcher.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(2, process.waitFor(), said);
        assertTrue(said.contains("+ project=" + project + "\n"), said);
    }

    /** They took it for a directory. */
    @ParameterizedTest
    @ValueSource(strings = {"--help", "help", "verify --help", "inspect -h", "backup --help", "salvage --help", "ycsb --help", "ycsb load -h"})
    void whoAsksForHelpGetsIt(String arguments) throws IOException, InterruptedException {
        Ended ended = run(arguments);
        assertEquals(0, ended.code(), ended.said());
        assertTrue(ended.said().startsWith("Usage: heartwood COMMAND"), ended.said());
    }

    @ParameterizedTest
    @ValueSource(strings = {"mend", "verify", "verify a b", "backup a", "salvage", "verify no-such-directory", "backup no-such-directory b", "ycsb", "ycsb walk", "ycsb load -P no-such-file", "ycsb load -p nothing", "ycsb load -threads many"})
    void wrongArgumentsAreRefused(String arguments) throws IOException, InterruptedException {
        Ended ended = run(arguments);
        assertEquals(2, ended.code(), ended.said());
        assertTrue(ended.said().startsWith("heartwood: ") && ended.said().lines().count() == 1, ended.said());
    }

    /** The JVM's own exit code is that of damage. */
    @ParameterizedTest
    @ValueSource(strings = {"verify .", "inspect .", "backup . copy", "salvage . copy", "bench", "jmh", "kafka-demo"})
    void flagsThatNoJvmTakesAreRefused(String arguments) throws IOException, InterruptedException {
        assertRefused("-Xbogus", run(arguments, "-Xbogus"));
    }

    /** Of a heap that the command gives by itself. */
    @Test
    void flagsThatDoNotFitTheCommandsOwnAreRefused() throws IOException, InterruptedException {
        assertRefused("-Xms600m -Xshare:auto", run("verify .", "-Xms600m -Xshare:auto"));
    }

    /** The JVM says first that it has looked at a variable. */
    @Test
    void flagsAreRefusedByTheReason() throws IOException, InterruptedException {
        Ended ended = run("verify .", "-Xbogus", "JAVA_TOOL_OPTIONS", "-Dnothing=1");
        assertRefused("-Xbogus", ended);
        assertTrue(ended.said().contains("Unrecognized option"), ended.said());
    }

    private static void assertRefused(String flags, Ended ended) {
        assertEquals(3, ended.code(), ended.said());
        assertTrue(ended.said().startsWith("heartwood: no JVM starts with HEARTWOOD_JAVA_OPTS='" + flags + "': "), ended.said());
        assertTrue(ended.said().length() > 80 && ended.said().lines().count() == 1, ended.said());
    }

    /** The client did nothing, and all was well. */
    @Test
    void noThreadsAreRefused() throws IOException, InterruptedException {
        for (String number : new String[] {"0", "99999999999999999999"}) {
            Ended ended = run("ycsb load -threads " + number);
            assertEquals(2, ended.code(), ended.said());
            assertEquals("heartwood: ycsb: -threads takes a number from 1 on, not '" + number + "' (try 'heartwood help')", ended.said().strip());
        }
    }
}
