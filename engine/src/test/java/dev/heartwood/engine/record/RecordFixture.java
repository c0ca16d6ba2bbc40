package dev.heartwood.engine.record;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.os.KeyHasher;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.nio.charset.StandardCharsets;

/** A record cache and the memory that its callers need. One thread. */
final class RecordFixture implements AutoCloseable {
    private static final int SCRATCH_BYTES = 8192;

    final Epochs epochs = new Epochs();
    final RecordCache cache;
    final StoreRecords store;
    private final MemoryPool pool = MemoryPool.open(SCRATCH_BYTES);
    private final long scratch = pool.allocate(SCRATCH_BYTES);

    /** What the cache can borrow of. */
    final MemoryPool lender = MemoryPool.open(1 << 20);

    RecordFixture(long bytes) {
        cache = new RecordCache(MemoryPool.open(bytes), lender, lender.capacity(), epochs);
        store = cache.store(true);
    }

    /** A reader found {@code value} in the tree. */
    void read(String key, String value) {
        read(store, store.ticket(), key, value);
    }

    void read(StoreRecords reader, long ticket, String key, String value) {
        Memory.copyFrom(bytes(key), 0, scratch, key.length());
        Memory.copyFrom(bytes(value), 0, scratch + key.length(), value.length());
        FoundEntry found = new FoundEntry();
        found.set(Entries.PUT, 7, value.isEmpty() ? 0 : scratch + key.length(), value.length());
        reader.offer(ticket, hash(key), scratch, key.length(), found);
    }

    void readTwice(String key, String value) {
        read(key, value);
        read(key, value);
    }

    /** What the cache says; null for nothing. */
    String find(String key) {
        return find(store, key);
    }

    String find(StoreRecords reader, String key) {
        Memory.copyFrom(bytes(key), 0, scratch, key.length());
        FoundEntry found = new FoundEntry();
        return reader.find(hash(key), scratch, key.length(), found)
                ? new String(Memory.bytes(found.valueAddress, found.valueLength), StandardCharsets.ISO_8859_1)
                : null;
    }

    void pack(String... keys) {
        StoreRecords.Packing packing = store.beginPacking();
        if (packing != null) {
            for (String key : keys) {
                // As a filter keeps it.
                packing.accept(hash(key) >>> RecordTable.HASH_SHIFT << RecordTable.HASH_SHIFT);
            }
            packing.finish();
        }
    }

    private long hash(String key) {
        Memory.copyFrom(bytes(key), 0, scratch, key.length());
        return KeyHasher.hash(scratch, key.length());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    @Override
    public void close() {
        cache.close();
        lender.close();
        pool.close();
    }
}
