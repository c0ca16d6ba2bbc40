package dev.heartwood.jmh;

import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.base.KeyHash;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.cache.PageCache;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.filter.FingerprintBuffer;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.filter.MapletBuilder;
import dev.heartwood.engine.filter.MapletStorage;
import dev.heartwood.engine.filter.WriteMode;
import dev.heartwood.engine.os.MemoryPool;
import java.lang.reflect.Proxy;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A maplet over 8 branches against one blocked Bloom filter of 12 bits a key, which says of the same keys only whether they are
 * in any branch. Lookups go through the page cache, where every page is present.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
public class FilterBenchmark {
    private static final int BRANCHES = 8;
    private static final int PARTS = 4;
    private static final int BLOOM_BITS_PER_KEY = 12;
    private static final long STORE_ID = 1;
    private static final long POOL_BYTES = 640L << 20;
    private static final long CACHE_BYTES = 160L << 20;

    /** In the second level of the processor's cache, out of it, and out of all caches. */
    @Param({"200000", "2000000", "16000000"})
    public int keys;

    private final Epochs epochs = new Epochs();
    private MemoryPool pool;
    private PageCache cache;
    private CachedFile file;
    private MapletStorage storage;
    private FingerprintBuffer[] fingerprints;
    private Maplet maplet;
    private Maplet[] parts;
    private BlockedBloomFilter bloom;
    private long bloomAddress;
    private long bloomBytes;
    private long number;
    private long lastId;
    private int epoch;

    /** Builds both filters. */
    @Setup(Level.Trial)
    public void build() {
        pool = MemoryPool.open(POOL_BYTES);
        cache = new PageCache(pool, CACHE_BYTES, epochs);
        BlockDevice device = emptyDevice();
        file = cache.attach(device, STORE_ID);
        ExtentAllocator extents = new ExtentAllocator(device, Long.MAX_VALUE, 0);
        storage = new MapletStorage(file, extents, pool, STORE_ID, released -> () -> {
            for (int extent : released) {
                file.discard((long) extent << 5, 32);
                extents.free(extent);
            }
        });
        fingerprints = new FingerprintBuffer[BRANCHES];
        for (int branch = 0; branch < BRANCHES; branch++) {
            fingerprints[branch] = new FingerprintBuffer(pool);
            for (long key = branch; key < keys; key += BRANCHES) {
                fingerprints[branch].add(hashOf(key));
            }
        }
        maplet = newMaplet();
        parts = new Maplet[PARTS];
        for (int part = 0; part < PARTS; part++) {
            MapletBuilder builder = new MapletBuilder(storage, ++lastId, WriteMode.CACHED).pieceOf(keys);
            for (int branch = part; branch < BRANCHES; branch += PARTS) {
                builder.add(fingerprints[branch], branch / PARTS);
            }
            parts[part] = builder.build();
        }
        bloomBytes = BlockedBloomFilter.bytes(BlockedBloomFilter.lines(keys, BLOOM_BITS_PER_KEY));
        bloomAddress = pool.allocate(bloomBytes);
        bloom = newBloom();
        epoch = epochs.enter();
    }

    /** Gives everything back. */
    @TearDown(Level.Trial)
    public void close() {
        epochs.exit(epoch);
        file.close();
        cache.close();
        pool.close();
    }

    /** The value of a key that is there. */
    @Benchmark
    public long mapletHit() {
        return maplet.lookup(file, hashOf(nextKey()));
    }

    /** Nothing, for a key that is not there. */
    @Benchmark
    public long mapletMiss() {
        return maplet.lookup(file, hashOf(nextKey() | 1L << 40));
    }

    /** Says that a key is there. */
    @Benchmark
    public boolean bloomHit() {
        return bloom.mayContain(hashOf(nextKey()));
    }

    /** Says that a key is not there. */
    @Benchmark
    public boolean bloomMiss() {
        return bloom.mayContain(hashOf(nextKey() | 1L << 40));
    }

    /** All keys, from fingerprints to pages in the cache; divide by the keys. */
    @Benchmark
    public long mapletBuild() {
        return replace(newMaplet());
    }

    /** All keys, from four maplets of two branches each; divide by the keys. */
    @Benchmark
    public long mapletMerge() {
        MapletBuilder builder = new MapletBuilder(storage, ++lastId, WriteMode.CACHED);
        for (int part = 0; part < PARTS; part++) {
            builder.add(parts[part], new int[] {part, part + PARTS});
        }
        return replace(builder.build());
    }

    private long replace(Maplet built) {
        long bytes = built.bytes();
        epochs.exit(epoch);
        built.release();
        epoch = epochs.enter();
        return bytes;
    }

    /** All keys, hashed on the way; divide by the keys. */
    @Benchmark
    public Object bloomBuild() {
        return newBloom();
    }

    private Maplet newMaplet() {
        MapletBuilder builder = new MapletBuilder(storage, ++lastId, WriteMode.CACHED);
        for (int branch = 0; branch < BRANCHES; branch++) {
            builder.add(fingerprints[branch], branch);
        }
        return builder.build();
    }

    private BlockedBloomFilter newBloom() {
        BlockedBloomFilter built =
                new BlockedBloomFilter(bloomAddress, BlockedBloomFilter.lines(keys, BLOOM_BITS_PER_KEY));
        for (long key = 0; key < keys; key++) {
            built.add(hashOf(key));
        }
        return built;
    }

    /** Visits keys in an order that no prefetcher follows. */
    private long nextKey() {
        number += 0x9E3779B97F4A7C15L;
        return Math.unsignedMultiplyHigh(number * 0xD6E8FEB86659FD93L, keys);
    }

    private static long hashOf(long key) {
        return KeyHash.end(KeyHash.mix(KeyHash.begin(8), key));
    }

    /** Nothing reaches the device: what is written stays in the cache. */
    private static BlockDevice emptyDevice() {
        return (BlockDevice) Proxy.newProxyInstance(
                BlockDevice.class.getClassLoader(), new Class<?>[] {BlockDevice.class}, (proxy, method, arguments) -> {
                    Class<?> type = method.getReturnType();
                    return type == long.class ? Long.valueOf(0) : type == String.class ? "empty" : null;
                });
    }
}
