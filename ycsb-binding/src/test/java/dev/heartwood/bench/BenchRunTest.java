package dev.heartwood.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.codehaus.jackson.map.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole benchmark on a small scale: driver, processes, reports. */
class BenchRunTest {
    private static final Set<String> FIELDS = Set.of(
            "round",
            "engine",
            "phase",
            "threads",
            "records",
            "ops",
            "seconds",
            "cpuSeconds",
            "betweenBytesRead",
            "betweenBytesWritten",
            "betweenCpuSeconds",
            "opsPerSecond",
            "p50Micros",
            "p99Micros",
            "p999Micros",
            "maxMicros",
            "bytesRead",
            "bytesWritten",
            "writeAmplification",
            "diskBytes",
            "rssBytes",
            "anonymousBytes",
            "scannedRecords",
            "missing",
            "wrong",
            "changes");

    @TempDir
    Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream errors = new ByteArrayOutputStream();

    @Test
    void anotherOneInTheSameDirectoryIsRefused() throws IOException {
        Path stores = directory.resolve("stores");
        Path html = directory.resolve("result.html");
        String[] arguments = {
            "--engines", "mvstore", "--records", "1k", "--phases", "load", "--dir", stores.toString(), "--html", html.toString()
        };
        try (ClaimedDirectory other = ClaimedDirectory.of(stores)) {
            assertEquals(1, bench(arguments));
            assertTrue(errors.toString().contains("another heartwood bench uses " + stores), errors.toString());
            assertEquals(List.of(ClaimedDirectory.LOCK), List.of(stores.toFile().list()), "nothing was touched");
            assertFalse(Files.exists(html));
        }
        assertEquals(0, bench(arguments), errors.toString());
        assertFalse(Files.exists(stores.resolve(ClaimedDirectory.LOCK)));
        assertTrue(Files.exists(html));
    }

    @Test
    @SuppressWarnings("unchecked")
    void measuresPhasesAndReportsThem() throws IOException {
        Path json = directory.resolve("result.json");
        Path html = directory.resolve("result.html");
        int code = bench(
                "--engines",
                "lmdb,mvstore",
                "--records",
                "5k",
                "--threads",
                "2",
                "--seconds",
                "1",
                "--phases",
                "load,E,E,many,sequential,sequential50,queue,overwrite",
                "--verify",
                "--dir",
                directory.resolve("stores").toString(),
                "--json",
                json.toString(),
                "--html",
                html.toString());
        assertEquals(0, code, errors.toString());

        Map<String, Object>[] results = new ObjectMapper().readValue(json.toFile(), Map[].class);
        assertEquals(2 * 15, results.length, "two engines, eight phases, each that writes with its settling");
        List<Object> phases = Stream.of(results).map(result -> result.get("phase")).distinct().toList();
        assertEquals(List.of("load", "load-settle", "E", "E-settle", "E#2", "E#2-settle"), phases.subList(0, 6));
        for (Map<String, Object> result : results) {
            assertEquals(FIELDS, result.keySet());
            boolean settling = result.get("phase").toString().endsWith("-settle");
            assertEquals(settling, (int) result.get("ops") == 0, result.toString());
            assertTrue(((Number) result.get("rssBytes")).longValue() > 0 || settling, result.toString());
            assertTrue(((Number) result.get("diskBytes")).longValue() > 0, result.toString());
            assertEquals(Set.of("E", "E#2").contains(result.get("phase")), ((Number) result.get("scannedRecords")).longValue() > 0, result.toString());
        }
        assertEquals(5_000, results[0].get("ops"));
        String page = Files.readString(html);
        assertTrue(page.contains("<svg") && page.contains("overwrite") && page.contains("<h2>E#2</h2>"));
        assertFalse(page.contains("http"), "the page loads nothing");
        assertTrue(out.toString().contains("latencies are service times"), out.toString());
        assertTrue(out.toString().contains("× mvstore"), out.toString());
        List<String> again = out.toString().lines().dropWhile(line -> !line.equals("E#2")).filter(line -> !line.startsWith("  idle")).limit(7).toList();
        assertTrue(again.get(2).matches("lmdb .* [0-9]+\\.[0-9]+ +\\S+") && again.get(3).startsWith("  settled"), again.toString());
        assertTrue(again.get(5).startsWith("mvstore") && again.get(6).startsWith("  settled"), again.toString());
        assertTrue(Files.exists(directory.resolve("stores/lmdb.properties")), "a named directory keeps its stores");
        assertFalse(Files.exists(directory.resolve("stores/lmdb-sequential")));

        assertEquals(
                0,
                bench(
                        "--engines",
                        "lmdb",
                        "--records",
                        "5k",
                        "--warmup",
                        "1k",
                        "--seconds",
                        "1",
                        "--phases",
                        "read",
                        "--verify",
                        "--dir",
                        directory.resolve("stores").toString()),
                "a later run reads what the first has loaded");
        assertTrue(out.toString().contains("after a warm-up with 1,000 records"), out.toString());
        try (Stream<Path> left = Files.list(directory.resolve("stores"))) {
            assertTrue(left.noneMatch(file -> file.toString().contains("warmup")), "what a warm-up made is deleted");
        }
        String stores = directory.resolve("stores").toString();
        assertEquals(1, bench("--engines", "lmdb", "--phases", "read", "--dir", stores), "facts and memory of 2,000,000 records");
        assertTrue(errors.toString().contains("was loaded with 5000 records and not with 2000000"), errors.toString());
    }

