package dev.heartwood.engine.read;

import dev.heartwood.ClosedException;

/** The reference that an open snapshot has to its state, for calls to take theirs from until it is closed. Thread-safe, by its monitor. */
public final class SnapshotHold {
    private final SnapshotState state;
    private boolean closed;

    /** Takes over a reference to {@code state}, which the store gives back. */
    public SnapshotHold(SnapshotState state) {
        this.state = state;
    }

    /** Refuses a call once the snapshot is closed. */
    public synchronized void requireOpen() {
        if (closed) {
            throw new ClosedException("the snapshot");
        }
    }

    /** The state with a reference for the call that is about to use it. */
    public synchronized SnapshotState enter() {
        requireOpen();
        state.retain();
        return state;
    }

    /** Lets no call in any more; returns whether any could come in before. */
    public synchronized boolean close() {
        boolean wasOpen = !closed;
        closed = true;
        return wasOpen;
    }

    public SnapshotState state() {
        return state;
    }
}
