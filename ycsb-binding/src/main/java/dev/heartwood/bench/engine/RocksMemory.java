package dev.heartwood.bench.engine;

import org.rocksdb.Cache;
import org.rocksdb.HyperClockCache;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteBufferManager;

/** The budget of one or several RocksDB stores: a cache, to which their memtables are charged. Closed after them. */
final class RocksMemory implements AutoCloseable {
    private static final long MEMTABLE_BYTES_MAX = 64 << 20;
    private static final long MEMTABLE_BYTES_MIN = 1 << 20;

    private final Cache cache;
    private final WriteBufferManager memtableMemory;
    private final int memtables;
    private final long memtableBytes;

    RocksMemory(EngineSettings settings) {
        RocksDB.loadLibrary();
        memtables = settings.fits() ? 4 : 2;
        memtableBytes = Math.clamp(settings.memoryBytes() / 4, MEMTABLE_BYTES_MIN, MEMTABLE_BYTES_MAX);
        cache = new HyperClockCache(settings.memoryBytes(), 0, -1, false);
        memtableMemory = new WriteBufferManager(memtables * memtableBytes, cache);
    }

    Cache cache() {
        return cache;
    }

    WriteBufferManager memtableMemory() {
        return memtableMemory;
    }

    /** How many memtables a store has at most. */
    int memtables() {
        return memtables;
    }

    /** How large one memtable of all stores together is. */
    long memtableBytes() {
        return memtableBytes;
    }

    @Override
    public void close() {
        memtableMemory.close();
        cache.close();
    }
}