    @Test
    @SuppressWarnings("unchecked")
    void comparesPoliciesAndDistances() throws IOException {
        Path json = directory.resolve("result.json");
        Path html = directory.resolve("result.html");
        int code = bench(
                "--policies",
                "size_tiered,lazy_leveling",
                "--distances",
                "1,8",
                "--records",
                "5k",
                "--seconds",
                "1",
                "--phases",
                "load,read",
                "--verify",
                "--dir",
                directory.resolve("stores").toString(),
                "--json",
                json.toString(),
                "--html",
                html.toString());
        assertEquals(0, code, errors.toString());
        Map<String, Object>[] results = new ObjectMapper().readValue(json.toFile(), Map[].class);
        assertEquals(4 * 4, results.length, "load, tuned back, settled, read; under two policies and two distances");
        assertEquals("lazy_leveling-8", results[12].get("engine"));
        assertEquals("load-retune", results[13].get("phase"));
        String page = Files.readString(html);
        assertTrue(page.contains("Reads, writes, memory and space") && page.contains("write cost"), page);
        assertTrue(page.contains("tuning back") && page.contains(".engine-size_tiered-8 {"), page);
        assertTrue(out.toString().contains("tuned back"), out.toString());
        assertTrue(out.toString().startsWith("size_tiered-1, size_tiered-8, lazy_leveling-1, lazy_leveling-8: 5,000 records"), out.toString());
    }

    /** The store of the load is closed meanwhile, and had the distance that it was loaded with when it was opened again. */
    @Test
    void whatWasTunedBackStaysSo() {
        String[] arguments = {
            "--distances", "8", "--records", "5k", "--seconds", "1", "--phases", "load,sequential,read", "--stats", "--dir",
            directory.resolve("stores").toString()
        };
        assertEquals(0, bench(arguments), errors.toString());
        String said = out.toString() + errors;
        List<String> distances = Pattern.compile("checkpointDistance=\\d+")
                .matcher(said)
                .results()
                .map(MatchResult::group)
                .toList();
        assertEquals(3, distances.size(), said);
        assertEquals("checkpointDistance=1", distances.getLast(), said);
    }

    @Test
    void spreadsRecordsOverStores() {
        String stores = directory.resolve("stores").toString();
        assertEquals(0, spread(stores, "3", "load,A"), errors.toString());
        assertEquals(0, spread(stores, "3", "read"), errors.toString());
        assertEquals(1, spread(stores, "4", "read"), "records of three stores are not those of four");
        assertTrue(errors.toString().contains("in 4 stores and there are none in"), errors.toString());
        assertEquals(0, spread(stores, "1,2", "load,read"), errors.toString());
        assertTrue(out.toString().contains("1-store, 2-stores: 5,000 records"), out.toString());
    }

    private int spread(String directory, String stores, String phases) {
        return bench("--stores", stores, "--records", "5k", "--seconds", "1", "--phases", phases, "--verify", "--dir", directory);
    }

