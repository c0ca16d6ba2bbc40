package dev.heartwood.engine.store;

import dev.heartwood.ClosedException;

/** The reference that an open snapshot has to its state, for calls to take theirs from until it is closed. Thread-safe, by its monitor. */
final class SnapshotHold {
    private final SnapshotState state;
    private boolean closed;

    /** Takes over a reference to {@code state}, which the store gives back. */
    SnapshotHold(SnapshotState state) {
        this.state = state;
    }

    /** Refuses a call once the snapshot is closed. */
    synchronized void requireOpen() {
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

    /** Lets no call in any more; returns whether any could come in before. */
    synchronized boolean close() {
        boolean wasOpen = !closed;
        closed = true;
        return wasOpen;
    }

    SnapshotState state() {
        return state;
    }
}
