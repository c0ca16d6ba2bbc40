package dev.heartwood.engine.read;

import dev.heartwood.KeyValueStore;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.call.Operation;
import dev.heartwood.engine.call.Operation.Copied;
import dev.heartwood.engine.call.StoreCalls;
import dev.heartwood.engine.os.KeyHasher;
import dev.heartwood.engine.trunk.TreeCursor;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * What a cursor walks, the entries of its view, and its place there; whoever needs the memory of it takes it from the cursor. Moves belong
 * to the cursor's thread, {@link #catchUp}, {@link #isMoving} and {@link #letGo} to anybody.
 */
public final class ViewWalk {
    /*
     * A move to the next entry in the same direction asks nothing of the environment, so it is no operation: it says that it is under
     * way, and looks then whether the store is closed; who closes the store says so, and looks then for moves that are under way.
     * All other moves are operations. A move may still begin after that, to find the store closed: who closes takes the cursor before
     * it lets go of what the tree cursor walks, and waits for such a move.
     *
     * Between moves nobody needs what the tree cursor walks: the key and the value that are shown are copies. So whoever wants memory of
     * memtables that the tree has by now may take it from a cursor at rest, and the next move looks the key up again. A move, however long,
     * gives it back by itself at the next key that it comes to, and looks that up. Writers wait for it: so a move waits for nobody while
     * it holds memtables, but a moment for memory for its runs (PathRuns.open), and then it fails. Where it waits for a call, as all calls
     * may be writers, or calls an operator, which may wait for who writes, it is paused, and others may take what it walks as from a cursor
     * at rest.
     *
     * Shared field              read    written   guarded by
     * entries, held, isPlaced   plain   plain     use: whoever moves the cursor, or has it let go
     */
    private final StoreCalls calls;
    private final ReadPath read;
    private final SnapshotState state;
    private final CursorUse use = new CursorUse();
    private final TreeCursor entries;
    /** What the tree cursor walks, with a reference; null when it was let go of. */
    private ViewSources held;
    /** Whether the tree cursor has been to the place where the cursor stands, since it last let go of what it walked. */
    private boolean isPlaced;

    /** Takes over a reference to {@code held}, which {@code entries} walks; whoever uses this holds one to {@code state}. */
    public ViewWalk(StoreCalls calls, ReadPath read, SnapshotState state, ViewSources held, TreeCursor entries) {
        this.calls = calls;
        this.read = read;
        this.state = state;
        this.held = held;
        this.entries = entries;
    }

    /** The tree cursor, within a move: where {@link #isPlaced} says so it stands where it was left, else it is to be placed. */
    TreeCursor entries() {
        return entries;
    }

    /** The last sequence number that the view sees. */
    long sequence() {
        return state.sequence();
    }

    /** Whether the tree cursor is in its place in what the view reads now. */
    public boolean canStep() {
        return isPlaced && isCurrent();
    }

    /** Whether what it walks is what the view reads now. */
    boolean isCurrent() {
        return held == state.sources();
    }

    /** Whether the tree cursor is in its place. */
    boolean isPlaced() {
        return isPlaced;
    }

    /** Begins a move; {@link #endMove} must follow. Refused when another one is under way, or the cursor was closed from outside. */
    public void beginMove() {
        while (!use.tryBeginMove()) {
            calls.requireOpen();
            use.awaitRest();
        }
        read.noteAsked();
    }

    /** Whoever came meanwhile to have the cursor let go of what it walks has passed it over, as a rule. */
    public void endMove() {
        try {
            leaveOld();
        } finally {
            use.endMove();
        }
    }

    /** From now on others may let go of what is walked, until {@link #resume}; within a move. */
    void pause() {
        use.pause();
    }

    void resume() {
        use.resume();
    }

    /** Lets go of what is walked; within a move. */
    void leave() {
        ViewSources left = held;
        held = null;
        isPlaced = false;
        try {
            entries.leave();
        } finally {
            left.release();
        }
    }

    private void leaveOld() {
        if (held != null && !isCurrent()) {
            leave();
        }
    }

