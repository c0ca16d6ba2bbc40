package dev.heartwood.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.ByteSize;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.FileStoreHost;
import dev.heartwood.testkit.JavaProcess;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * One to thirty-one stores share an environment, on real files, with threads that write and read each of them beside checkpoints, retunes, backups
 * and verification, while stores are closed and opened with other options; the process is killed, or ends, and the next goes on. Each opening
 * must show a prefix of what each thread has written, with all that was acknowledged or, where nothing is logged, made durable by a checkpoint; and
 * so must backups.
 */
class StressTest {
    private static final int SIGKILL_EXIT = 137;
    private static final int LIFE_MILLIS_MIN = 800;
    private static final int LIFE_MILLIS_MAX = 2_500;

    /** After which a process ends whose killer has died. */
    private static final long ORPHAN_MILLIS = 600_000;

    /** How long a process that should end is waited for before it is said what holds it up. */
    private static final int TELL_MINUTES = 2;

    private int kills;
    private int backups;
    private long writes;

    @Test
    void storesOfOneEnvironmentLoseNothing() {
        int cases = Campaign.run(getClass(), 2, seed -> {
            try (TestDirectory parent = new TestDirectory("stress")) {
                StressShape[] shapes = StressShape.of(parent.path(), seed);
                int lives = Campaign.operations(3);
                for (int life = 1; life <= lives; life++) {
                    SplittableRandom random = new SplittableRandom(seed * 1_000 + life);
                    // The last ends by itself, so that a store that cannot be closed is seen.
                    live(parent.path(), seed, life, life < lives && random.nextInt(4) > 0, random.nextLong(LIFE_MILLIS_MIN, LIFE_MILLIS_MAX));
                    for (StressShape shape : shapes) {
                        look(shape, random);
                    }
                }
                for (StressShape shape : shapes) {
                    end(shape, new SplittableRandom(seed));
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        Campaign.report(getClass(), cases, "environments, " + kills + " kills, " + backups + " backups, " + writes + " writes, none lost");
    }

    private void live(Path parent, long seed, int life, boolean killed, long millis) throws IOException, InterruptedException {
        Path output = parent.resolve("output" + life);
        long given = killed ? millis + ORPHAN_MILLIS : millis;
        Process process = JavaProcess.of(StressLoad.class, parent.toString(), "" + seed, "" + life, "" + given)
                .flags("-Xmx256m")
                .start(output);
        if (killed) {
            process.waitFor(millis, TimeUnit.MILLISECONDS);
            process.destroyForcibly();
        }
        while (!process.waitFor(TELL_MINUTES, TimeUnit.MINUTES)) {
            System.out.println("stress: seed " + seed + ", life " + life + " has not ended yet; its threads are in " + output);
            new ProcessBuilder("kill", "-QUIT", "" + process.pid()).start().waitFor();
        }
        int exit = process.exitValue();
        String said = Files.readString(output);
        assertEquals(killed ? SIGKILL_EXIT : 0, exit, () -> "life " + life + " ended by itself and said:\n" + said);
        kills += killed ? 1 : 0;
        said.lines().filter(line -> line.startsWith("longest")).forEach(line -> System.out.println("stress: seed " + seed + ", " + line));
    }

    /** Looks at some stores and some backups between two lives. */
    private void look(StressShape shape, SplittableRandom random) throws IOException {
        if (shape.wasOpened() && random.nextInt(4) == 0) {
            FileStoreHost.verify(shape.directory());
        }
        if (Files.exists(shape.backupProgress()) && random.nextInt(3) == 0) {
            requireBackup(shape, random);
        }
    }

    /** A copy of the backup has what had been written when it was made, and no more than was written since. */
    private void requireBackup(StressShape shape, SplittableRandom random) throws IOException {
        Path copy = shape.backup().resolveSibling("copy");
        Files.createDirectory(copy);
        for (Path file : files(shape.backup())) {
            Files.copy(file, copy.resolve(file.getFileName()));
        }
        LongBuffer least = ByteBuffer.wrap(Files.readAllBytes(shape.backupProgress())).asLongBuffer();
        StressProgress[] progress = shape.progress();
        try (KeyValueStore store = Heartwood.open(copy, existing(shape, random))) {
            WriteCheck check = new WriteCheck(shape.histories(), store);
            for (int t = 0; t < shape.threads(); t++) {
                check.requireWrites(t, least.get(t), progress[t].acknowledged(), progress[t].discarded());
                progress[t].close();
            }
        }
        for (Path file : files(copy)) {
            Files.delete(file);
        }
        Files.delete(copy);
        backups++;
    }

    private static Path[] files(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.toArray(Path[]::new);
        }
    }

    /** Options to open what is there, with all the space of the disk. */
    private static StoreOptions existing(StressShape shape, SplittableRandom random) {
        return shape.options(random).toBuilder()
                .openMode(StoreOptions.OpenMode.OPEN_EXISTING)
                .diskMax(new ByteSize(0))
                .build();
    }

    /** What is replayed finds space, as closing may not, after which the log has what it had. */
    private static void requireOpensWithinItsSpace(StressShape shape, SplittableRandom random) {
        KeyValueStore store = Heartwood.open(shape.directory(), shape.options(random));
        try {
            store.close();
        } catch (NoSpaceException full) {
            // It is closed all the same.
        }
    }

    private void end(StressShape shape, SplittableRandom random) throws IOException {
        if (Files.exists(shape.backupProgress())) {
            requireBackup(shape, random);
        }
        requireOpensWithinItsSpace(shape, random);
        StressProgress[] progress = shape.progress();
        try (KeyValueStore store = Heartwood.open(shape.directory(), existing(shape, random))) {
            writes += Arrays.stream(shape.require(new WriteCheck(shape.histories(), store), progress)).sum();
            store.settle();
            shape.require(new WriteCheck(shape.histories(), store), progress);
        }
        FileStoreHost.verify(shape.directory());
        for (StressProgress one : progress) {
            one.close();
        }
    }
}
