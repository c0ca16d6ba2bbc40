package dev.heartwood.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.FileStoreHost;
import dev.heartwood.testkit.JavaProcess;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Mixed load on real files by a process that is killed again and again: nothing that was acknowledged is lost, and memory and
 * descriptors stay where they are. A few seconds in a build; {@code -Dheartwood.budget=PT1H} for the real thing, which prints a row
 * each minute and, from {@value #PLATEAU_MINUTES} minutes on, requires that the second half is like the first. Disk and latency are
 * reported only: the data file keeps the greatest size it ever had.
 */
class SoakTest {
    private static final int SIGKILL_EXIT = 137;
    private static final int PLATEAU_MINUTES = 10;
    private static final int VERIFY_EVERY = 5;

    private final long seed = Long.getLong("heartwood.seed", 1);
    private final Duration budget = Duration.parse(System.getProperty("heartwood.budget", "PT8S"));
    private final SplittableRandom random = new SplittableRandom(seed);
    private final long[] done = new long[SoakLoad.THREADS];
    private final SoakTable table = new SoakTable();
    private int samplesSeen;

    @Test
    void nothingIsLostAndNothingGrows() throws IOException, InterruptedException {
        try (TestDirectory parent = new TestDirectory("soak")) {
            Path directory = parent.path().resolve("store");
            long end = System.nanoTime() + budget.toNanos();
            while (System.nanoTime() - end < 0) {
                loadAndKill(directory, Math.min(lifeNanos(), end - System.nanoTime()));
                check(directory);
            }
            table.end();
            settle(directory);
        }
        Campaign.report(getClass(), table.kills(), "kills, " + Arrays.stream(done).sum() + " writes, none lost");
        if (table.minutes() >= PLATEAU_MINUTES) {
            System.out.printf(
                    "soak: second half by first: memory %.2f, descriptors %.2f, disk %.2f, p99 %.2f%n",
                    table.memoryGrowth(), table.descriptorGrowth(), table.diskGrowth(), table.latencyGrowth());
            assertTrue(table.memoryGrowth() < 1.2, "memory grew by " + table.memoryGrowth());
            assertTrue(table.descriptorGrowth() < 1.2, "descriptors grew by " + table.descriptorGrowth());
        }
    }

    /** Says what the store comes down to when nothing is written any more. */
    private static void settle(Path directory) {
        try (KeyValueStore store = Heartwood.open(directory, SoakLoad.options())) {
            long before = store.stats().liveBytes();
            store.settle();
            System.out.printf(
                    "soak: settled from %d to %d MB in use, %d MB of files%n",
                    before >> 20, store.stats().liveBytes() >> 20, store.stats().diskBytes() >> 20);
        }
    }

    /** Mostly short, sometimes several minutes, in which a leak would show. */
    private long lifeNanos() {
        double share =
                switch (random.nextInt(4)) {
                    case 0, 1 -> random.nextDouble(0.005, 0.05);
                    case 2 -> random.nextDouble(0.05, 0.2);
                    default -> random.nextDouble(0.2, 1);
                };
        return (long) (share * Math.min(Duration.ofMinutes(5).toNanos(), budget.toNanos() / 2));
    }

    private void loadAndKill(Path directory, long nanos) throws IOException, InterruptedException {
        String[] arguments = new String[2 + done.length];
        arguments[0] = directory.toString();
        arguments[1] = Long.toString(seed);
        for (int t = 0; t < done.length; t++) {
            arguments[2 + t] = Long.toString(done[t]);
        }
        Path output = directory.resolveSibling("output");
        Process process = JavaProcess.of(SoakLoad.class, arguments).flags("-Xmx128m").start(output);
        process.waitFor(Math.max(nanos, TimeUnit.MILLISECONDS.toNanos(300)), TimeUnit.NANOSECONDS);
        process.destroyForcibly();
        assertEquals(SIGKILL_EXIT, process.waitFor(), () -> "the load ended by itself and said:\n" + text(output));
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }

    private void check(Path directory) throws IOException {
        readSamples(directory);
        long started = System.nanoTime();
        try (KeyValueStore store = Heartwood.open(directory, SoakLoad.options())) {
            table.killed((System.nanoTime() - started) / 1e6);
            WriteCheck check = new WriteCheck(histories(), store);
            for (int t = 0; t < done.length; t++) {
                Path progress = SoakLoad.progress(directory, t);
                boolean began = Files.exists(progress) && Files.size(progress) == Long.BYTES;
                long acknowledged = began ? ByteBuffer.wrap(Files.readAllBytes(progress)).getLong() : done[t];
                done[t] = Math.max(done[t], acknowledged);
                done[t] = check.requireWrites(t, done[t], done[t], 0);
            }
        }
        if (table.kills() % VERIFY_EVERY == 1) {
            FileStoreHost.verify(directory);
        }
    }

    private void readSamples(Path directory) throws IOException {
        Path samples = SoakLoad.samples(directory);
        List<String> lines = Files.exists(samples) ? Files.readAllLines(samples) : List.of();
        lines.stream().skip(samplesSeen).map(SoakSample::parse).forEach(table::add);
        samplesSeen = lines.size();
    }

    private WriteHistory[] histories() {
        return IntStream.range(0, done.length).mapToObj(t -> SoakLoad.history(seed, t)).toArray(WriteHistory[]::new);
    }
}
