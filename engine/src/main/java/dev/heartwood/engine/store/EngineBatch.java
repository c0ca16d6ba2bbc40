package dev.heartwood.engine.store;

import dev.heartwood.ClosedException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.TooLargeException;
import dev.heartwood.WriteBatch;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.call.KeyForm;
import dev.heartwood.engine.extent.Promised;
import dev.heartwood.engine.log.BatchPayload;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.write.BatchEntries;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.ConcurrentModificationException;
import java.util.Objects;

/** A batch, collected on the heap: kind, two lengths, key and value of each write, one after the other. Not thread-safe. */
final class EngineBatch implements WriteBatch {
    /** What the API says that each write takes beside its key and value. */
    private static final int HEADER_BYTES = 9;

    /** The longest array. */
    private static final int ENCODED_BYTES_MAX = Integer.MAX_VALUE - 8;

    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    private final boolean takesOperands;
    private final int encodedBytesMax;
    private byte[] data = new byte[256];
    private MemorySegment segment = MemorySegment.ofArray(data);
    private int used;
    private int count;
    private boolean holdsOperands;
    private long userBytes;
    private long payloadBytes;
    private boolean closed;

    EngineBatch(boolean takesOperands) {
        this(takesOperands, ENCODED_BYTES_MAX);
    }

    /** One that holds no more than {@code encodedBytesMax}, so that a test may find out what becomes of more. */
    EngineBatch(boolean takesOperands, int encodedBytesMax) {
        this.takesOperands = takesOperands;
        this.encodedBytesMax = encodedBytesMax;
    }

    @Override
    public void put(byte[] key, byte[] value) {
        put(Arguments.segment(key, "key"), Arguments.segment(value, "value"));
    }

    @Override
    public void put(MemorySegment key, MemorySegment value) {
        add(Entries.PUT, key, value);
    }

    @Override
    public void delete(byte[] key) {
        delete(Arguments.segment(key, "key"));
    }

    @Override
    public void delete(MemorySegment key) {
        add(Entries.DELETE, key, NOTHING);
    }

    @Override
    public void merge(byte[] key, byte[] operand) {
        merge(Arguments.segment(key, "key"), Arguments.segment(operand, "operand"));
    }

    @Override
    public void merge(MemorySegment key, MemorySegment operand) {
        if (!takesOperands) {
            throw new UnsupportedOperationException("the store was opened without a merge operator");
        }
        add(Entries.MERGE, key, Objects.requireNonNull(operand, "operand"));
    }

    private void add(byte kind, MemorySegment key, MemorySegment value) {
        requireOpen();
        Limits.check(key.byteSize(), value.byteSize());
        long bytes = HEADER_BYTES + key.byteSize() + value.byteSize();
        if (userBytes + key.byteSize() + value.byteSize() > BATCH_BYTES_MAX) {
            throw new TooLargeException("batch", userBytes + key.byteSize() + value.byteSize(), BATCH_BYTES_MAX);
        }
        if (used + bytes > encodedBytesMax) {
            throw new TooLargeException("batch, with the lengths of its writes,", used + bytes, encodedBytesMax);
        }
        reserve((int) bytes);
        data[used] = kind;
        segment.set(INT, used + 1L, (int) key.byteSize());
        segment.set(INT, used + 5L, (int) value.byteSize());
        MemorySegment.copy(key, 0, segment, used + HEADER_BYTES, key.byteSize());
        MemorySegment.copy(value, 0, segment, used + HEADER_BYTES + key.byteSize(), value.byteSize());
        long userBytesThen = userBytes + key.byteSize() + value.byteSize();
        long payloadBytesThen = payloadBytes + BatchPayload.entryBytes((int) key.byteSize(), (int) value.byteSize());
        // From here on nothing is called, so nothing fails for want of stack: what is written has the length that it says.
        used += (int) bytes;
        count++;
        holdsOperands |= kind == Entries.MERGE;
        userBytes = userBytesThen;
        payloadBytes = payloadBytesThen;
    }