    @Test
    @SuppressWarnings("unchecked")
    void aCycleIsOneLoadOfManySteps() throws IOException {
        Path json = directory.resolve("result.json");
        Path html = directory.resolve("result.html");
        int code = bench(
                "--policies",
                "size_tiered,auto",
                "--records",
                "5k",
                "--cycle",
                "load,read:3k,idle:1,overwrite,read:2k",
                "--rounds",
                "2",
                "--verify",
                "--dir",
                directory.resolve("stores").toString(),
                "--json",
                json.toString(),
                "--html",
                html.toString());
        assertEquals(0, code, errors.toString());
        Map<String, Object>[] results = new ObjectMapper().readValue(json.toFile(), Map[].class);
        assertEquals(2 * 2 * 5, results.length, "the steps under each policy in each round, and nothing else");
        assertEquals("auto-4", results[10].get("engine"), "the other one begins");
        assertEquals(2, results[10].get("round"));
        assertEquals("2-read", results[1].get("phase"));
        assertEquals(3_000, results[1].get("ops"));
        assertEquals(0, results[2].get("ops"));
        assertEquals("5-read", results[9].get("phase"));
        assertTrue(Files.readString(html).contains("seconds for all steps"));
        assertTrue(out.toString().contains("seconds of rounds"), out.toString());
    }

    @Test
    void phasesWithoutRecordsSaySo() {
        int code = bench(
                "--engines",
                "lmdb",
                "--phases",
                "read",
                "--dir",
                directory.resolve("none").toString());
        assertEquals(1, code);
        assertTrue(errors.toString().contains("run phase load first"), errors.toString());
        assertFalse(errors.toString().contains("Exception"), errors.toString());
    }

    @Test
    void aReportThatCannotBeWrittenIsRefusedBeforeAnythingIsMeasured() {
        for (Path file : new Path[] {directory, Path.of("/proc/report"), directory.resolve("none/report"), Path.of("/")}) {
            errors.reset();
            String stores = directory.resolve("stores").toString();
            assertEquals(1, bench("--records", "1k", "--phases", "load", "--dir", stores, "--html", file.toString()));
            assertTrue(errors.toString().contains("cannot write " + file + ": "), errors.toString());
        }
        assertEquals("", out.toString());
        assertFalse(Files.exists(directory.resolve("stores")));
    }

    @Test
    void aDirectoryOfSomebodyElseIsLeftAlone() throws IOException {
        Path precious = Files.createDirectories(directory.resolve("lmdb")).resolve("precious.txt");
        Files.writeString(precious, "mine");
        int code = bench("--engines", "lmdb", "--records", "1k", "--phases", "load", "--dir", directory.toString());
        assertEquals(1, code);
        assertTrue(errors.toString().contains("was not made by this benchmark"), errors.toString());
        assertEquals("mine", Files.readString(precious));
    }

    /** It came with the stack of the engine's process. */
    @Test
    void memoryThatNobodyHasIsRefusedInOneLine() {
        String stores = directory.resolve("stores").toString();
        assertEquals(1, bench("--records", "1k", "--phases", "load", "--dir", stores, "--memory", "9000g"));
        assertTrue(errors.toString().contains("a pool of "), errors.toString());
        assertFalse(errors.toString().contains("\tat "), errors.toString());
    }

    /** The engine's process ended with the stack of its main thread. */
    @Test
    void threadsThatAJvmHasNoMemoryForAreRefusedInOneLine() throws IOException, InterruptedException {
        ProcessBuilder bench = process("--records", "1k", "--phases", "load", "--threads", "1000");
        bench.environment().put("HEARTWOOD_JAVA_OPTS", "-Xmx64m");
        Process process = bench.start();
        String said;
        try (BufferedReader reader = process.inputReader()) {
            said = String.join("\n", reader.lines().toList());
        }
        assertEquals(1, process.waitFor(), said);
        assertTrue(said.contains("lmdb: no memory for 1000 threads: Java heap space; HEARTWOOD_JAVA_OPTS=-Xmx1"), said);
        assertFalse(said.contains("\tat "), said);
    }

