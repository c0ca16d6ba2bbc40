package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Cursor;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.FileStoreHost;
import dev.heartwood.testkit.Model;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * A process that loads with several threads is killed at random points, again and again on the same store. Whatever it had
 * acknowledged is there, batches are whole, and the store verifies clean.
 */
class KillCrashTest {
    private static final int SIGKILL_EXIT = 137;
    private static final int KILLS = 6;

    @Test
    void whatWasAcknowledgedSurvivesKills() {
        Campaign.run(getClass(), 1, seed -> {
            try (TestDirectory parent = new TestDirectory("kill")) {
                Path directory = parent.path().resolve("store");
                SplittableRandom random = new SplittableRandom(seed);
                int[] done = new int[KilledLoad.THREADS];
                for (int kill = 0; kill < KILLS; kill++) {
                    loadAndKill(directory, seed, done, random);
                    check(directory, seed, done);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
    }

    /** Kills the load once its first thread has got so far, sometimes at once, sometimes before the store is open. */
    private static void loadAndKill(Path directory, long seed, int[] done, SplittableRandom random)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx200m",
                "-ea",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                KilledLoad.class.getName(),
                directory.toString(),
                Long.toString(seed)));
        for (int steps : done) {
            command.add(Integer.toString(steps));
        }
        // To a file, because killing a process closes its pipes, and what it said last would be lost.
        Path output = directory.resolveSibling("output");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        if (random.nextInt(6) > 0) {
            while (process.isAlive() && Files.size(output) == 0) {
                Thread.onSpinWait();
            }
            long target = acknowledgedBytes(directory) + random.nextInt(8000) * 4L;
            while (process.isAlive() && acknowledgedBytes(directory) < target) {
                Thread.onSpinWait();
            }
        }
        process.destroyForcibly();
        String said = "the load ended by itself and said:\n";
        assertEquals(SIGKILL_EXIT, process.waitFor(), () -> said + text(output));
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long acknowledgedBytes(Path directory) throws IOException {
        Path file = KilledLoad.acknowledgements(directory, 0);
        return Files.exists(file) ? Files.size(file) : 0;
    }

    /** The last number that a thread wrote down whole. */
    private static int acknowledged(Path directory, int thread, int otherwise) throws IOException {
        Path file = KilledLoad.acknowledgements(directory, thread);
        if (!Files.exists(file)) {
            return otherwise;
        }
        byte[] bytes = Files.readAllBytes(file);
        int whole = bytes.length / 4;
        return whole == 0 ? otherwise : ByteBuffer.wrap(bytes).getInt((whole - 1) * 4);
    }

    /** Compares each thread's keys with its history, and notes how far it came. */
    private static void check(Path directory, long seed, int[] done) throws IOException {
        if (acknowledgedBytes(directory) > 0) {
            FileStoreHost.verify(directory);
        }
        try (KeyValueStore store = Heartwood.open(directory, KilledLoad.options())) {
            for (int t = 0; t < done.length; t++) {
                int acknowledged = acknowledged(directory, t, done[t]);
                NavigableMap<byte[], byte[]> found = Model.newMap();
                try (Cursor cursor = store.cursor(KeyRange.prefix((t + "/").getBytes()))) {
                    while (cursor.next()) {
                        found.put(cursor.key(), cursor.value());
                    }
                }
                NavigableMap<byte[], byte[]> expected = KilledLoad.state(seed, t, acknowledged);
                String difference = Model.difference(expected, found);
                if (difference == null) {
                    done[t] = acknowledged;
                    continue;
                }
                // The step that was under way may have happened.
                KilledLoad.apply(expected, seed, t, acknowledged);
                String second = Model.difference(expected, found);
                int thread = t;
                assertTrue(second == null, () -> "thread " + thread + " had " + acknowledged
                        + " steps acknowledged, but " + difference + "; and with one more step " + second);
                done[t] = acknowledged + 1;
            }
        }
        FileStoreHost.verify(directory);
    }
}
