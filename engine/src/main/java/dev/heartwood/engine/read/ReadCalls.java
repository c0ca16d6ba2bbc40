package dev.heartwood.engine.read;

import dev.heartwood.KeyValueStore;
import dev.heartwood.ValueConsumer;
import dev.heartwood.engine.base.FoundEntry.Waits;
import dev.heartwood.engine.call.EntryResolver;
import dev.heartwood.engine.call.KeyForm;
import dev.heartwood.engine.call.Operation;
import dev.heartwood.engine.call.StoreCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/**
 * The calls that read one key, of a store and of its snapshots: checks what it is given, copies the key to native memory in its stored form,
 * and hands it to {@link PointReads}. Stateless but for that. Thread-safe.
 */
public final class ReadCalls {
    /** In the place of a value that is still to be read. */
    static final byte[] UNREAD = new byte[0];

    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

    /*
     * A snapshot's state is taken once a call waits for nothing more before it reads: who closes the snapshot leaves the memtables to the
     * call.
     */
    private final StoreCalls calls;
    private final PointReads reads;
    private final KeyForm form;
    private final boolean overlap;

    /** Of a store whose device has reads under way together, or does one after the other. */
    public ReadCalls(StoreCalls calls, PointReads reads, KeyForm form, boolean overlap) {
        this.calls = calls;
        this.reads = reads;
        this.form = form;
        this.overlap = overlap;
    }

    /** Refuses what reads nothing, too, when the store is closed. */
    void requireOpen() {
        calls.requireOpen();
    }

    /** Whether reads of the device that are begun are under way together. */
    boolean overlap() {
        return overlap;
    }

    /** The value of a key in the current state; null when there is none. */
    public byte[] get(byte[] key) {
        Operation operation = calls.begin();
        EntryResolver.Operands operands;
        try {
            if (isTooLong(key.length)) {
                return null;
            }
            calls.requireForRead(operation, key.length);
            long keyAddress = form.copy(operation, key);
            byte[] value = reads.get(operation, null, keyAddress, key.length);
            operands = take(operation);
            if (operands == null) {
                return value;
            }
        } finally {
            operation.end();
        }
        return apply(operands);
    }

    /** What the call has left to be applied when it has ended; null for nothing. */
    private EntryResolver.Operands take(Operation operation) {
        EntryResolver.Operands operands = operation.takeOperands();
        if (operands != null) {
            calls.applies();
        }
        return operands;
    }

    /** Applies what was taken. */
    private byte[] apply(EntryResolver.Operands operands) {
        try {
            return reads.applied(operands);
        } finally {
            calls.applied();
        }
    }

    /** As {@link #get(byte[])} in a snapshot; null is the current state. */
    public byte[] get(SnapshotHold snapshot, MemorySegment key) {
        return get(snapshot, key, Waits.FOR_ALL, false);
    }

    /**
     * As the other method, or {@link #UNREAD} where the call came to a read of the device that it does not wait for, and has begun it.
     *
     * @param wasBegun whether an earlier call has done so
     */
    public byte[] get(SnapshotHold snapshot, MemorySegment key, Waits waits, boolean wasBegun) {
        Operation operation = calls.begin();
        SnapshotState state = null;
        EntryResolver.Operands operands = null;
        try {
            if (isTooLong(key.byteSize())) {
                return null;
            }
            int length = (int) key.byteSize();
            calls.requireForRead(operation, length);
            state = stateOf(snapshot);
            long keyAddress = form.copy(operation, key);
            operation.found.begin(waits, wasBegun);
            byte[] value = reads.get(operation, state, keyAddress, length);
            operands = take(operation);
            if (operands == null) {
                return operation.found.hasBegun ? UNREAD : value;
            }
        } finally {
            end(operation, state, operands);
        }
        return apply(operands);
    }

    /** Copies as much of a value as fits, in a snapshot; null is the current state. Returns the value's length, or -1 when there is none. */
    public long get(SnapshotHold snapshot, MemorySegment key, MemorySegment destination) {
        Operation operation = calls.begin();
        SnapshotState state = null;
        EntryResolver.Operands operands = null;
        try {
            if (destination.isReadOnly()) {
                throw new IllegalArgumentException("a destination that is read-only");
            }
            if (isTooLong(key.byteSize())) {
                return -1;
            }
            int length = (int) key.byteSize();
            calls.requireForRead(operation, length);
            state = stateOf(snapshot);
            long keyAddress = form.copy(operation, key);
            long valueLength = reads.get(operation, state, keyAddress, length, destination);
            operands = take(operation);
            if (operands == null) {
                return valueLength;
            }
        } finally {
            end(operation, state, operands);
        }
        byte[] value = apply(operands);
        if (value == null) {
            return -1;
        }
        MemorySegment.copy(MemorySegment.ofArray(value), 0, destination, 0, Math.min(value.length, destination.byteSize()));
        return value.length;
    }

    /** Whether a key has a value, in a snapshot; null is the current state. */
    public boolean contains(SnapshotHold snapshot, MemorySegment key) {
        return get(snapshot, key, NOTHING) >= 0;
    }

    /** Shows the value of a key, in a snapshot, to {@code consumer}; false when there is none. Null is the current state. */
    public boolean get(SnapshotHold snapshot, MemorySegment key, ValueConsumer consumer) {
        Objects.requireNonNull(consumer, "consumer");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = get(snapshot, key, arena);
            if (value == null) {
                return false;
            }
            // After the call has ended: however long the consumer takes, it holds nothing back.
            consumer.accept(value.asReadOnly());
            return true;
        }
    }

    private MemorySegment get(SnapshotHold snapshot, MemorySegment key, Arena arena) {
        Operation operation = calls.begin();
        SnapshotState state = null;
        EntryResolver.Operands operands = null;
        try {
            if (isTooLong(key.byteSize())) {
                return null;
            }
            int length = (int) key.byteSize();
            calls.requireForRead(operation, length);
            state = stateOf(snapshot);
            long keyAddress = form.copy(operation, key);
            MemorySegment found = reads.get(operation, state, keyAddress, length, arena);
            operands = take(operation);
            if (operands == null) {
                return found;
            }
        } finally {
            end(operation, state, operands);
        }
        byte[] value = apply(operands);
        return value == null ? null : arena.allocateFrom(ValueLayout.JAVA_BYTE, value);
    }

    /** Whether no key of this length can have been written. */
    private static boolean isTooLong(long keyBytes) {
        return keyBytes > KeyValueStore.KEY_BYTES_MAX;
    }

    private static SnapshotState stateOf(SnapshotHold snapshot) {
        return snapshot == null ? null : snapshot.enter();
    }

    /** Where that fails, as on a full Java heap, what was taken is not applied. */
    private void end(Operation operation, SnapshotState state, EntryResolver.Operands taken) {
        boolean isApplied = false;
        try {
            end(operation, state);
            isApplied = true;
        } finally {
            if (!isApplied && taken != null) {
                calls.applied();
            }
        }
    }

    private static void end(Operation operation, SnapshotState state) {
        try {
            if (state != null) {
                state.release();
            }
        } finally {
            operation.end();
        }
    }
}
