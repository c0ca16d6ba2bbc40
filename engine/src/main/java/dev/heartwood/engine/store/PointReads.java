package dev.heartwood.engine.store;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.os.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Reads the value of one key, in the current state or a snapshot's. Thread-safe; a call runs in the epoch of its operation. */
final class PointReads {
    /*
     * A read that finds no frame for a page, because operations under way hold back what was evicted, cannot wait in its
     * epoch: it may be holding back theirs. It leaves the epoch until all of them have ended, and begins again.
     */
    private static final int ATTEMPTS_MAX = 16;

    private final ReadPath read;
    private final WritePath write;
    private final LiveSnapshots live;
    private final StoreCalls calls;
    private final OpenViews views;

    PointReads(StoreCalls calls, OpenViews views, ReadPath read, WritePath write, LiveSnapshots live) {
        this.calls = calls;
        this.views = views;
        this.read = read;
        this.write = write;
        this.live = live;
    }

    /**
     * The value of a key, on the heap; null when there is none.
     *
     * @param state null is the current state
     */
    byte[] get(Operation operation, SnapshotState state, long keyAddress, int keyLength) {
        for (int attempt = 1; ; attempt++) {
            try {
                return find(operation, state, keyAddress, keyLength)
                        ? value(operation, state, keyAddress, keyLength)
                        : null;
            } catch (InsufficientMemoryException e) {
                awaitMemory(operation, attempt, e);
            }
        }
    }

    /**
     * Copies as much of a key's value as fits; returns its length, or -1 when there is none.
     *
     * @param state null is the current state
     */
    long get(Operation operation, SnapshotState state, long keyAddress, int keyLength, MemorySegment destination) {
        for (int attempt = 1; ; attempt++) {
            try {
                return find(operation, state, keyAddress, keyLength)
                        ? copyFound(operation, state, keyAddress, keyLength, destination)
                        : -1;
            } catch (InsufficientMemoryException e) {
                awaitMemory(operation, attempt, e);
            }
        }
    }

    /**
     * A copy of a key's value in memory of {@code arena}; null when there is none.
     *
     * @param state null is the current state
     */
    MemorySegment get(Operation operation, SnapshotState state, long keyAddress, int keyLength, Arena arena) {
        for (int attempt = 1; ; attempt++) {
            try {
                return find(operation, state, keyAddress, keyLength)
                        ? copyFound(operation, state, keyAddress, keyLength, arena)
                        : null;
            } catch (InsufficientMemoryException e) {
                awaitMemory(operation, attempt, e);
            }
        }
    }

    private MemorySegment copyFound(
            Operation operation, SnapshotState state, long keyAddress, int keyLength, Arena arena) {
        FoundEntry found = operation.found;
        if (found.kind == Entries.PUT) {
            MemorySegment copy = arena.allocate(found.valueLength);
            copy(found, copy, found.valueLength);
            return copy;
        }
        byte[] value = value(operation, state, keyAddress, keyLength);
        return value == null ? null : arena.allocateFrom(ValueLayout.JAVA_BYTE, value);
    }

    /** Whoever closes the store meanwhile waits for the call, which holds a snapshot's state until its end. */
    private void awaitMemory(Operation operation, int attempt, InsufficientMemoryException failure) {
        if (attempt == ATTEMPTS_MAX) {
            throw failure;
        }
        operation.use(calls);
        operation.awaitOthers();
        calls.requireOpen();
    }

    private boolean find(Operation operation, SnapshotState state, long keyAddress, int keyLength) {
        return state == null
                ? read.findNewest(operation, keyAddress, keyLength)
                : read.find(operation, state.sources(), keyAddress, keyLength, state.sequence());
    }

    private long copyFound(
            Operation operation, SnapshotState state, long keyAddress, int keyLength, MemorySegment destination) {
        FoundEntry found = operation.found;
        if (found.kind == Entries.PUT) {
            copy(found, destination, Math.min(found.valueLength, destination.byteSize()));
            return found.valueLength;
        }
        byte[] value = value(operation, state, keyAddress, keyLength);
        if (value == null) {
            return -1;
        }
        long fits = Math.min(value.length, destination.byteSize());
        MemorySegment.copy(MemorySegment.ofArray(value), 0, destination, 0, fits);
        return value.length;
    }

    private byte[] value(Operation operation, SnapshotState state, long keyAddress, int keyLength) {
        FoundEntry found = operation.found;
        if (found.kind == Entries.PUT) {
            byte[] value = new byte[found.valueLength];
            copy(found, MemorySegment.ofArray(value), value.length);
            return value;
        }
        return found.kind == Entries.DELETE ? null : mergedValue(operation, state, keyAddress, keyLength);
    }

    private static void copy(FoundEntry found, MemorySegment to, long length) {
        if (found.largeValues != null) {
            found.largeValues.read(found.largePosition, to, 0, length);
        } else {
            Memory.copyTo(found.valueAddress, to, 0, length);
        }
    }

    /** Gathers the operands down to the first value, with a cursor, which locks what it reads, and has them applied. */
    private byte[] mergedValue(Operation operation, SnapshotState state, long keyAddress, int keyLength) {
        byte[][] value = new byte[1][];
        if (state == null) {
            operation.outsideEpoch(calls, appliedToLast(value, keyAddress, keyLength));
        } else {
            // To its end, since the call gives the state back after this.
            operation.use(calls);
            operation.outsideEpoch(() -> value[0] = mergedValue(operation, state, gather(state, keyAddress, keyLength)));
        }
        return value[0];
    }

    /** A task that gives back the state of now: nothing fails between this and its beginning. */
    private Runnable appliedToLast(byte[][] value, long keyAddress, int keyLength) {
        SnapshotState seen = SnapshotState.open(read, write, live);
        try {
            return () -> value[0] = gatherLast(seen, keyAddress, keyLength).applied(read.operator());
        } catch (RuntimeException | Error e) {
            seen.release();
            throw e;
        }
    }

    /** The operator may be long about it, or wait for who writes: so what it was told is let go of before, or can be. */
    private byte[] mergedValue(Operation operation, SnapshotState state, EntryResolver.Operands operands) {
        try {
            views.addCall(operation, state);
            return operands.applied(read.operator());
        } finally {
            views.remove(operation);
        }
    }

    /** As {@link #gather}, and gives the state back. */
    private EntryResolver.Operands gatherLast(SnapshotState seen, long keyAddress, int keyLength) {
        try {
            return gather(seen, keyAddress, keyLength);
        } finally {
            seen.release();
        }
    }

    private EntryResolver.Operands gather(SnapshotState seen, long keyAddress, int keyLength) {
        byte[] key = Memory.bytes(keyAddress, keyLength);
        ViewSources sources = seen.retainSources();
        try (EntryCursor entries = sources.entries(read, seen.sequence())) {
            entries.seek(keyAddress, keyLength);
            while (entries.valid()
                    && entries.sequence() > seen.sequence()
                    && Memory.compare(entries.keyAddress(), entries.keyLength(), key) == 0) {
                entries.next();
            }
            return EntryResolver.gather(entries, key);
        } finally {
            sources.release();
        }
    }
}
