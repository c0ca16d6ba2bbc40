package dev.heartwood.engine.read;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.call.EntryResolver;
import dev.heartwood.engine.call.Operation;
import dev.heartwood.engine.call.StoreCalls;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.write.WritePath;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Reads the value of one key, in the current state or a snapshot's. Thread-safe; a call runs in the epoch of its operation.
 *
 * <p>Of a key with merge operands these are gathered, and left with the operation ({@link Operation#takeOperands}): there is no value then, until
 * they are {@linkplain #applied applied}. The operator may be long about it, or read by calls of its own, so this call is to have ended before.
 */
public final class PointReads {
    /*
     * A read that finds no frame for a page, because operations under way hold back what was evicted, cannot wait in its
     * epoch: it may be holding back theirs. It leaves the epoch until all of them have ended, and begins again.
     */
    private static final int ATTEMPTS_MAX = 16;

    private final ReadPath read;
    private final WritePath write;
    private final LiveSnapshots live;
    private final StoreCalls calls;

    public PointReads(StoreCalls calls, ReadPath read, WritePath write, LiveSnapshots live) {
        this.calls = calls;
        this.read = read;
        this.write = write;
        this.live = live;
    }

    /**
     * The value of a key, on the heap; null when there is none, or the search has begun a read instead of waiting for it ({@link
     * dev.heartwood.engine.base.FoundEntry#hasBegun}).
     *
     * @param state null is the current state
     */
    byte[] get(Operation operation, SnapshotState state, long keyAddress, int keyLength) {
        for (int attempt = 1; ; attempt++) {
            try {
                return find(operation, state, keyAddress, keyLength) && !operation.found.hasBegun
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
        leaveOperands(operation, state, keyAddress, keyLength);
        return null;
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
        leaveOperands(operation, state, keyAddress, keyLength);
        return -1;
    }

    private byte[] value(Operation operation, SnapshotState state, long keyAddress, int keyLength) {
        FoundEntry found = operation.found;
        if (found.kind == Entries.PUT) {
            byte[] value = new byte[found.valueLength];
            copy(found, MemorySegment.ofArray(value), value.length);
            return value;
        }
        leaveOperands(operation, state, keyAddress, keyLength);
        return null;
    }

    private static void copy(FoundEntry found, MemorySegment to, long length) {
        if (found.largeValues != null) {
            found.largeValues.read(found.largePosition, to, 0, length);
        } else {
            Memory.copyTo(found.valueAddress, to, 0, length);
        }
    }

    /** What operands come to; null when there is no value. After the call that gathered them has ended. */
    byte[] applied(EntryResolver.Operands operands) {
        return operands.applied(read.operator());
    }

    /** Of what was found and is no value: gathers operands down to the first value, with a cursor, which locks what it reads. */
    private void leaveOperands(Operation operation, SnapshotState state, long keyAddress, int keyLength) {
        if (operation.found.kind == Entries.DELETE) {
            return;
        }
        // To its end: the call has operands to take after this, and a snapshot's state to give back.
        operation.use(calls);
        operation.outsideEpoch(
                state == null
                        ? gatheringLast(operation, keyAddress, keyLength)
                        : () -> operation.leave(gather(state, keyAddress, keyLength)));
    }

    /** A task that gives back the state of now: nothing fails between this and its beginning. */
    private Runnable gatheringLast(Operation operation, long keyAddress, int keyLength) {
        SnapshotState seen = SnapshotState.open(read, write, live);
        try {
            return () -> operation.leave(gatherLast(seen, keyAddress, keyLength));
        } catch (RuntimeException | Error e) {
            seen.release();
            throw e;
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
