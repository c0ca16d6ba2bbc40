package dev.heartwood.engine.store;

import dev.heartwood.Cursor;
import dev.heartwood.KeyRange;
import dev.heartwood.Snapshot;
import dev.heartwood.engine.call.KeyForm;
import dev.heartwood.engine.call.Operation;
import dev.heartwood.engine.call.StoreCalls;
import dev.heartwood.engine.read.DeadWalk;
import dev.heartwood.engine.read.ReadCalls;
import dev.heartwood.engine.read.ReadPath;
import dev.heartwood.engine.read.SnapshotHold;
import dev.heartwood.engine.read.SnapshotState;
import dev.heartwood.engine.read.ViewSources;
import dev.heartwood.engine.read.ViewWalk;
import dev.heartwood.engine.read.VisibleEntries;
import dev.heartwood.engine.trunk.TreeCursor;

/**
 * Opens the snapshots and cursors of a store, and lets go of what they hold when they are closed, or the store is. Keeps them in {@link
 * OpenViews}; whoever takes one out of there gives its references back, once. Thread-safe.
 */
final class StoreViews {
    private final StoreCalls calls;
    private final StoreParts parts;
    private final ReadPath read;
    private final ReadCalls reads;
    private final OpenViews open;
    private final KeyForm form;

    StoreViews(StoreCalls calls, StoreParts parts, ReadCalls reads, OpenViews open, KeyForm form) {
        this.calls = calls;
        this.parts = parts;
        this.read = parts.read();
        this.reads = reads;
        this.open = open;
        this.form = form;
    }

    /** The form of stored keys. */
    KeyForm form() {
        return form;
    }

    /** {@link dev.heartwood.StoreOptions#groupSuffixBytes}. */
    int groupSuffixBytes() {
        return parts.options().groupSuffixBytes();
    }

    Snapshot snapshot() {
        Operation operation = calls.begin();
        SnapshotState state = null;
        try {
            state = openState();
            SnapshotHold hold = new SnapshotHold(state);
            EngineSnapshot snapshot = new EngineSnapshot(reads, this, hold);
            open.add(hold, state);
            return snapshot;
        } catch (RuntimeException | Error e) {
            if (state != null) {
                state.release();
            }
            throw e;
        } finally {
            operation.end();
        }
    }

    /** A cursor over a snapshot; null is the current state. */
    Cursor cursor(SnapshotHold snapshot, KeyRange range) {
        Operation operation = calls.begin();
        SnapshotState state = null;
        ViewSources held = null;
        ViewWalk walk = null;
        try {
            form.requireOrder(range, "a cursor over a range");
            state = snapshot == null ? openState() : snapshot.enter();
            held = state.retainSources();
            TreeCursor entries = held.entries(read, state.sequence());
            walk = new ViewWalk(calls, read, state, held, entries);
            EngineCursor cursor = new EngineCursor(
                    calls,
                    this,
                    state,
                    walk,
                    new VisibleEntries(walk, read.operator(), dead(state), range.from(), range.to()),
                    range);
            read.noteAsked();
            parts.background().scanned();
            open.add(walk, state);
            return cursor;
        } catch (RuntimeException | Error e) {
            if (walk != null) {
                walk.letGo();
            } else if (held != null) {
                held.release();
            }
            if (state != null) {
                state.release();
            }
            throw e;
        } finally {
            operation.end();
        }
    }

    private DeadWalk dead(SnapshotState state) {
        return new DeadWalk(parts.write().dead(), state.view());
    }

    private SnapshotState openState() {
        return SnapshotState.open(read, parts.write(), parts.live());
    }

    /** Lets go of what a snapshot or a cursor holds, unless the closing of the store has done so. */
    void release(Object holder, SnapshotState state) {
        Operation operation = calls.beginAnyway();
        try {
            if (!calls.isClosed() && open.remove(holder)) {
                letGo(holder, state);
            }
        } finally {
            operation.end();
        }
    }

    /** Lets go of all, and names what was not closed; no call is under way, and none begins. */
    void closeAll() {
        open.closeAll(parts.files().directory().toString(), StoreViews::letGo);
    }

    private static void letGo(Object holder, SnapshotState state) {
        try {
            if (holder instanceof ViewWalk walk) {
                walk.letGo();
            }
        } finally {
            state.release();
        }
    }
}
