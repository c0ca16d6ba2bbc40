package dev.heartwood;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A store as it was at one moment. Thread-safe. Must be closed; what it can see is kept on the device until then, and the
 * memory of recent writes that it sees only until somebody wants it. It ends with the store: after that, and after its own {@link #close}, every other call throws {@link ClosedException}.
 */
public interface Snapshot extends AutoCloseable {
    /** The value the key had, or null when it had none. */
    byte[] get(byte[] key);

    /** As {@link #get(byte[])}. */
    byte[] get(MemorySegment key);

    /** Copies the value the key had; see {@link KeyValueStore#get(MemorySegment, MemorySegment)}. */
    long get(MemorySegment key, MemorySegment destination);

    /** Shows the value the key had; see {@link KeyValueStore#get(MemorySegment, ValueConsumer)}. */
    boolean get(MemorySegment key, ValueConsumer consumer);

    /** As {@link #get(MemorySegment, ValueConsumer)}. */
    boolean get(byte[] key, ValueConsumer consumer);

    /** The values that many keys had; see {@link KeyValueStore#getAll}. Closing the snapshot beside it ends it, too. */
    List<byte[]> getAll(List<byte[]> keys);

    /** Whether the key had a value. */
    boolean contains(byte[] key);

    /** As {@link #contains(byte[])}. */
    boolean contains(MemorySegment key);

    /** A cursor over {@code range}; must be closed, before or after the snapshot. See {@link KeyValueStore#cursor(KeyRange)}. */
    Cursor cursor(KeyRange range);

    /** A cursor over all keys; must be closed. */
    default Cursor cursor() {
        return cursor(KeyRange.all());
    }

    /** Lets go of the snapshot. Idempotent. */
    @Override
    void close();
}
