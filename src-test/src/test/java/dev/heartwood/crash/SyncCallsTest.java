package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.heartwood.testkit.JavaProcess;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * What reaches a device is said by the system calls alone: simulated storage takes a sync for one, and a process that is killed loses
 * nothing that the system has. So they are read from the trace of a process: which files and directories it syncs, when, and how.
 */
class SyncCallsTest {
    private static final String TRACER = "/usr/bin/strace";
    private static final Pattern MSYNC = Pattern.compile("msync\\(0x[0-9a-f]+, (\\d+), (\\w+)");
    private static final Pattern RENAME = Pattern.compile("renameat\\(\\d+<([^>]+)>, \"([^\"]+)\", \\d+<[^>]+>, \"([^\"]+)\"");

    private final TestDirectory parent = new TestDirectory("synced");

    /** The calls of a process that makes a store two directories down, as they began. */
    private List<String> trace(Path directory) throws IOException {
        Path calls = parent.path().resolve("calls");
        JavaProcess.Ended ended = JavaProcess.of(SyncedLoad.class, directory.toString())
                .flags("-Xmx200m")
                .under(TRACER, "-f", "-y", "-s", "4096", "-qqq", "-o", calls.toString(), "-e",
                        "trace=msync,fsync,mkdirat,renameat")
                .run(parent.path().resolve("output"));
        assertEquals(0, ended.exit(), ended::output);
        return Files.readAllLines(calls);
    }

    private static boolean isSync(String call, Path path) {
        return Pattern.compile("fsync\\(\\d+<" + Pattern.quote(path.toString()) + ">").matcher(call).find();
    }

    private static void assertSynced(List<String> calls, Path path, String when) {
        assertTrue(calls.stream().anyMatch(call -> isSync(call, path)), () -> path + " was not synced " + when + ": " + calls);
    }

    @Test
    void whatIsToSurviveTheLossOfPowerIsSynced() throws IOException {
        assumeTrue(Files.isExecutable(Path.of(TRACER)), "not run: it needs " + TRACER + ", which is not installed here");
        try (parent) {
            Path above = parent.path().toRealPath().resolve("above");
            Path directory = above.resolve("store");
            List<String> calls = trace(directory);
            syncsWholeRecords(calls);
            syncsParentsOfNewDirectories(calls, above, directory);
            syncsSmallFilesAroundRenames(calls);
        }
    }

    /** Who made them may have died before their names were durable, and nobody makes them again. */
    @Test
    void directoriesThatAreThereAlreadyAreSyncedWhereAStoreIsMade() throws IOException {
        assumeTrue(Files.isExecutable(Path.of(TRACER)), "not run: it needs " + TRACER + ", which is not installed here");
        try (parent) {
            Path above = parent.path().toRealPath().resolve("above");
            Path directory = Files.createDirectories(above.resolve("store"));
            Path link = Files.createSymbolicLink(above.resolveSibling("link"), above);
            List<String> calls = trace(link.resolve(directory.getFileName()));
            for (Path made : List.of(above, directory)) {
                assertSynced(calls, made.getParent(), "though " + made + " may not be durable");
            }
        }
    }

    private static void syncsWholeRecords(List<String> calls) {
        int whole = 0;
        for (String call : calls) {
            Matcher msync = MSYNC.matcher(call);
            if (msync.find()) {
                assertEquals("MS_SYNC", msync.group(2), call);
                whole += Long.parseLong(msync.group(1)) >= SyncedLoad.VALUE_BYTES ? 1 : 0;
            }
        }
        assertTrue(whole >= SyncedLoad.RECORDS, "no record but " + whole + " was synced as a whole: " + calls);
    }

    private static boolean isMaking(String call, Path made) {
        return call.contains("mkdirat(") && call.contains("\"" + made + "\"");
    }

    private static void syncsParentsOfNewDirectories(List<String> calls, Path above, Path directory) {
        for (Path made : List.of(above, directory)) {
            int at = 0;
            while (at < calls.size() && !isMaking(calls.get(at), made)) {
                at++;
            }
            assertSynced(calls.subList(at, calls.size()), made.getParent(), "after " + made + " was made");
        }
    }

    /** The contents before a file gets its name, and the name after. */
    private static void syncsSmallFilesAroundRenames(List<String> calls) {
        int renames = 0;
        int before = 0;
        for (int i = 0; i < calls.size(); i++) {
            Matcher rename = RENAME.matcher(calls.get(i));
            if (rename.find()) {
                renames++;
                Path in = Path.of(rename.group(1));
                assertSynced(calls.subList(before, i), in.resolve(rename.group(2)), "before " + calls.get(i));
                int next = i + 1;
                while (next < calls.size() && !RENAME.matcher(calls.get(next)).find()) {
                    next++;
                }
                assertSynced(calls.subList(i + 1, next), in, "after " + calls.get(i));
                before = i;
            }
        }
        assertTrue(renames > 0, "nothing was renamed: " + calls);
    }
}
