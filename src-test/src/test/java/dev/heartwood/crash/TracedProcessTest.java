package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.engine.inspect.Main;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.FileStoreHost;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.History.Moment;
import dev.heartwood.testkit.JavaProcess;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * System calls of a real process on real files fail, are interrupted, or kill it, by the tracer of the operating system. Whatever
 * the process had acknowledged is there afterwards.
 */
class TracedProcessTest {
    private static final String TRACER = "/usr/bin/strace";
    private static final int SIGKILL_EXIT = 137;
    /** They end before optimising would pay. */
    private static final String QUICK = "-XX:TieredStopAtLevel=1";

    /** What the process must end with. */
    enum End {
        DONE,
        REFUSED,
        KILLED
    }

    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @CsvSource({
        "pwrite64, error=EIO, REFUSED, 2",
        "pwrite64, error=EIO, REFUSED, 5",
        "pwritev, error=EIO, REFUSED, 1",
        "fdatasync, error=EIO, REFUSED, 4",
        "fallocate, error=ENOSPC, REFUSED, 1",
        "msync, error=EIO, REFUSED, 3",
        "pwrite64, error=EINTR, DONE, 1+2",
        "pwrite64, error=EAGAIN, DONE, 1+3",
        "fdatasync, signal=SIGWINCH, DONE, 1+1",
        "pwrite64, signal=SIGKILL, KILLED, 3",
        "pwrite64, signal=SIGKILL, KILLED, 9",
        "fdatasync, signal=SIGKILL, KILLED, 5",
        "msync, signal=SIGKILL, KILLED, 10"
    })
    void nothingAcknowledgedIsLost(String call, String injection, End end, String when) {
        assumeTrue(Files.isExecutable(Path.of(TRACER)), "not run: it needs " + TRACER + ", which is not installed here");
        Campaign.run(getClass(), 1, seed -> {
            try (TestDirectory parent = new TestDirectory("traced")) {
                Path directory = parent.path().resolve("store");
                JavaProcess.Ended ended = load(parent, seed, tracer(parent, directory.resolve("data.hw"), call, injection, when));
                int exit = end == End.DONE ? 0 : end == End.REFUSED ? TracedLoad.REFUSED_EXIT : SIGKILL_EXIT;
                assertEquals(exit, ended.exit(), ended::output);
                requireInjected(parent, call, injection);
                judge(directory, seed);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    /** Calls on names, which the device of a test cannot refuse; on the store's directory, or what is opened through it. */
    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @CsvSource({
        "mkdirat, EROFS, 1",
        "openat, EMFILE, 1",
        "openat, EACCES, 2",
        "openat, EOVERFLOW, 4",
        "openat, ENFILE, 7",
        "openat, EDQUOT, 10",
        "renameat, EXDEV, 1",
        "renameat, EDQUOT, 1",
        "unlinkat, EPERM, 1",
        "getdents64, ENOENT, 1",
        "fsync, EROFS, 2",
        "fsync, ENOSPC, 4",
        "statx, ELOOP, 4"
    })
    void aRefusedCallOnANameIsTyped(String call, String errno, String when) {
        assumeTrue(Files.isExecutable(Path.of(TRACER)), "not run: it needs " + TRACER + ", which is not installed here");
        Campaign.run(getClass(), 1, seed -> {
            try (TestDirectory parent = new TestDirectory("refused")) {
                Path directory = parent.path().resolve("store");
                JavaProcess.Ended ended =
                        load(parent, seed, tracer(parent, directory, call, "error=" + errno, when + "+"));
                assertEquals(TracedLoad.REFUSED_EXIT, ended.exit(), ended::output);
                boolean isFull = errno.equals("ENOSPC") || errno.equals("EDQUOT");
                assertTrue(ended.output().contains(isFull ? "NoSpaceException" : errno), ended::output);
                requireInjected(parent, call, "error=" + errno);
                judge(directory, seed);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    /** A signal ends no call on a name, nor the cutting of a file, as that of the lock. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void anInterruptedCallOnANameIsMadeAgain() {
        String calls = "mkdirat,renameat,unlinkat,getdents64,ftruncate";
        assumeTrue(Files.isExecutable(Path.of(TRACER)), "not run: it needs " + TRACER + ", which is not installed here");
        Campaign.run(getClass(), 1, seed -> {
            try (TestDirectory parent = new TestDirectory("interrupted")) {
                Path directory = parent.path().resolve("store");
                List<String> tracer = new ArrayList<>(List.of(tracer(parent, directory, calls, "error=EINTR", "1+2")));
                tracer.addAll(List.of("-P", directory.resolve("LOCK").toString()));
                JavaProcess.Ended ended = load(parent, seed, tracer.toArray(String[]::new));
                assertEquals(0, ended.exit(), ended::output);
                for (String call : calls.split(",")) {
                    requireInjected(parent, call, "error=EINTR");
                }
                judge(directory, seed);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    /** Of a store that is there already: one that was just made has all its pages in memory. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void anInterruptedReadIsMadeAgain() throws IOException {
        assumeTrue(Files.isExecutable(Path.of(TRACER)), "not run: it needs " + TRACER + ", which is not installed here");
        try (TestDirectory parent = new TestDirectory("read")) {
            Path directory = parent.path().resolve("store");
            try (KeyValueStore store = Heartwood.open(directory, TracedLoad.options())) {
                store.put(new byte[] {1}, new byte[100_000]);
            }
            String[] tracer = tracer(parent, directory.resolve("data.hw"), "pread64", "error=EINTR", "1+2");
            requireDone(run(parent, tracer, Main.class, "verify", directory.toString()));
            requireInjected(parent, "pread64", "error=EINTR");
        }
    }

    /** The data file cannot be opened with O_DIRECT, neither to read the store's options nor as they say. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void aBackupIsMadeWithoutDirectIoToo() throws IOException {
        assumeTrue(Files.isExecutable(Path.of(TRACER)), "not run: it needs " + TRACER + ", which is not installed here");
        try (TestDirectory parent = new TestDirectory("indirect")) {
            Path directory = parent.path().resolve("store");
            Path backup = parent.path().resolve("backup");
            byte[] key = {1};
            try (KeyValueStore store = Heartwood.open(directory, TracedLoad.options())) {
                store.put(key, key);
            }
            // Three openings each, of the directory, the lock and the file: what reads the options does so twice, then comes the store.
            String[] tracer = tracer(parent, directory, "openat", "error=EINVAL", "3..9+6");
            requireDone(run(parent, tracer, Main.class, "backup", directory.toString(), backup.toString()));
            requireInjected(parent, "openat", "error=EINVAL");
            try (KeyValueStore store = Heartwood.open(backup, TracedLoad.options())) {
                assertArrayEquals(key, store.get(key));
            }
        }
    }

    private static JavaProcess.Ended load(TestDirectory parent, long seed, String... tracer) throws IOException {
        return run(parent, tracer, TracedLoad.class, parent.path().resolve("store").toString(), Long.toString(seed));
    }

    private static JavaProcess.Ended run(TestDirectory parent, String[] tracer, Class<?> main, String... arguments) throws IOException {
        return JavaProcess.of(main, arguments).flags("-Xmx200m", QUICK).under(tracer).run(parent.path().resolve("output"));
    }

    private static void requireDone(JavaProcess.Ended ended) {
        assertEquals(0, ended.exit(), ended::output);
    }

    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @CsvSource({
        "io_uring_setup, io_uring is not available here (io_uring_setup: EPERM); threads that wait for a page sleep",
        "io_setup, Linux AIO is not available here (io_setup: EPERM); io_uring begins reads",
        "'io_uring_setup,io_setup', Linux AIO is not available here (io_setup: EPERM); no read is begun before it is waited for"
    })
    void whatTheKernelDeniesIsSaidOnceAndDoneWithout(String calls, String said) throws IOException {
        assumeTrue(Files.isExecutable(Path.of(TRACER)), "not run: it needs " + TRACER + ", which is not installed here");
        try (TestDirectory parent = new TestDirectory("denied")) {
            JavaProcess.Ended ended = JavaProcess.of(AutomaticDevice.class, parent.path().toString())
                    .flags("-Xmx200m", QUICK)
                    .under(TRACER, "-f", "-qqq", "-o", trace(parent).toString(), "-e", "trace=" + calls, "-e",
                            "inject=" + calls + ":error=EPERM")
                    .run(parent.path().resolve("output"));
            assertEquals(0, ended.exit(), ended::output);
            assertTrue(ended.output().contains(AutomaticDevice.DONE), ended::output);
            for (String call : calls.split(",")) {
                requireInjected(parent, call, "error=EPERM");
            }
            long lines = ended.output().lines().filter(line -> line.contains(said)).count();
            assertEquals(1, lines, ended::output);
        }
    }

    /** Only calls on the path, and on what is named within it, are touched, as the JVM makes the same ones; msync names no file. */
    private static String[] tracer(TestDirectory parent, Path path, String call, String injection, String when) {
        List<String> command = new ArrayList<>(List.of(TRACER, "-f", "-qqq", "-o", trace(parent).toString()));
        if (!call.equals("msync")) {
            command.addAll(List.of("-P", path.toString()));
        }
        command.addAll(List.of("-e", "trace=" + call, "-e", "inject=" + call + ":" + injection + ":when=" + when));
        return command.toArray(String[]::new);
    }

    private static Path trace(TestDirectory parent) {
        return parent.path().resolve("trace");
    }

    /** A call that was never made, or under another name, meets nothing, and a test of it would pass. */
    private static void requireInjected(TestDirectory parent, String call, String injection) throws IOException {
        String name = injection.substring(injection.indexOf('=') + 1);
        boolean isSignal = injection.startsWith("signal=");
        try (Stream<String> lines = Files.lines(trace(parent))) {
            assertTrue(
                    lines.anyMatch(line -> isSignal
                            ? line.contains(name)
                            : line.contains(call) && line.contains(name) && line.contains("(INJECTED)")),
                    () -> "no " + call + " was given " + injection);
        }
    }

    private static void judge(Path directory, long seed) throws IOException {
        byte[] bytes = Files.readAllBytes(TracedLoad.acknowledgements(directory));
        int whole = bytes.length / 4;
        int acknowledged = whole == 0 ? 0 : ByteBuffer.wrap(bytes).getInt((whole - 1) * 4);
        History history = TracedLoad.history(seed);
        int begun = Math.min(history.size(), acknowledged + 1);
        try (KeyValueStore store = Heartwood.open(directory, TracedLoad.options())) {
            assertNull(history.explain(CrashKind.KILL, new Moment(acknowledged, begun), store));
        }
        FileStoreHost.verify(directory);
        assertTrue(Files.exists(directory.resolve("data.hw")));
    }
}
