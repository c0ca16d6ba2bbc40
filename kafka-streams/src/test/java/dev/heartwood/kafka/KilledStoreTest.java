package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.TestDirectory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.junit.jupiter.api.Test;

/** A process that writes and commits is killed, again and again on the same store. */
class KilledStoreTest {
    private static final int SIGKILL_EXIT = 137;
    private static final int KILLS = 3;

    /** The data is at or after the committed offset, at one step, and not a commit interval after the last one. */
    @Test
    void underAtLeastOnceNothingCommittedIsLost() {
        Campaign.run(getClass(), 1, seed -> killAgainAndAgain(seed, StreamsConfig.AT_LEAST_ONCE));
    }

    /** The data is exactly that of the committed offset. */
    @Test
    void underExactlyOnceTheStoreOpensAtItsLastCommit() {
        Campaign.run(getClass(), 1, seed -> killAgainAndAgain(seed, StreamsConfig.EXACTLY_ONCE_V2));
    }

    private static void killAgainAndAgain(long seed, String guarantee) {
        try (TestDirectory parent = new TestDirectory("killed")) {
            Path directory = parent.path().resolve("task");
            SplittableRandom random = new SplittableRandom(seed);
            int step = 0;
            for (int kill = 0; kill < KILLS; kill++) {
                writeAndKill(directory, guarantee, seed, step, random);
                step = check(directory, guarantee, seed);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void writeAndKill(Path directory, String guarantee, long seed, int step, SplittableRandom random)
            throws IOException, InterruptedException {
        // What it commits it says twice: by a line, to wait for, and in a file, because a kill may lose the last lines.
        Path errors = directory.resolveSibling("errors");
        Process process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx300m",
                        "-ea",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        KilledWriter.class.getName(),
                        directory.toString(),
                        guarantee,
                        Long.toString(seed),
                        Integer.toString(step)))
                .redirectError(errors.toFile())
                .start();
        int commits = random.nextInt(1, 20);
        try (BufferedReader lines = process.inputReader()) {
            while (commits > 0 && lines.readLine() != null) {
                commits--;
            }
            process.destroyForcibly();
        }
        assertEquals(SIGKILL_EXIT, process.waitFor(), () -> "the writer ended by itself and said:\n" + text(errors));
    }

    private static String text(Path file) {
        try {
            return Files.exists(file) ? Files.readString(file) : "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What the process said last that it had committed. */
    private static int lastCommitted(Path directory) {
        String said = text(KilledWriter.committed(directory));
        int end = said.lastIndexOf('\n');
        return end < 0 ? 0 : Integer.parseInt(said.substring(said.lastIndexOf('\n', end - 1) + 1, end));
    }

    /** Compares the store with its history; returns the step that it stands at. */
    private static int check(Path directory, String guarantee, long seed) {
        KeyValueStore<Bytes, byte[]> store = KilledWriter.open(directory, guarantee);
        try {
            Long offset = store.committedOffset(StoreContext.CHANGELOG);
            assertNotNull(offset, "there was a commit");
            int committed = Math.toIntExact(offset);
            int said = lastCommitted(directory);
            assertTrue(committed == said || committed == said + KilledWriter.COMMIT_INTERVAL,
                    () -> "said " + said + ", found " + committed);
            Map<Bytes, byte[]> found = new TreeMap<>();
            try (KeyValueIterator<Bytes, byte[]> all = store.all()) {
                all.forEachRemaining(entry -> found.put(entry.key, entry.value));
            }
            Map<Bytes, byte[]> expected = KilledWriter.state(seed, committed);
            if (guarantee.equals(StreamsConfig.EXACTLY_ONCE_V2)) {
                assertTrue(same(expected, found), () -> "the store is not as it was at its commit of step " + committed);
                return committed;
            }
            int step = committed;
            while (!same(expected, found)) {
                assertTrue(step <= committed + KilledWriter.COMMIT_INTERVAL, "the store is at no step of its history");
                KilledWriter.apply(expected, KilledWriter.step(seed, step));
                step++;
            }
            return step;
        } finally {
            store.close();
        }
    }

    private static boolean same(Map<Bytes, byte[]> one, Map<Bytes, byte[]> other) {
        if (!one.keySet().equals(other.keySet())) {
            return false;
        }
        return one.entrySet().stream().allMatch(e -> Arrays.equals(e.getValue(), other.get(e.getKey())));
    }
}
