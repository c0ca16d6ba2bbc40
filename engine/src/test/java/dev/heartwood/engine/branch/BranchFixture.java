package dev.heartwood.engine.branch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.base.FoundEntry.Waits;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.cache.PageCache;
import dev.heartwood.engine.device.ArrayDevice;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** A store's file in memory with its cache, and what tests do with branches on it. */
final class BranchFixture implements AutoCloseable {
    static final long STORE_ID = 7;
    private static final int SCRATCH_BYTES = 2 << 20;

    final ArrayDevice device = new ArrayDevice();
    final MemoryPool pool;
    final ExtentAllocator extents;
    final Epochs epochs = new Epochs();
    final PageCache cache;
    final CachedFile file;
    final BranchStorage storage;
    final long scratch;
    private long nextId = 1;

    /** Blocks of the pool, and their sizes. */
    private final Map<Long, Long> taken = new HashMap<>();

    BranchFixture() {
        this(4 << 20);
    }

    BranchFixture(long cacheBytes) {
        pool = MemoryPool.open(256L << 20);
        cache = new PageCache(pool, cacheBytes, epochs);
        file = cache.attach(device, STORE_ID);
        extents = new ExtentAllocator(device, 4L << 30, 1);
        storage = new BranchStorage(file, extents, pool, pool, STORE_ID, released -> () -> free(released));
        scratch = pool.allocate(SCRATCH_BYTES);
    }

    /** Takes all that the pool has left, until the end. */
    void takeMemory() {
        for (long bytes = pool.capacity(); bytes >= MemoryPool.BLOCK_BYTES_MIN; ) {
            long block = pool.allocate(bytes);
            if (block == 0) {
                bytes /= 2;
            } else {
                taken.put(block, bytes);
            }
        }
    }

    private void free(int[] released) {
        for (int extent : released) {
            file.discard(extent * 32L, 32);
            extents.free(extent);
        }
    }

    /** One message, as tests know it. */
    record Entry(byte[] key, long sequence, byte kind, byte[] value) {
        static final Comparator<Entry> ORDER = Comparator.comparing(Entry::key, Arrays::compareUnsigned)
                .thenComparing(Entry::sequence, Comparator.reverseOrder());

        @Override
        public String toString() {
            String name = key.length > 40 ? key.length + " bytes, hash " + Arrays.hashCode(key) : Arrays.toString(key);
            return name + "@" + sequence + " kind " + kind + ", value of " + value.length + " hash "
                    + Arrays.hashCode(value);
        }
    }

    Branch write(List<Entry> entries) {
        return write(entries, WriteMode.CACHED);
    }

    Branch write(List<Entry> entries, WriteMode mode) {
        BranchWriter writer = new BranchWriter(storage, nextId++, mode);
        for (Entry entry : entries) {
            add(writer, entry);
        }
        return writer.finish();
    }

    void add(BranchWriter writer, Entry entry) {
        Memory.copyFrom(entry.key, 0, scratch, entry.key.length);
        long value = scratch + (128 << 10);
        Memory.copyFrom(entry.value, 0, value, entry.value.length);
        writer.add(scratch, entry.key.length, entry.sequence, entry.kind, value, entry.value.length);
    }

    long newId() {
        return nextId++;
    }

    /** Entries of different keys in order, with values of one length. */
    static List<Entry> entries(int count, int valueBytes) {
        Random random = new Random(valueBytes);
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] value = new byte[valueBytes];
            random.nextBytes(value);
            entries.add(new Entry(bytes("key%08d".formatted(i)), 1, Entries.PUT, value));
        }
        return entries;
    }

    /** The key in native memory, until the next call. */
    long key(byte[] key) {
        Memory.copyFrom(key, 0, scratch, key.length);
        return scratch;
    }

    /** What a point search finds, or null. */
    Entry find(Branch branch, byte[] key, long snapshot) {
        int slot = epochs.enter();
        try {
            return findInEpoch(branch, key, snapshot);
        } finally {
            epochs.exit(slot);
        }
    }

    /** Whether the point search for an entry that is there had to read the device. */
    boolean isFromDevice(Branch branch, Entry entry) {
        return search(branch, entry, Waits.FOR_ALL, false).isFromDevice;
    }

    /** What a point search for an entry that is there came to, or that it has begun a read; the value is not readable any more. */
    FoundEntry search(Branch branch, Entry entry, Waits waits, boolean wasBegun) {
        int slot = epochs.enter();
        try {
            FoundEntry found = newFound();
            found.begin(waits, wasBegun);
            assertTrue(BranchReader.find(file, branch, key(entry.key), entry.key.length, Long.MAX_VALUE, found));
            return found;
        } finally {
            epochs.exit(slot);
        }
    }

    private FoundEntry newFound() {
        FoundEntry found = new FoundEntry();
        found.room = scratch + SCRATCH_BYTES - FoundEntry.ROOM_BYTES;
        return found;
    }

    private Entry findInEpoch(Branch branch, byte[] key, long snapshot) {
        FoundEntry found = newFound();
        if (!BranchReader.find(file, branch, key(key), key.length, snapshot, found)) {
            return null;
        }
        byte[] value = new byte[found.valueLength];
        if (found.largeValues == null) {
            Memory.copyTo(found.valueAddress, value, 0, value.length);
        } else {
            found.largeValues.read(
                    found.largePosition, java.lang.foreign.MemorySegment.ofArray(value), 0, value.length);
        }
        return new Entry(key, found.sequence, found.kind, value);
    }

    static Entry entry(EntryCursor cursor) {
        byte[] key = Memory.bytes(cursor.keyAddress(), cursor.keyLength());
        byte[] value = cursor.valueLength() == 0
                ? new byte[0]
                : Memory.bytes(cursor.valueAddress(), cursor.valueLength());
        return new Entry(key, cursor.sequence(), cursor.kind(), value);
    }

    static List<Entry> forward(EntryCursor cursor) {
        List<Entry> entries = new ArrayList<>();
        for (cursor.seekFirst(); cursor.valid(); cursor.next()) {
            entries.add(entry(cursor));
        }
        return entries;
    }

    static List<Entry> backward(EntryCursor cursor) {
        List<Entry> entries = new ArrayList<>();
        for (cursor.seekLast(); cursor.valid(); cursor.previous()) {
            entries.add(entry(cursor));
        }
        return entries.reversed();
    }

    static void assertSame(List<Entry> expected, List<Entry> actual, String what) {
        assertEquals(expected.size(), actual.size(), what);
        for (int i = 0; i < expected.size(); i++) {
            assertSame(expected.get(i), actual.get(i), what + ", entry " + i);
        }
    }

    static void assertSame(Entry expected, Entry actual, String what) {
        boolean same = expected == null || actual == null
                ? expected == actual
                : Arrays.equals(expected.key, actual.key)
                        && expected.sequence == actual.sequence
                        && expected.kind == actual.kind
                        && Arrays.equals(expected.value, actual.value);
        if (!same) {
            throw new AssertionError(what + ": expected " + expected + ", found " + actual);
        }
    }

    static byte[] bytes(String text) {
        return text.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
    }

    @Override
    public void close() {
        taken.forEach(pool::free);
        file.close();
        cache.close();
        pool.free(scratch, SCRATCH_BYTES);
        assertEquals(0, pool.allocated(), "memory left behind");
        pool.close();
    }
}