    /** To the last entry of all. */
    void seekLast() {
        Operation operation = enter(Copied.KEY_SOUGHT, 0);
        try {
            entries.seekLast();
            isPlaced = true;
        } finally {
            operation.end();
        }
    }

    /** To the first entry at or after {@code target}. */
    void seek(byte[] target, int length) {
        int telling = telling(length);
        Operation operation = enter(Copied.KEY_SOUGHT, telling);
        try {
            entries.seek(operation.copy(MemorySegment.ofArray(target).asSlice(0, telling)), telling);
            isPlaced = true;
        } finally {
            operation.end();
        }
    }

    /** To the last entry before {@code target}. */
    void seekBefore(byte[] target, int length) {
        int telling = telling(length);
        Operation operation = enter(Copied.KEY_SOUGHT, telling);
        try {
            entries.seekBefore(operation.copy(MemorySegment.ofArray(target).asSlice(0, telling)), telling);
            isPlaced = true;
        } finally {
            operation.end();
        }
    }

    /** To the last entry of {@code target}, or the one before. */
    void seekUpTo(byte[] target, int length) {
        // The least key after the target is the target with a zero byte appended.
        byte[] after = Arrays.copyOf(target, length + 1);
        after[length] = 0;
        seekBefore(after, after.length);
    }

    /** How much of a place tells where it is among keys: all of what is longer than any key comes before, or none. */
    private static int telling(int length) {
        return Math.min(length, KeyValueStore.KEY_BYTES_MAX + 1);
    }

    /** What the filters of a store with groups know a group by; anything for one that is longer than any key. */
    public long hash(byte[] group) {
        int telling = telling(group.length);
        Operation operation = enter(Copied.GROUP, telling);
        try {
            return KeyHasher.hash(operation.copy(MemorySegment.ofArray(group).asSlice(0, telling)), telling);
        } finally {
            operation.end();
        }
    }

    /** From now on it is enough to find the keys of one group; see {@link TreeCursor#enterGroup}. */
    public void enterGroup(long hash, Span keys) {
        entries.enterGroup(hash, keys);
    }

    /** Begins an operation of a move, with room for a key, in which the tree cursor walks what the view reads now. */
    private Operation enter(Copied copied, int keyBytes) {
        Operation operation = begin(copied, keyBytes);
        try {
            if (!isCurrent()) {
                walkCurrent();
            }
            return operation;
        } catch (RuntimeException | Error e) {
            operation.end();
            throw e;
        }
    }

    private Operation begin(Copied copied, int keyBytes) {
        pause();
        try {
            // Who closes the store may wait for this move, and whoever has an operation for who closes the store.
            calls.requireOpen();
            Operation operation = calls.beginOutsideEpoch();
            try {
                calls.require(operation, copied, keyBytes);
                return operation;
            } catch (RuntimeException | Error e) {
                operation.end();
                throw e;
            }
        } finally {
            resume();
        }
    }

    private void walkCurrent() {
        if (held != null) {
            leave();
        }
        ViewSources now = state.retainSources();
        try {
            entries.walk(now.version(), now.memtableCursors(state.sequence()));
        } catch (RuntimeException | Error e) {
            now.release();
            throw e;
        }
        held = now;
    }

    /** Whether a move is under way. By any thread. */
    public boolean isMoving() {
        return use.isMoving();
    }

    /** Lets go of what is walked if the view reads something else by now, unless a move needs it. By any thread. */
    public void catchUp() {
        int before = use.take();
        if (before != CursorUse.NOT_TAKEN) {
            try {
                leaveOld();
            } finally {
                use.giveBack(before);
            }
        }
    }

    /** Lets no move begin any more; returns false while one is under way. By the cursor's thread. */
    public boolean close() {
        return use.takeToClose();
    }

    /**
     * Lets go of what is walked; called once, by the store, whose calls see by now whether it is closed. A move that finds it closed has
     * said before that it is under way, and waits for nobody: so it is waited for.
     */
    public void letGo() {
        use.takeToLetGo();
        try {
            if (held != null) {
                leave();
            }
        } finally {
            use.closed();
        }
    }
}