    /** It had two on every machine, where Heartwood has a worker for each processor. */
    @Test
    void rocksDbHasABackgroundJobForEachProcessorAndOneMore() throws IOException, InterruptedException {
        ProcessBuilder bench = process("--engines", "rocksdb", "--records", "1k", "--phases", "load", "--dir", "stores");
        bench.environment().put("HEARTWOOD_JAVA_OPTS", "-XX:ActiveProcessorCount=5");
        Process process = bench.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), said);
        try (DirectoryStream<Path> options = Files.newDirectoryStream(directory.resolve("stores/rocksdb"), "OPTIONS-*")) {
            String text = Files.readString(options.iterator().next());
            assertTrue(text.contains("max_background_jobs=6\n"), text);
        }
    }

    /** All that was measured was lost; before that the driver took the end of its engine for a failure, and said so. */
    @Test
    void aBenchmarkThatIsEndedTellsWhatWasFinishedAndLeavesNothing() throws IOException, InterruptedException {
        Process process = started("--records", "1k", "--phases", "load,idle", "--seconds", "600");
        try (BufferedReader said = process.inputReader()) {
            String line = said.readLine();
            while (line != null && !line.contains("settled")) {
                line = said.readLine();
            }
            assertNotNull(line);
            process.toHandle().destroy();
            List<String> rest = said.lines().filter(later -> !later.contains("idle")).toList();
            assertEquals("heartwood bench: interrupted; this was finished:", rest.getFirst());
            assertEquals(List.of("", "load"), rest.subList(1, 3));
            assertTrue(rest.get(3).startsWith("engine"), rest.toString());
            assertTrue(rest.get(4).startsWith("lmdb"), rest.toString());
            assertTrue(rest.get(5).startsWith("  settled"), rest.toString());
            assertEquals(7, rest.size(), rest.toString());
        } finally {
            process.destroyForcibly();
        }
        assertEquals(128 + 15, process.waitFor());
        try (Stream<Path> left = Files.list(directory)) {
            assertEquals(List.of(), left.toList());
        }
    }

    /** Ctrl-C reaches the engines too: one that ended before the driver knew of it was told as a failure. */
    @Test
    void anEngineEndsWhenTheDriverSaysSo() throws IOException, InterruptedException {
        Process process = started("--records", "1k", "--phases", "load,read", "--seconds", "2");
        try (BufferedReader said = process.inputReader()) {
            String line = said.readLine();
            while (line != null && !line.contains("settled")) {
                line = said.readLine();
            }
            process.children().forEach(ProcessHandle::destroy);
            List<String> rest = said.lines().toList();
            assertTrue(rest.getFirst().startsWith("[2/2] read"), rest.toString());
            assertEquals(0, process.waitFor(), rest.toString());
        } finally {
            process.destroyForcibly();
        }
    }

    /** Runs it until it says something, and has it interrupted then, as by Ctrl-C. */
    private void interruptAt(String word, String... arguments) {
        BenchOptions options = new BenchOptions();
        Main.commandLine(options).parseArgs(arguments);
        List<Bench> running = new ArrayList<>();
        PrintStream said = new PrintStream(errors, true) {
            @Override
            public void println(String line) {
                super.println(line);
                if (line.contains(word)) {
                    running.removeFirst().interrupt();
                }
            }
        };
        Bench bench = Main.bench(options, Main.facts(options), new Progress(said, false), new PrintStream(out, true));
        running.add(bench);
        assertThrows(InterruptedException.class, bench::run);
    }

    @Test
    @SuppressWarnings("unchecked")
    void whatWasFinishedIsReportedOfARunThatIsInterrupted() throws IOException {
        Path json = directory.resolve("result.json");
        Path html = directory.resolve("result.html");
        String stores = directory.resolve("stores").toString();
        interruptAt("[2/4] load", "--engines", "mvstore", "--records", "1k", "--phases", "load,idle", "--threads", "1,2",
                "--seconds", "600", "--dir", stores, "--json", json.toString(), "--html", html.toString());
        assertTrue(errors.toString().contains("heartwood bench: interrupted; this was finished:"), errors.toString());
        assertFalse(errors.toString().contains("its process ended"), errors.toString());
        assertTrue(out.toString().startsWith("\nload\nengine "), out.toString());
        assertFalse(out.toString().contains("idle"), out.toString());
        Map<String, Object>[] results = new ObjectMapper().readValue(json.toFile(), Map[].class);
        assertEquals(List.of("load", "load-settle", "load"), Stream.of(results).map(r -> r.get("phase")).toList());
        assertTrue(Files.readString(html).contains(", interrupted<br>"), "the page says so too");
    }

    @Test
    void nothingIsReportedOfARunThatIsInterruptedBeforeAnythingIsFinished() {
        Path html = directory.resolve("result.html");
        String stores = directory.resolve("stores").toString();
        interruptAt("run phase load first", "--engines", "mvstore", "--records", "1k", "--phases", "read", "--dir", stores, "--html", html.toString());
        assertTrue(errors.toString().contains("interrupted before anything was finished"), errors.toString());
        assertEquals("", out.toString());
        assertFalse(Files.exists(html));
    }

    /** The store of a sequential load, which is nobody's to use again, stayed in a named directory. */
    @Test
    void theStoreOfASequentialLoadThatIsEndedDoesNotStay() throws IOException, InterruptedException {
        Path stores = directory.resolve("stores");
        Process process = started("--records", "20m", "--phases", "sequential", "--dir", stores.toString());
        try {
            while (process.isAlive() && !Files.exists(stores.resolve("lmdb-sequential/data.mdb"))) {
                Thread.onSpinWait();
            }
            process.destroy();
            assertEquals(128 + 15, process.waitFor());
        } finally {
            process.destroyForcibly();
        }
        try (Stream<Path> left = Files.list(stores)) {
            assertEquals(List.of(), left.toList());
        }
    }

    /** It stayed until all had ended, so that on a small disk those after it failed too. */
    @Test
    void theStoreOfAnEngineThatFailedMakesRoomForTheNext() throws IOException, InterruptedException {
        Path store = directory.resolve("heartwood-bench/lmdb");
        Process process = started("--engines", "mvstore", "--records", "1k", "--cycle", "load,idle:600");
        try (BufferedReader said = process.inputReader()) {
            assertTrue(awaits("load +lmdb", said));
            assertTrue(Files.exists(store));
            process.children().forEach(ProcessHandle::destroyForcibly);
            assertTrue(awaits("load +mvstore", said));
            assertFalse(Files.exists(store));
            assertFalse(Files.exists(store.resolveSibling("lmdb.properties")));
        } finally {
            process.toHandle().destroy();
            process.waitFor();
        }
    }

    /** It lies beside the other, and stayed, also where others are to stay. */
    @Test
    void soDoesThatOfASequentialLoad() throws IOException, InterruptedException {
        for (String[] where : new String[][] {{}, {"--dir", "heartwood-bench"}}) {
            List<String> arguments = new ArrayList<>(
                    List.of("--engines", "mvstore", "--records", "1k", "--phases", "sequential,queue,queue", "--seconds", "4"));
            arguments.addAll(List.of(where));
            Process process = started(arguments.toArray(String[]::new));
            try (BufferedReader said = process.inputReader()) {
                assertTrue(awaits("sequential +lmdb", said) && awaits("sequential +mvstore", said));
                Path store = directory.resolve("heartwood-bench/mvstore-sequential");
                assertTrue(Files.exists(store));
                process.children().max(Comparator.comparing(BenchRunTest::started)).orElseThrow().destroyForcibly();
                assertTrue(awaits("queue +lmdb", said));
                assertFalse(Files.exists(store));
            } finally {
                process.toHandle().destroy();
                process.waitFor();
            }
        }
    }

    private static Instant started(ProcessHandle process) {
        return process.info().startInstant().orElseThrow();
    }

    /** Reads until the end of a phase of an engine. */
    private static boolean awaits(String phaseAndEngine, BufferedReader said) throws IOException {
        String line = said.readLine();
        while (line != null && !line.matches(".*] " + phaseAndEngine + " .* p50 .*")) {
            line = said.readLine();
        }
        return line != null;
    }

    private Process started(String... arguments) throws IOException {
        return process(arguments).start();
    }

    private ProcessBuilder process(String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "--engines",
                "lmdb"));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true);
    }

    private int bench(String... arguments) {
        return Main.run(arguments, new PrintStream(out, true), new PrintStream(errors, true));
    }
}
