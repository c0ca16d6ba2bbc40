package dev.heartwood.engine.filter;

import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.base.KeyHash;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.cache.PageCache;
import dev.heartwood.engine.device.ArrayDevice;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;

/** A store's file with a cache, memory and extents, in which tests build maplets. */
final class MapletFixture implements AutoCloseable {
    static final long STORE_ID = 0x5707e1d;
    static final int FIRST_EXTENT = 3;
    private static final int READ_ENTRIES = 1 << 10;
    private static final long READ_BYTES = READ_ENTRIES * Entry.BYTES;
    private static final long DEVICE_BYTES_MAX = 1L << 30;
    /** For pages that find no frame while a reader is held up in its epoch. */
    private static final long CACHE_RESERVE_BYTES = 32 << 20;

    final Epochs epochs = new Epochs();
    final ArrayDevice device;
    /** Working memory, apart from the cache's, so that leaks show. */
    final MemoryPool pool;

    final CachedFile file;
    final ExtentAllocator extents;
    final MapletStorage storage;
    private final MemoryPool cachePool;
    private final PageCache cache;
    private long lastId = 40;

    MapletFixture(long poolBytes, long cacheBytes, long deviceBytesMax) {
        device = new ArrayDevice(deviceBytesMax);
        pool = MemoryPool.open(poolBytes);
        cachePool = MemoryPool.open(cacheBytes + CACHE_RESERVE_BYTES);
        cache = new PageCache(cachePool, cacheBytes, epochs);
        file = cache.attach(device, STORE_ID);
        extents = new ExtentAllocator(device, deviceBytesMax, FIRST_EXTENT);
        storage = new MapletStorage(file, extents, pool, STORE_ID, released -> () -> free(released));
    }

    MapletFixture() {
        this(64L << 20, 32L << 20, DEVICE_BYTES_MAX);
    }

    MapletBuilder builder() {
        return new MapletBuilder(storage, ++lastId, WriteMode.CACHED);
    }

    MapletBuilder builder(WriteMode mode) {
        return new MapletBuilder(storage, ++lastId, mode);
    }

    FingerprintBuffer fingerprints(long... hashes) {
        FingerprintBuffer buffer = new FingerprintBuffer(pool);
        for (long hash : hashes) {
            buffer.add(hash);
        }
        return buffer;
    }

    /** The fingerprints of the keys numbered [from, to). */
    FingerprintBuffer fingerprintsOf(long from, long to) {
        FingerprintBuffer buffer = new FingerprintBuffer(pool);
        for (long key = from; key < to; key++) {
            buffer.add(hashOf(key));
        }
        return buffer;
    }

    /** Builds a maplet of one value for each range of key numbers [from, to). */
    Maplet build(long[][] ranges) {
        MapletBuilder builder = builder();
        List<FingerprintBuffer> buffers = new ArrayList<>();
        for (int value = 0; value < ranges.length; value++) {
            buffers.add(fingerprintsOf(ranges[value][0], ranges[value][1]));
            builder.add(buffers.get(value), value);
        }
        Maplet maplet = builder.build();
        buffers.forEach(FingerprintBuffer::close);
        return maplet;
    }

    long lookup(Maplet maplet, long hash) {
        int slot = epochs.enter();
        try {
            return maplet.lookup(file, hash);
        } finally {
            epochs.exit(slot);
        }
    }

    /** Everything in the maplet: the values of each fingerprint. */
    Map<Long, Long> contents(Maplet maplet) {
        Map<Long, Long> contents = new HashMap<>();
        read(maplet, entry -> contents.merge(Entry.fingerprint(entry), 1L << Entry.value(entry), (a, b) -> a | b));
        return contents;
    }

    /** Reads all entries of a maplet, in order. */
    void read(Maplet maplet, LongConsumer entries) {
        long buffer = pool.allocate(READ_BYTES);
        try (MapletCursor cursor = new MapletCursor(file, maplet, pool)) {
            for (int count = cursor.read(buffer, READ_ENTRIES); count > 0; count = cursor.read(buffer, READ_ENTRIES)) {
                for (int i = 0; i < count; i++) {
                    entries.accept(Memory.getLong(buffer + (long) i * Entry.BYTES));
                }
            }
        } finally {
            pool.free(buffer, READ_BYTES);
        }
    }

    /** The hash of an 8-byte key. */
    static long hashOf(long key) {
        return KeyHash.end(KeyHash.mix(KeyHash.begin(8), key));
    }

    private void free(int[] released) {
        for (int extent : released) {
            file.discard((long) extent << 5, 32);
            extents.free(extent);
        }
    }

    @Override
    public void close() {
        file.close();
        cache.close();
        cachePool.close();
        pool.close();
    }
}
