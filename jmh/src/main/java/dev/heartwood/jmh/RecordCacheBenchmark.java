package dev.heartwood.jmh;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.os.KeyHasher;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.record.RecordCache;
import dev.heartwood.engine.record.StoreRecords;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** The record cache beside ConcurrentHashMap: 150,000 records with keys of 24 bytes and values of 100. Times are per call. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Benchmark)
public class RecordCacheBenchmark {
    private static final int RECORDS = 150_000;
    private static final int KEY_BYTES = 24;
    private static final int VALUE_BYTES = 100;
    private static final long CACHE_BYTES = 32L << 20;
    private static final long SCRATCH_BYTES = 16L << 20;

    private final Epochs epochs = new Epochs();
    private final FoundEntry found = new FoundEntry();
    private final ConcurrentHashMap<ByteBuffer, byte[]> map = new ConcurrentHashMap<>();
    private final ByteBuffer[] mapKeys = new ByteBuffer[2 * RECORDS];
    private RecordCache cache;
    private StoreRecords records;
    private MemoryPool pool;
    private long keys;
    private long value;
    private long newKey;
    private long newNumber;
    private int probe;

    /** Takes in the first half of the keys; the others are absent. */
    @Setup
    public void fill() {
        MemoryPool own = MemoryPool.open(CACHE_BYTES);
        cache = new RecordCache(own, own, 0, epochs);
        records = cache.store(true);
        pool = MemoryPool.open(2 * SCRATCH_BYTES);
        keys = pool.allocate(SCRATCH_BYTES);
        value = pool.allocate(MemoryPool.BLOCK_BYTES_MIN);
        newKey = pool.allocate(MemoryPool.BLOCK_BYTES_MIN);
        for (int i = 0; i < 2 * RECORDS; i++) {
            byte[] key = "user%020d".formatted(i * 0x9E3779B97F4A7C15L >>> 1)
                    .getBytes(java.nio.charset.StandardCharsets.US_ASCII);
            Memory.copyFrom(key, 0, key(i), KEY_BYTES);
            mapKeys[i] = ByteBuffer.wrap(key);
            if (i < RECORDS) {
                map.put(mapKeys[i], new byte[VALUE_BYTES]);
                offer(key(i), true);
            }
        }
    }

    @TearDown
    public void close() {
        cache.close();
        pool.close();
    }

    private long key(int number) {
        return keys + (long) number * KEY_BYTES;
    }

    /** A number below {@code RECORDS}; the order is of no kind that a processor foresees. */
    private int next() {
        probe = probe * 1664525 + 1013904223;
        return (int) ((probe & 0xffffffffL) * RECORDS >>> 32);
    }

    private boolean find(int number) {
        long key = key(number);
        return records.find(KeyHasher.hash(key, KEY_BYTES), key, KEY_BYTES, found);
    }

    /** A key that was never offered before, so that it is not hot, however long this runs. */
    private long nextNewKey() {
        Memory.putLong(newKey, ++newNumber * 0x9E3779B97F4A7C15L);
        return newKey;
    }

    private void offer(long key, boolean isFromDevice) {
        found.set(Entries.PUT, 0, value, VALUE_BYTES);
        found.isFromDevice = isFromDevice;
        records.offer(records.ticket(), KeyHasher.hash(key, KEY_BYTES), key, KEY_BYTES, found);
    }

    @Benchmark
    public boolean hit() {
        return find(next());
    }

    @Benchmark
    public boolean miss() {
        return find(RECORDS + next());
    }

    @Benchmark
    public byte[] mapHit() {
        return map.get(mapKeys[next()]);
    }

    @Benchmark
    public byte[] mapMiss() {
        return map.get(mapKeys[RECORDS + next()]);
    }

    /** What two reads of a new key add: it is remembered, then taken in, for which the ring goes round, dropping what was not used. */
    @Benchmark
    public void takeIn() {
        int slot = epochs.enter();
        long key = nextNewKey();
        offer(key, true);
        offer(key, true);
        epochs.exit(slot);
    }

    /** What a read from the page cache adds for a key that is not hot. */
    @Benchmark
    public void remember() {
        int slot = epochs.enter();
        offer(nextNewKey(), false);
        epochs.exit(slot);
    }
}
