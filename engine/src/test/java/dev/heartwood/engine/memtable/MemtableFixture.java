package dev.heartwood.engine.memtable;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.os.KeyHasher;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.util.ArrayList;
import java.util.List;

/** Lets a test thread talk to a memtable with arrays; every thread has its own. */
final class MemtableFixture implements AutoCloseable {
    /** An entry as a test sees it; compares by content in the text form. */
    record Seen(byte[] key, long sequence, byte kind, byte[] value) {
        @Override
        public String toString() {
            return java.util.HexFormat.of().formatHex(key) + "@" + sequence + ":" + kind + "="
                    + java.util.HexFormat.of().formatHex(value);
        }
    }

    static final int LENGTH_MAX = 1 << 17;

    final Memtable memtable;
    private final MemoryPool pool;
    private final long key;
    private final long value;
    private final FoundEntry found = new FoundEntry();

    MemtableFixture(Memtable memtable, MemoryPool scratch) {
        this.memtable = memtable;
        this.pool = scratch;
        this.key = scratch.allocate(2L * LENGTH_MAX);
        this.value = key + LENGTH_MAX;
    }

    boolean put(int lane, byte[] keyBytes, long sequence, byte[] valueBytes) {
        return insert(lane, keyBytes, sequence, Entries.PUT, valueBytes);
    }

    boolean insert(int lane, byte[] keyBytes, long sequence, byte kind, byte[] valueBytes) {
        if (!memtable.reserve(lane, keyBytes.length, valueBytes.length)) {
            return false;
        }
        insertReserved(lane, keyBytes, sequence, kind, valueBytes);
        return true;
    }

    void insertReserved(int lane, byte[] keyBytes, long sequence, byte kind, byte[] valueBytes) {
        Memory.copyFrom(valueBytes, 0, value, valueBytes.length);
        long hash = load(keyBytes);
        memtable.insert(lane, hash, key, keyBytes.length, sequence, kind, value, valueBytes.length);
    }

    void insertInBatch(long batch, byte[] keyBytes, long sequence, byte kind, byte[] valueBytes) {
        Memory.copyFrom(valueBytes, 0, value, valueBytes.length);
        long hash = load(keyBytes);
        memtable.insertInBatch(batch, hash, key, keyBytes.length, sequence, kind, value, valueBytes.length);
    }

    /** Null when there is none. */
    Seen find(byte[] keyBytes, long snapshot) {
        long hash = load(keyBytes);
        if (!memtable.find(hash, key, keyBytes.length, snapshot, found)) {
            return null;
        }
        return new Seen(
                keyBytes, found.sequence, found.kind, Memory.bytes(found.valueAddress, found.valueLength));
    }

    void seek(EntryCursor cursor, byte[] keyBytes) {
        load(keyBytes);
        cursor.seek(key, keyBytes.length);
    }

    void seekBefore(EntryCursor cursor, byte[] keyBytes) {
        load(keyBytes);
        cursor.seekBefore(key, keyBytes.length);
    }

    private long load(byte[] keyBytes) {
        Memory.copyFrom(keyBytes, 0, key, keyBytes.length);
        return KeyHasher.hash(key, keyBytes.length);
    }

    static Seen entry(EntryCursor cursor) {
        return new Seen(
                Memory.bytes(cursor.keyAddress(), cursor.keyLength()),
                cursor.sequence(),
                cursor.kind(),
                Memory.bytes(cursor.valueAddress(), cursor.valueLength()));
    }

    static List<String> forward(EntryCursor cursor) {
        List<String> all = new ArrayList<>();
        for (cursor.seekFirst(); cursor.valid(); cursor.next()) {
            all.add(entry(cursor).toString());
        }
        return all;
    }

    static List<String> backward(EntryCursor cursor) {
        List<String> all = new ArrayList<>();
        for (cursor.seekLast(); cursor.valid(); cursor.previous()) {
            all.add(entry(cursor).toString());
        }
        return all;
    }

    @Override
    public void close() {
        pool.free(key, 2L * LENGTH_MAX);
    }
}
