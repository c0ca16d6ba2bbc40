package dev.heartwood.engine.store;

import dev.heartwood.ClosedException;
import dev.heartwood.Cursor;
import dev.heartwood.KeyRange;
import dev.heartwood.Snapshot;
import java.lang.foreign.MemorySegment;

/** A snapshot: a reference to a pinned state. Thread-safe. */
final class EngineSnapshot implements Snapshot {
    private final EngineStore store;
    private final SnapshotState state;
    private boolean closed;

    EngineSnapshot(EngineStore store, SnapshotState state) {
        this.store = store;
        this.state = state;
    }

    @Override
    public byte[] get(byte[] key) {
        return get(MemorySegment.ofArray(key));
    }

    @Override
    public byte[] get(MemorySegment key) {
        requireOpen();
        return store.get(this, key);
    }

    @Override
    public long get(MemorySegment key, MemorySegment destination) {
        requireOpen();
        return store.get(this, key, destination);
    }

    @Override
    public Cursor cursor(KeyRange range) {
        requireOpen();
        return store.cursor(this, range);
    }

    private synchronized void requireOpen() {
        if (closed) {
            throw new ClosedException("the snapshot");
        }
    }

    /** The state with a reference for the call that is about to use it. */
    synchronized SnapshotState enter() {
        requireOpen();
        state.retain();
        return state;
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        store.released(this, state);
    }
}