    private void reserve(int more) {
        if (data.length - used < more) {
            byte[] larger = Arrays.copyOf(data, (int) Math.min(ENCODED_BYTES_MAX, Math.max(2L * data.length, (long) used + more)));
            MemorySegment segmentOfLarger = MemorySegment.ofArray(larger);
            data = larger;
            segment = segmentOfLarger;
        }
    }

    /**
     * Writes the batch, which is not empty, in the form that the log stores to native memory, with the keys in theirs. Whatever another thread
     * does to the batch meanwhile, nothing is written beyond the room that there is, and what is returned is what was written: entries, each of
     * which {@link BatchPayload#next} takes.
     *
     * @param bytesMax how much room there is at {@code address}; {@link #payloadBytes} of before
     * @param mayMerge whether the store that takes it has a merge operator; who writes a batch that {@link #holdsOperands} has looked before
     * @throws ConcurrentModificationException when the room is not enough, say, or an entry is none that a log takes, as another thread has changed the batch
     */
    BatchEntries encode(long address, long bytesMax, KeyForm form, boolean mayMerge) {
        long to = address;
        long bytes = 0;
        int written = 0;
        byte[] from = data;
        MemorySegment segmentOfFrom = segment;
        int end = used;
        boolean grows = false;
        for (int at = 0; at < end; written++) {
            // Each is read once: what is stored is what was looked at.
            byte kind = from[at];
            int keyLength = segmentOfFrom.get(INT, at + 1L);
            int valueLength = segmentOfFrom.get(INT, at + 5L);
            requireUnchanged(Entries.isKind(kind)
                    && (mayMerge || kind != Entries.MERGE)
                    && (keyLength | valueLength) >= 0
                    && keyLength <= KeyValueStore.KEY_BYTES_MAX
                    && (valueLength == 0 || kind != Entries.DELETE)
                    && BatchPayload.entryBytes(keyLength, valueLength) <= address + bytesMax - to);
            to = BatchPayload.putHeader(to, kind, keyLength, valueLength);
            Memory.copyFrom(from, at + HEADER_BYTES, to, keyLength + valueLength);
            form.store(to, keyLength);
            to += keyLength + valueLength;
            bytes += keyLength + valueLength;
            grows |= kind != Entries.DELETE;
            at += HEADER_BYTES + keyLength + valueLength;
        }
        requireUnchanged(written > 0);
        return new BatchEntries(written, bytes, address, to - address, grows ? Promised.GROWTH : Promised.DELETES);
    }

    private static void requireUnchanged(boolean isAsBefore) {
        if (!isAsBefore) {
            throw new ConcurrentModificationException("the batch was changed by another thread while it was written");
        }
    }

    /** The length of what {@link #encode} writes. */
    long payloadBytes() {
        return payloadBytes;
    }

    @Override
    public int count() {
        return count;
    }

    @Override
    public long bytes() {
        return userBytes;
    }

    @Override
    public void clear() {
        requireOpen();
        empty();
    }

    private void empty() {
        used = 0;
        count = 0;
        holdsOperands = false;
        userBytes = 0;
        payloadBytes = 0;
    }

    void requireOpen() {
        if (closed) {
            throw new ClosedException("the batch");
        }
    }

    /** Whether a store without a merge operator must refuse it. */
    boolean holdsOperands() {
        return holdsOperands;
    }

    @Override
    public void close() {
        closed = true;
        empty();
        data = new byte[0];
        segment = NOTHING;
    }

    /** The limits of keys and values. */
    static final class Limits {
        private Limits() {}

        static void check(long keyBytes, long valueBytes) {
            if (keyBytes > KeyValueStore.KEY_BYTES_MAX) {
                throw new TooLargeException("key", keyBytes, KeyValueStore.KEY_BYTES_MAX);
            }
            if (valueBytes > KeyValueStore.VALUE_BYTES_MAX) {
                throw new TooLargeException("value", valueBytes, KeyValueStore.VALUE_BYTES_MAX);
            }
        }
    }
}
