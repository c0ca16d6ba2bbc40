package dev.heartwood.jmh;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.memtable.Memtable;
import dev.heartwood.engine.memtable.SortArrays;
import dev.heartwood.engine.os.KeyHasher;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The memtable beside ConcurrentSkipListMap: keys of 24 bytes, values of 100. Times are per entry, per search, and per scan.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class MemtableBenchmark {
    private static final int ENTRIES = 200_000;
    private static final int KEY_BYTES = 24;
    private static final int VALUE_BYTES = 100;
    private static final int SEARCHES = 1000;
    private static final int SCAN_ENTRIES = 100;
    private static final int LANES = 4;
    private static final long POOL_BYTES = 512L << 20;

    /** Keys in native memory and as arrays, in the order of insertion; then as many that are absent. */
    @State(Scope.Benchmark)
    public static class Keys {
        @Param({"RANDOM", "SEQUENTIAL"})
        public String order;

        private final SortArrays sortArrays = new SortArrays();
        MemoryPool pool;
        long keys;
        long value;
        byte[][] arrays;
        byte[] valueArray = new byte[VALUE_BYTES];
        int[] probes = new int[1 << 16];
        int probe;

        @Setup
        public void make() {
            SplittableRandom random = new SplittableRandom(1);
            pool = MemoryPool.open(POOL_BYTES);
            keys = pool.allocate(2L * ENTRIES * KEY_BYTES);
            value = pool.allocate(4096);
            arrays = new byte[2 * ENTRIES][];
            for (int i = 0; i < 2 * ENTRIES; i++) {
                long number = order.equals("RANDOM") ? random.nextLong() & Long.MAX_VALUE : i;
                arrays[i] = "user%020d".formatted(number).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
                Memory.copyFrom(arrays[i], 0, key(i), KEY_BYTES);
            }
            for (int i = 0; i < probes.length; i++) {
                probes[i] = random.nextInt(ENTRIES);
            }
        }

        @TearDown
        public void close() {
            pool.close();
        }

        long key(int number) {
            return keys + (long) number * KEY_BYTES;
        }

        int nextProbe() {
            return probes[probe++ & probes.length - 1];
        }

        Memtable newMemtable() {
            return new Memtable(pool, sortArrays, 1, LANES, POOL_BYTES / 2);
        }

        void insert(Memtable memtable, int number, long sequence) {
            long key = key(number);
            if (!memtable.reserve(0, KEY_BYTES, VALUE_BYTES)) {
                throw new IllegalStateException("full");
            }
            memtable.insert(
                    0, KeyHasher.hash(key, KEY_BYTES), key, KEY_BYTES, sequence, Entries.PUT, value, VALUE_BYTES);
        }

        Memtable fill() {
            Memtable memtable = newMemtable();
            for (int i = 0; i < ENTRIES; i++) {
                insert(memtable, i, i + 1);
            }
            return memtable;
        }

        ConcurrentSkipListMap<byte[], byte[]> fillSkipList() {
            Comparator<byte[]> unsigned = Arrays::compareUnsigned;
            ConcurrentSkipListMap<byte[], byte[]> map = new ConcurrentSkipListMap<>(unsigned);
            for (int i = 0; i < ENTRIES; i++) {
                map.put(arrays[i], valueArray.clone());
            }
            return map;
        }
    }

    /** A filled one of each. */
    @State(Scope.Benchmark)
    public static class Filled {
        Memtable memtable;
        ConcurrentSkipListMap<byte[], byte[]> skipList;
        FoundEntry found = new FoundEntry();
        long sequence = ENTRIES;

        @Setup(Level.Iteration)
        public void fill(Keys keys) {
            memtable = keys.fill();
            skipList = keys.fillSkipList();
        }

        @TearDown(Level.Iteration)
        public void release() {
            memtable.release();
        }
    }

    @Benchmark
    @OperationsPerInvocation(ENTRIES)
    public long insert(Keys keys) {
        Memtable memtable = keys.fill();
        long bytes = memtable.bytesHeld();
        memtable.release();
        return bytes;
    }

    @Benchmark
    @OperationsPerInvocation(ENTRIES)
    public Object insertSkipList(Keys keys) {
        return keys.fillSkipList();
    }

    /** Insertion, sort and one walk over the sealed memtable that reads keys and values. */
    @Benchmark
    @OperationsPerInvocation(ENTRIES)
    public long insertAndPack(Keys keys) {
        Memtable memtable = keys.fill();
        memtable.seal();
        long sum = 0;
        EntryCursor cursor = memtable.sealedCursor();
        for (cursor.seekFirst(); cursor.valid(); cursor.next()) {
            sum += Memory.getLong(cursor.keyAddress() + 8) + Memory.getLong(cursor.valueAddress() + 80);
        }
        memtable.release();
        return sum;
    }

    @Benchmark
    @OperationsPerInvocation(SEARCHES)
    public long hit(Keys keys, Filled filled) {
        long sum = 0;
        for (int i = 0; i < SEARCHES; i++) {
            long key = keys.key(keys.nextProbe());
            if (filled.memtable.find(KeyHasher.hash(key, KEY_BYTES), key, KEY_BYTES, Entries.NEWEST, filled.found)) {
                sum += filled.found.valueAddress;
            }
        }
        return sum;
    }

    @Benchmark
    @OperationsPerInvocation(SEARCHES)
    public long hitSkipList(Keys keys, Filled filled) {
        long sum = 0;
        for (int i = 0; i < SEARCHES; i++) {
            sum += filled.skipList.get(keys.arrays[keys.nextProbe()]).length;
        }
        return sum;
    }

    @Benchmark
    @OperationsPerInvocation(SEARCHES)
    public long miss(Keys keys, Filled filled) {
        long sum = 0;
        for (int i = 0; i < SEARCHES; i++) {
            long key = keys.key(ENTRIES + keys.nextProbe());
            if (filled.memtable.find(KeyHasher.hash(key, KEY_BYTES), key, KEY_BYTES, Entries.NEWEST, filled.found)) {
                sum++;
            }
        }
        return sum;
    }

    @Benchmark
    @OperationsPerInvocation(SEARCHES)
    public long missSkipList(Keys keys, Filled filled) {
        long sum = 0;
        for (int i = 0; i < SEARCHES; i++) {
            if (filled.skipList.get(keys.arrays[ENTRIES + keys.nextProbe()]) != null) {
                sum++;
            }
        }
        return sum;
    }

    /** A new version, then a scan that has to see it. */
    @Benchmark
    public long scanAfterInsert(Keys keys, Filled filled) {
        keys.insert(filled.memtable, keys.nextProbe(), ++filled.sequence);
        EntryCursor cursor = filled.memtable.cursor(Entries.NEWEST);
        cursor.seek(keys.key(keys.nextProbe()), KEY_BYTES);
        long sum = 0;
        for (int i = 0; i < SCAN_ENTRIES && cursor.valid(); i++) {
            sum += Memory.getLong(cursor.keyAddress()) + Memory.getLong(cursor.valueAddress());
            cursor.next();
        }
        cursor.close();
        return sum;
    }

    @Benchmark
    public long scanAfterInsertSkipList(Keys keys, Filled filled) {
        filled.skipList.put(keys.arrays[keys.nextProbe()], keys.valueArray.clone());
        Iterator<Map.Entry<byte[], byte[]>> entries =
                filled.skipList.tailMap(keys.arrays[keys.nextProbe()]).entrySet().iterator();
        long sum = 0;
        for (int i = 0; i < SCAN_ENTRIES && entries.hasNext(); i++) {
            Map.Entry<byte[], byte[]> entry = entries.next();
            sum += entry.getKey()[0] + entry.getValue()[0];
        }
        return sum;
    }
}
