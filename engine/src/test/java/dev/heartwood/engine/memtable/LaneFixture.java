package dev.heartwood.engine.memtable;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;

/** A lane for records of a test, which stay in one chunk, and memory for one key besides. */
final class LaneFixture implements AutoCloseable {
    private static final int CHUNK_BYTES = 32 << 20;
    private static final int KEY_BYTES = 4096;

    final Lane lane = new Lane(0);
    private final MemoryPool pool = MemoryPool.open(64 << 20);
    private final long key = pool.allocate(KEY_BYTES);

    LaneFixture() {
        lane.addChunk(pool.allocate(CHUNK_BYTES), CHUNK_BYTES, 0);
    }

    /** Appends a record without a value and returns its address. */
    long append(byte[] bytes, long sequence) {
        return lane.append(sequence, Entries.PUT, load(bytes), bytes.length, 0, 0);
    }

    /** A key in native memory, until the next call. */
    long load(byte[] bytes) {
        Memory.copyFrom(bytes, 0, key, bytes.length);
        return key;
    }

    static byte[] key(long record) {
        long meta = Records.meta(record);
        return Memory.bytes(record + Records.keyOffset(meta), Records.keyLength(meta));
    }

    @Override
    public void close() {
        pool.close();
    }
}
