package dev.heartwood.testkit;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyOrder;
import dev.heartwood.StoreOptions;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/** Options that follow from a seed: those that shape a store stay, those that a reopen may change change. Immutable. */
public final class OptionMatrix {
    private static final DeviceKind[] DEVICES = {DeviceKind.AUTO, DeviceKind.POSIX, DeviceKind.JNR};
    private static final int[] FANOUTS = {4, 5, 8, 15};
    private static final int[] DISTANCES = {1, 2, 4, 40};
    private static final long[] MEMTABLES_KIB = {64, 64, 100, 256, 1024};
    private static final ByteSize[] DISKS_MAX = {new ByteSize(0), ByteSize.mib(512)};
    private static final ByteSize[] SCRUBBED_PER_SECOND = {new ByteSize(0), ByteSize.mib(1), ByteSize.mib(64)};

    private static final int GROUP_SUFFIX_BYTES = 2;
    private static final double[] SPACE_TARGETS = {1.05, 1.2, 1.2, 2, 100};

    private final StoreOptions shape;

    /** The options that a seed stands for. */
    public OptionMatrix(long seed) {
        RandomGenerator random = new SplittableRandom(seed);
        shape = StoreOptions.builder()
                .fanout(FANOUTS[random.nextInt(FANOUTS.length)])
                .freeSpace(pick(StoreOptions.FreeSpace.values(), random))
                .mergeOperator(new TailMergeOperator())
                .keyOrder(keyOrder(seed))
                .groupSuffixBytes(groupSuffixBytes(seed))
                .build();
    }

    /** The groups of keys that go with a seed: every other of those with ordered keys has some. */
    private static int groupSuffixBytes(long seed) {
        return (seed & 3) == 3 ? GROUP_SUFFIX_BYTES : 0;
    }

    /** The order of keys that goes with a seed: every other is unordered, so that a few cases have both. */
    public static KeyOrder keyOrder(long seed) {
        return (seed & 1) == 0 ? KeyOrder.HASHED : KeyOrder.SORTED;
    }

    private static <T> T pick(T[] values, RandomGenerator random) {
        return values[random.nextInt(values.length)];
    }

    /** Options for the next open. */
    public StoreOptions next(RandomGenerator random) {
        return shape.toBuilder()
                .memory(ByteSize.mib(16 + random.nextInt(3) * 12))
                .workers(1 + random.nextInt(3))
                .device(pick(DEVICES, random))
                .policy(pick(CompactionPolicyKind.values(), random))
                .durability(pick(Durability.values(), random))
                .memtable(ByteSize.kib(MEMTABLES_KIB[random.nextInt(MEMTABLES_KIB.length)]))
                .checkpointDistance(DISTANCES[random.nextInt(DISTANCES.length)])
                .spaceAmplificationTarget(SPACE_TARGETS[random.nextInt(SPACE_TARGETS.length)])
                .diskMax(pick(DISKS_MAX, random))
                .compactionFilter(random.nextBoolean() ? new SameValueFilter() : null)
                .build();
    }

    /** As {@link #next}, with what makes a difference where files and threads are real. */
    public StoreOptions nextOnFiles(RandomGenerator random) {
        return next(random).toBuilder()
                .ioMode(pick(StoreOptions.IoMode.values(), random))
                .scrubPerSecond(pick(SCRUBBED_PER_SECOND, random))
                .build();
    }

    /**
     * Options with which a few thousand records make a tree of several levels. Nothing is merged for space: pages stay where they are while
     * a test looks for them, and reads and writes that it has fail are its own.
     */
    public static StoreOptions smallTree() {
        return StoreOptions.builder()
                .memory(EnvironmentOptions.MEMORY_MIN)
                .memtable(ByteSize.kib(64))
                .fanout(4)
                .workers(2)
                .checkpointDistance(2)
                .spaceAmplificationTarget(100)
                .build();
    }

    /** The options of a private environment for a store with these. */
    public static EnvironmentOptions environment(StoreOptions options) {
        return EnvironmentOptions.builder()
                .memory(options.memory())
                .workers(options.workers())
                .device(options.device())
                .build();
    }
}
