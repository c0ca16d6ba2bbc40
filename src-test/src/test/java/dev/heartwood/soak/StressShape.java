package dev.heartwood.soak;

import dev.heartwood.ByteSize;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.OptionMatrix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/**
 * What one of several stores is like for as long as it lives: its place, its options and what its threads write. Follows from the seed and its
 * number. Immutable.
 */
final class StressShape {
    private static final int[] KEYS = {503, 2_003, 2_003, 20_011};
    private static final int THREADS_MAX = 3;

    /** Of several stores one has so little space that it is full now and then. */
    private static final ByteSize[] DISKS_MAX = {new ByteSize(0), new ByteSize(0), new ByteSize(0), ByteSize.mib(8), ByteSize.mib(20)};

    private final Path parent;
    private final int number;
    private final OptionMatrix options;
    private final ByteSize diskMax;
    private final WriteHistory[] histories;

    private StressShape(Path parent, long seed, int number) {
        this.parent = parent;
        this.number = number;
        SplittableRandom random = new SplittableRandom(seed * 64 + number);
        options = new OptionMatrix(random.nextLong());
        int keys = KEYS[random.nextInt(KEYS.length)];
        boolean merges = random.nextBoolean();
        diskMax = DISKS_MAX[random.nextInt(DISKS_MAX.length)];
        histories = IntStream.rangeClosed(0, random.nextInt(THREADS_MAX))
                .mapToObj(t -> new WriteHistory(seed * 64 + number, t, keys, merges))
                .toArray(WriteHistory[]::new);
    }

    /** The stores of a seed: mostly a few, sometimes more than there are workers and processors by far. */
    static StressShape[] of(Path parent, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int stores = random.nextInt(4) == 0 ? 12 + random.nextInt(20) : 1 + random.nextInt(5);
        return IntStream.range(0, stores).mapToObj(number -> new StressShape(parent, seed, number)).toArray(StressShape[]::new);
    }

    Path directory() {
        return parent.resolve("store" + number);
    }

    Path backup() {
        return parent.resolve("backup" + number);
    }

    /** The file that says which writes the backup has at least. */
    Path backupProgress() {
        return parent.resolve("backup" + number + ".writes");
    }

    /** What its threads write. */
    WriteHistory[] histories() {
        return histories.clone();
    }

    int threads() {
        return histories.length;
    }

    /** Whether it has been opened, so that its creation was finished. */
    boolean wasOpened() throws IOException {
        return Files.exists(progressFile(0)) && Files.size(progressFile(0)) > 0;
    }

    private Path progressFile(int thread) {
        return parent.resolve("progress" + number + "-" + thread);
    }

    /** How far its threads have come. */
    StressProgress[] progress() {
        return IntStream.range(0, histories.length)
                .mapToObj(t -> new StressProgress(progressFile(t)))
                .toArray(StressProgress[]::new);
    }

    /** Options to open it with. */
    StoreOptions options(RandomGenerator random) {
        return options.nextOnFiles(random).toBuilder().diskMax(diskMax).build();
    }

    /** Requires that a store has what its threads have made durable, calls whole; how many writes of each are there. */
    long[] require(WriteCheck check, StressProgress[] progress) {
        return IntStream.range(0, histories.length)
                .mapToLong(t -> check.requireWrites(
                        t, progress[t].durable(), progress[t].acknowledged(), progress[t].discarded()))
                .toArray();
    }

    @Override
    public String toString() {
        return "store " + number;
    }
}
