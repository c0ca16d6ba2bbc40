package dev.heartwood.jmh;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.BranchStorage;
import dev.heartwood.engine.branch.BranchWriter;
import dev.heartwood.engine.branch.WriteMode;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.cache.PageCache;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.IoQueue;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.util.Arrays;
import java.util.SplittableRandom;

/** What the benchmarks of branches stand on: a cache over a file in native memory, and keys as YCSB makes them. */
final class BranchStore implements AutoCloseable {
    static final int KEY_BYTES = 24;
    static final int VALUE_BYTES = 100;

    final MemoryPool pool;
    final Epochs epochs = new Epochs();
    final PageCache cache;
    final CachedFile file;
    final BranchStorage storage;
    private final ExtentAllocator extents;
    private long nextId = 1;

    BranchStore(long fileBytes, long cacheBytes) {
        pool = MemoryPool.open(Long.highestOneBit(fileBytes + cacheBytes + (64L << 20)) * 2);
        cache = new PageCache(pool, cacheBytes, epochs);
        NativeDevice device = new NativeDevice(pool.allocate(fileBytes), fileBytes);
        file = cache.attach(device, 1);
        extents = new ExtentAllocator(device, fileBytes, 0);
        storage = new BranchStorage(file, extents, pool, pool, 1, freed -> () -> {
            for (int extent : freed) {
                file.discard(extent * 32L, 32);
                extents.free(extent);
            }
        });
    }

    /** {@code count} keys in order, one after the other at the address returned: "user" and the 20 digits of a hash. */
    static long keys(MemoryPool pool, int count, long seed) {
        long[] hashes = new long[count];
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < count; i++) {
            hashes[i] = random.nextLong() >>> 1;
        }
        Arrays.sort(hashes);
        long keys = pool.allocate((long) count * KEY_BYTES);
        for (int i = 0; i < count; i++) {
            long key = keys + (long) i * KEY_BYTES;
            Memory.putInt(key, 'u' | 's' << 8 | 'e' << 16 | 'r' << 24);
            long rest = hashes[i];
            for (int digit = KEY_BYTES - 1; digit >= 4; digit--) {
                Memory.putByte(key + digit, (int) ('0' + rest % 10));
                rest /= 10;
            }
        }
        return keys;
    }

    Branch write(long keys, int count, WriteMode mode) {
        BranchWriter writer = new BranchWriter(storage, nextId++, mode);
        for (int i = 0; i < count; i++) {
            writer.add(keys + (long) i * KEY_BYTES, KEY_BYTES, 0, Entries.PUT, keys, VALUE_BYTES);
        }
        return writer.finish();
    }

    BranchWriter writer(WriteMode mode) {
        return new BranchWriter(storage, nextId++, mode);
    }

    @Override
    public void close() {
        file.close();
        cache.close();
        pool.close();
    }

    /** A file in native memory: transfers are copies. */
    private record NativeDevice(long memory, long bytes) implements BlockDevice {
        @Override
        public String name() {
            return "memory";
        }

        @Override
        public long size() {
            return bytes;
        }

        @Override
        public void read(long position, long address, int length) {
            Memory.copy(memory + position, address, length);
        }

        @Override
        public void write(long position, long address, int length) {
            Memory.copy(address, memory + position, length);
        }

        @Override
        public void writePages(long position, long[] addresses, int count) {
            for (int i = 0; i < count; i++) {
                write(position + (long) i * ALIGNMENT, addresses[i], ALIGNMENT);
            }
        }

        @Override
        public void sync() {}

        @Override
        public void allocate(long size) {}

        @Override
        public void discard(long position, long length) {}

        @Override
        public IoQueue newQueue(int depth) {
            return new CopyQueue(this, depth, new java.util.ArrayDeque<>());
        }

        @Override
        public long bytesRead() {
            return 0;
        }

        @Override
        public long bytesWritten() {
            return 0;
        }

        @Override
        public void close() {}
    }

    private record CopyQueue(NativeDevice device, int depth, java.util.ArrayDeque<Long> done) implements IoQueue {
        @Override
        public int pending() {
            return done.size();
        }

        @Override
        public void read(long position, long address, int length, long tag) {
            device.read(position, address, length);
            done.add(tag);
        }

        @Override
        public void write(long position, long address, int length, long tag) {
            device.write(position, address, length);
            done.add(tag);
        }

        @Override
        public void submit() {}

        @Override
        public long await() {
            return done.remove();
        }

        @Override
        public long failedTag() {
            return 0;
        }

        @Override
        public void close() {
            done.clear();
        }
    }
}
