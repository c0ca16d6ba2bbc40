package dev.heartwood.jmh;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.BranchReader;
import dev.heartwood.engine.branch.WriteMode;
import dev.heartwood.engine.os.Memory;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** A random point search in a cached branch, beside a binary search over whole keys in one array and a tree map. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 1,
        jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-Xmx2g"})
public class BranchSearchBenchmark {
    @Param({"10000", "1000000"})
    public int entries;

    private final FoundEntry found = new FoundEntry();
    private final TreeMap<byte[], byte[]> map = new TreeMap<>(Arrays::compareUnsigned);
    private final SplittableRandom random = new SplittableRandom(1);
    private BranchStore store;
    private Branch branch;
    private long keys;
    private int epoch;

    @Setup
    public void open() {
        store = new BranchStore(256L << 20, 256L << 20);
        keys = BranchStore.keys(store.pool, entries, 1);
        branch = store.write(keys, entries, WriteMode.CACHED);
        for (int i = 0; i < entries; i++) {
            map.put(Memory.bytes(keys + (long) i * BranchStore.KEY_BYTES, BranchStore.KEY_BYTES), new byte[0]);
        }
        epoch = store.epochs.enter();
    }

    @TearDown
    public void close() {
        store.epochs.exit(epoch);
        branch.release();
        store.close();
    }

    private long randomKey() {
        return keys + (long) random.nextInt(entries) * BranchStore.KEY_BYTES;
    }

    @Benchmark
    public long branchSearch() {
        if (!BranchReader.find(store.file, branch, randomKey(), BranchStore.KEY_BYTES, Entries.NEWEST, found)) {
            throw new AssertionError();
        }
        return found.valueAddress;
    }

    @Benchmark
    public long binarySearchOfWholeKeys() {
        long key = randomKey();
        int low = 0;
        int high = entries - 1;
        while (low < high) {
            int middle = low + high >>> 1;
            long at = keys + (long) middle * BranchStore.KEY_BYTES;
            if (Memory.compare(at, BranchStore.KEY_BYTES, key, BranchStore.KEY_BYTES) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    @Benchmark
    public byte[] treeMap() {
        return map.get(Memory.bytes(randomKey(), BranchStore.KEY_BYTES));
    }
}
