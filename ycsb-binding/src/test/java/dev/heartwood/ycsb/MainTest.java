package dev.heartwood.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MainTest {
    /** More than a key may have. */
    private static final int KEY_BYTES = 70_000;

    private record Ended(int code, String said) {}

    @TempDir
    Path directory;

    @Test
    void aPropertyThatIsNoOptionEndsItBeforeItBegins() throws IOException, InterruptedException {
        Ended ended = run("-load", "heartwood.colour=red");
        assertEquals(2, ended.code(), ended.said());
        assertTrue(ended.said().startsWith("heartwood ycsb: there is no option 'colour'; there are memory, "), ended.said());
    }

    /** The client printed a stack for them, and of the workload its exit code was 0. */
    @Test
    void aWorkloadThatIsNotThereOrACountThatIsNoneEndsItBeforeItBegins() throws IOException, InterruptedException {
        Ended workload = run("-load", "workload=java.lang.String");
        assertEquals(2, workload.code(), workload.said());
        assertEquals("heartwood ycsb: there is no workload 'java.lang.String'", workload.said());
        Ended missing = run("-t", "workload=no.such.Workload");
        assertEquals(2, missing.code(), missing.said());
        Ended count = run("-load", "recordcount=1k");
        assertEquals(2, count.code(), count.said());
        assertEquals("heartwood ycsb: recordcount is '1k' and not a number", count.said());
        Ended directory = run("-load", SharedTables.DIRECTORY + "=");
        assertEquals(2, directory.code(), directory.said());
    }

    /** Only what was given by itself was looked at: with such files it ended well, or with a stack. */
    @Test
    void whatAFileHasIsLookedAtToo() throws IOException, InterruptedException {
        assertEquals("heartwood ycsb: there is no workload 'no.such.Workload'", refused("workload=no.such.Workload"));
        assertEquals("heartwood ycsb: recordcount is '1k' and not a number", refused("recordcount=1k"));
        assertTrue(refused("heartwood.colour=red").startsWith("heartwood ycsb: there is no option 'colour'; "));
        String said = refused("recordcount=\\u12");
        assertTrue(said.startsWith("heartwood ycsb: the workload file ") && !said.contains("\tat "), said);
        said = refused("workload=");
        assertTrue(said.startsWith("heartwood ycsb: no workload is named"), said);
        assertEquals(0, runOn(file("recordcount=1k"), "-load", "recordcount=10").code(), "what is given by itself counts");
    }

    /** They ended it with a stack of the client's. */
    @Test
    void threadsAndLimitsAreLookedAtToo() throws IOException, InterruptedException {
        assertEquals("heartwood ycsb: threadcount is 'x' and not a number", refused("threadcount=x"));
        assertEquals("heartwood ycsb: threadcount is less than 1", refused("threadcount=0"));
        assertEquals("heartwood ycsb: target is 'x' and not a number", refused("target=x"));
        assertEquals("heartwood ycsb: maxexecutiontime is '3000000000' and more than 2147483647", refused("maxexecutiontime=3000000000"));
        Ended ended = run("-load", "threadcount=x");
        assertEquals(2, ended.code(), ended.said());
        Path file = file("recordcount=10\nthreadcount=x\ntarget=y");
        ended = runOn(file, List.of("-load", "-threads", "2", "-target", "100000"));
        assertEquals(0, ended.code(), "options of their own count: " + ended.said());
        assertEquals(2, runOn(file, List.of("-load", "-threads", "2", "-target", "z")).code());
    }

    /** They ended it with a stack of the client's, and exit code 1. */
    @Test
    void countsThatAreNoIntAreRefusedWhereTheClientTakesOne() throws IOException, InterruptedException {
        for (String count : List.of("recordcount", "operationcount", "insertcount")) {
            assertEquals("heartwood ycsb: " + count + " is '3000000000' and more than 2147483647", refused(count + "=3000000000"));
        }
        assertEnds(0, null, run("-load", "recordcount=3000000010", "insertstart=3000000000", "insertcount=10"));
    }

    private String refused(String line) throws IOException, InterruptedException {
        Ended ended = runOn(file(line), "-load");
        assertEquals(2, ended.code(), ended.said());
        return ended.said();
    }

    private Path file(String line) throws IOException {
        return Files.writeString(directory.resolve("workload"), "workload=site.ycsb.workloads.CoreWorkload\n" + line);
    }

    @Test
    void whatSucceedsEndsWell() throws IOException, InterruptedException {
        assertEnds(0, null, run("-load", "recordcount=10"));
        assertEnds(0, null, run("-t", "recordcount=10", "operationcount=50"));
    }

    /** A record may be read as soon as it was inserted, by any thread. */
    @Test
    void whatARunInsertsIsThereToBeReadAndScanned() throws IOException, InterruptedException {
        String[] counts = {"recordcount=100", "operationcount=2000", "insertproportion=0.4", "threadcount=4"};
        assertEnds(0, null, runOn(Path.of("workloads/workloadd"), "-load", counts));
        for (String workload : List.of("workloadd", "workloade")) {
            Ended ended = runOn(Path.of("workloads", workload), "-t", counts);
            assertEnds(0, null, ended);
            assertFalse(ended.said().contains("no record"), ended.said());
        }
    }

    /** On a store that was never loaded, or with another count, all reads and updates failed, and the process ended with exit code 0. */
    @ParameterizedTest
    @CsvSource({"a, recordcount=100", "e, insertproportion=0", "f, zeropadding=20"})
    void recordsThatAreNotThereAreCountedAndEndItWithAFailure(char workload, String property) throws IOException, InterruptedException {
        assertEnds(0, null, run("-load", "recordcount=10", "table=other"));
        Ended ended = runOn(Path.of("workloads/workload" + workload), "-t", "recordcount=10", "operationcount=50", "threadcount=2", property);
        assertEquals(1, ended.code(), ended.said());
        Matcher count = Pattern.compile("heartwood ycsb: (\\d+) of (\\d+) operations found no record: load first, "
                        + "with the same heartwood.dir and recordcount")
                .matcher(ended.said());
        assertTrue(count.find(), ended.said());
        assertTrue(Integer.parseInt(count.group(2)) >= 50, ended.said());
        assertEquals(count.group(2), count.group(1), ended.said());
    }

    /** Records that were refused for their size were counted by nobody, and the process ended with exit code 0. */
    @Test
    void refusedRecordsOfALoadAreCountedAndEndItWithAFailure() throws IOException, InterruptedException {
        assertEnds(1, "1 operation failed", run("-load", "recordcount=1", "zeropadding=" + KEY_BYTES));
    }

    @Test
    void refusedOperationsOfARunAreCountedAndEndItWithAFailure() throws IOException, InterruptedException {
        assertEnds(1, "3 operations failed", run(
                "-t",
                "recordcount=10",
                "operationcount=3",
                "readproportion=0",
                "updateproportion=0",
                "insertproportion=1",
                "zeropadding=" + KEY_BYTES));
    }

    /** They were in a line of the client's report, and the process ended with exit code 0. */
    @Test
    void wrongValuesEndItWithAFailureWhereTheyAreLookedAt() throws IOException, InterruptedException {
        String[] checking = {"recordcount=10", "operationcount=50", "updateproportion=0", "readproportion=1", "dataintegrity=true"};
        assertEnds(0, null, run("-load", "recordcount=10"));
        assertEnds(1, "50 reads did not find the values that dataintegrity=true writes", run("-t", checking));
        assertEnds(0, null, run("-load", checking));
        Ended right = run("-t", checking);
        assertEnds(0, null, right);
        assertTrue(right.said().contains("[VERIFY], Return=OK, 50"), right.said());
        List<String> json = new ArrayList<>(List.of(checking));
        json.add("exporter=site.ycsb.measurements.exporter.JSONMeasurementsExporter");
        right = run("-t", json.toArray(String[]::new));
        assertEnds(0, null, right);
        assertTrue(right.said().endsWith("\"measurement\" : \"Return=OK\",\n  \"value\" : 50\n}"), right.said());
        json.set(json.size() - 1, "exporter=java.lang.String");
        assertEquals("heartwood ycsb: there is no exporter 'java.lang.String'", run("-t", json.toArray(String[]::new)).said());
    }

    private static void assertEnds(int code, String failures, Ended ended) {
        assertEquals(code, ended.code(), ended.said());
        boolean isSaid = failures == null
                ? !ended.said().contains("failed")
                : ended.said().contains("heartwood ycsb: " + failures);
        assertTrue(isSaid, ended.said());
    }

    /** Runs the client on workload A, with these properties. */
    private Ended run(String phase, String... properties) throws IOException, InterruptedException {
        return runOn(Path.of("workloads/workloada"), phase, properties);
    }

    private Ended runOn(Path file, String phase, String... properties) throws IOException, InterruptedException {
        return runOn(file, List.of(phase), properties);
    }

    private Ended runOn(Path file, List<String> options, String... properties) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx100m",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "-db",
                HeartwoodClient.class.getName(),
                "-P",
                file.toString(),
                "-p",
                "heartwood.memory=32m",
                "-p",
                SharedTables.DIRECTORY + "=" + directory));
        command.addAll(options);
        for (String property : properties) {
            command.addAll(List.of("-p", property));
        }
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        return new Ended(process.waitFor(), said);
    }
}
