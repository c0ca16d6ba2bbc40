package dev.heartwood.engine.store;

import dev.heartwood.ClosedException;
import dev.heartwood.Cursor;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.os.KeyHasher;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.trunk.TreeCursor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A user's cursor: of the versions that the tree cursor walks it shows, for each key, what the snapshot sees. Belongs to one
 * thread at a time; a store that closes waits for its moves.
 */
final class EngineCursor implements Cursor {
    /*
     * Forwards, the tree cursor stands on the entry that is shown, or beyond it where operands were applied; the rest of the
     * key's versions is skipped by the next move. Backwards, it stands before the first version of the key that is shown. A change of
     * direction seeks.
     *
     * A move to the next entry in the same direction asks nothing of the environment, so it is no operation: it says that it is under
     * way, and looks then whether the store is closed; who closes the store says so, and looks then for moves that are under way.
     * All other moves are operations. A move may still begin after that, to find the store closed: who closes takes the cursor before
     * it lets go of what the tree cursor walks, and waits for such a move.
     *
     * Between moves nobody needs what the tree cursor walks: the key and the value that are shown are copies. So whoever wants memory of
     * memtables that the tree has by now may take it from a cursor at rest, and the next move looks the key up again. A move, however long,
     * gives it back by itself at the next key that it comes to, and looks that up. Writers wait for it: so a move waits for nobody while
     * it holds memtables. Where it waits for a call, as all calls may be writers, or calls an operator, which may wait for who writes, it is
     * PAUSED, and others may take what it walks as from a cursor at rest.
     *
     * Shared field          read       written                guarded by
     * use                   volatile   compareAndSet, release -
     * entries, held,        -          -                      use: whoever has set it to MOVING or LETTING_GO
     * isPlaced
     * all others            plain      plain                  the cursor's thread
     */
    private enum Position {
        BEFORE_FIRST,
        ON_FORWARDS,
        ON_BACKWARDS,
        AFTER_LAST,
        /** A move failed half way. */
        LOST
    }

    private static final int ANY = -1;

    private static final int AT_REST = 0;
    private static final int MOVING = 1;
    /** A move is under way that needs nothing of what it walks, and looks afterwards whether that is still there. */
    private static final int PAUSED = 2;
    /** Somebody else has the cursor let go of what it walks. */
    private static final int LETTING_GO = 3;

    private static final int CLOSED = 4;

    /** How long to sleep before looking again whether somebody else is done with the cursor. */
    private static final long LETTING_GO_NANOS = 20_000;

    private static final VarHandle USE;

    static {
        try {
            USE = MethodHandles.lookup().findVarHandle(EngineCursor.class, "use", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final EngineStore store;
    private final SnapshotState state;
    private final TreeCursor entries;
    /** What the tree cursor walks, with a reference; null when it was let go of. */
    private ViewSources held;

    /** Whether the tree cursor has been to the place where this one stands, since it last let go of what it walked. */
    private boolean isPlaced;

    private final byte[] rangeFrom;
    private final byte[] rangeTo;
    // The bounds of the range, or of the group that was entered within it.
    private byte[] from;
    private byte[] to;
    /** The length of the keys to be shown; {@link #ANY} for all. */
    private int lengthShown = ANY;
    private Position position = Position.BEFORE_FIRST;
    /** Whether the tree cursor stands on the entry that is shown. */
    private boolean isOnShown;
    // The stored form of the current key, and the key when somebody has asked for it in a store whose form is another.
    private byte[] key = new byte[64];
    private byte[] shownKey;
    private int keyLength;
    private byte[] value = new byte[256];
    private int valueLength;
    private final ArrayView keyView = new ArrayView();
    private final ArrayView valueView = new ArrayView();
    private boolean closed;

    private volatile int use;

    /** Takes over a reference to {@code state}, and one to {@code held}, which {@code entries} walks. */
    EngineCursor(EngineStore store, SnapshotState state, ViewSources held, TreeCursor entries, KeyRange range) {
        this.store = store;
        this.state = state;
        this.held = held;
        this.entries = entries;
        this.rangeFrom = range.from();
        this.rangeTo = range.to();
        this.from = rangeFrom;
        this.to = rangeTo;
    }

    @Override
    public boolean next() {
        beginMove();
        try {
            if (position == Position.ON_FORWARDS && canStep()) {
                store.requireOpen();
                position = Position.LOST;
                leaveShown();
                showForwards();
            } else {
                turnToNext();
            }
            return isOnEntry();
        } finally {
            endMove();
        }
    }

    @Override
    public boolean previous() {
        beginMove();
        try {
            if (position == Position.ON_BACKWARDS && canStep()) {
                store.requireOpen();
                position = Position.LOST;
                showBackwards();
            } else {
                turnToPrevious();
            }
            return isOnEntry();
        } finally {
            endMove();
        }
    }

    /** Whether the tree cursor is in its place in what the view reads now. */
    private boolean canStep() {
        return isPlaced && isCurrent();
    }

    private boolean isCurrent() {
        return held == state.sources();
    }

    private void beginMove() {
        if (closed) {
            throw new ClosedException("the cursor");
        }
        while (!USE.compareAndSet(this, AT_REST, MOVING)) {
            store.requireOpen();
            switch (use) {
                case MOVING, PAUSED ->
                        throw new IllegalStateException("the cursor is moved by another thread, or from within a move of its own");
                case CLOSED -> throw new ClosedException("the cursor");
                default -> Clock.SYSTEM.parkNanos(LETTING_GO_NANOS);
            }
        }
        store.noteAsked();
    }

    /** Whoever came meanwhile to have the cursor let go of what it walks has passed it over, as a rule. */
    private void endMove() {
        try {
            leaveOld();
        } finally {
            USE.setRelease(this, AT_REST);
        }
    }

    private void leaveOld() {
        if (held != null && !isCurrent()) {
            leave();
        }
    }

    /** Whether a move is under way. */
    boolean isMoving() {
        int now = use;
        return now == MOVING || now == PAUSED || now == LETTING_GO;
    }

    /** Lets go of what the tree cursor walks if the view reads something else by now, unless a move needs it. By any thread. */
    void catchUp() {
        int before = use;
        if (before != MOVING && before != LETTING_GO && USE.compareAndSet(this, before, LETTING_GO)) {
            try {
                leaveOld();
            } finally {
                USE.setRelease(this, before);
            }
        }
    }

    /** From now on others may let go of what the tree cursor walks; within a move. */
    private void pause() {
        USE.setRelease(this, PAUSED);
    }

    private void resume() {
        while (!USE.compareAndSet(this, PAUSED, MOVING)) {
            Clock.SYSTEM.parkNanos(LETTING_GO_NANOS);
        }
    }

    private void leave() {
        ViewSources left = held;
        held = null;
        isPlaced = false;
        try {
            entries.leave();
        } finally {
            left.release();
        }
    }

    private void turnToNext() {
        store.requireOpen();
        switch (depart()) {
            case BEFORE_FIRST -> seekForwards(from == null ? Keys.EMPTY : from);
            case ON_FORWARDS, ON_BACKWARDS -> {
                seekTo(key, keyLength);
                skipKey();
                showForwards();
            }
            case AFTER_LAST -> position = Position.AFTER_LAST;
            default -> throw lost();
        }
    }

    private void turnToPrevious() {
        store.requireOpen();
        switch (depart()) {
            case AFTER_LAST -> seekEnd();
            case ON_FORWARDS, ON_BACKWARDS -> {
                seekBefore(key, keyLength);
                showBackwards();
            }
            case BEFORE_FIRST -> position = Position.BEFORE_FIRST;
            default -> throw lost();
        }
    }

    /** A move that looks a place up. */
    private boolean move(Runnable lookUp) {
        beginMove();
        try {
            store.requireOpen();
            lookUp.run();
            return isOnEntry();
        } finally {
            endMove();
        }
    }

    @Override
    public boolean first() {
        return move(() -> seekForwards(from == null ? Keys.EMPTY : from));
    }

    @Override
    public boolean last() {
        return move(this::seekEnd);
    }

    @Override
    public boolean seek(byte[] target) {
        return move(() -> {
            store.form().requireOrder("seek");
            boolean below = from != null && Keys.compare(target, from) < 0;
            seekForwards(below ? from : target);
        });
    }

    @Override
    public boolean seek(MemorySegment target) {
        return seek(target.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
    }

    @Override
    public boolean seekBackwards(byte[] target) {
        return move(() -> {
            store.form().requireOrder("seekBackwards");
            if (!Keys.isBefore(target, to)) {
                seekEnd();
            } else {
                seekUpTo(target, target.length);
                showBackwards();
            }
        });
    }

    @Override
    public boolean seekBackwards(MemorySegment target) {
        return seekBackwards(target.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
    }

    @Override
    public void enterGroup(byte[] group) {
        move(() -> walkGroup(group));
    }

    private void walkGroup(byte[] group) {
        int suffixBytes = store.groupSuffixBytes();
        if (suffixBytes == 0) {
            throw new UnsupportedOperationException("the store was made with groupSuffixBytes 0");
        }
        if (group.length == 0) {
            throw new IllegalArgumentException("a group without a byte");
        }
        // Any suffix will do for the hash; none is copied.
        long hash = hash(group);
        position = Position.LOST;
        KeyRange keys = KeyRange.prefix(group);
        Span span = new Span(keys.from(), keys.to());
        entries.enterGroup(hash, span);
        from = Keys.laterFrom(rangeFrom, span.from());
        to = Keys.earlierTo(rangeTo, span.to());
        lengthShown = group.length + suffixBytes;
        position = Position.BEFORE_FIRST;
    }

    /** Whether what the tree cursor stands on is within the group that was entered; there may be longer and shorter keys between. */
    private boolean isShown() {
        return lengthShown == ANY || entries.keyLength() == lengthShown;
    }

    /** Where the cursor stood; until the move has ended it stands nowhere. */
    private Position depart() {
        Position left = position;
        position = Position.LOST;
        return left;
    }

    private static IllegalStateException lost() {
        return new IllegalStateException("an earlier move failed, so there is no place to move on from; seek first");
    }

    private long hash(byte[] group) {
        Operation operation = enter(group.length);
        try {
            return KeyHasher.hash(operation.copy(group), group.length);
        } finally {
            operation.end();
        }
    }

    private void seekForwards(byte[] target) {
        seekTo(target, target.length);
        showForwards();
    }

    private void seekEnd() {
        if (to == null) {
            seekLast();
        } else {
            seekBefore(to, to.length);
        }
        showBackwards();
    }

    private void seekLast() {
        position = Position.LOST;
        Operation operation = enter(0);
        try {
            entries.seekLast();
            isPlaced = true;
        } finally {
            operation.end();
        }
    }

    private void seekTo(byte[] target, int length) {
        position = Position.LOST;
        int telling = telling(length);
        Operation operation = enter(telling);
        try {
            entries.seek(operation.copy(MemorySegment.ofArray(target).asSlice(0, telling)), telling);
            isPlaced = true;
        } finally {
            operation.end();
        }
    }

    private void seekBefore(byte[] target, int length) {
        position = Position.LOST;
        int telling = telling(length);
        Operation operation = enter(telling);
        try {
            entries.seekBefore(operation.copy(MemorySegment.ofArray(target).asSlice(0, telling)), telling);
            isPlaced = true;
        } finally {
            operation.end();
        }
    }

    /** To the last entry of {@code target}, or the one before. */
    private void seekUpTo(byte[] target, int length) {
        // The least key after the target is the target with a zero byte appended.
        byte[] after = Arrays.copyOf(target, length + 1);
        after[length] = 0;
        seekBefore(after, after.length);
    }

    /** Lets go of what the view does not read any more, and goes on from the key that the tree cursor stands on. */
    private void giveWayForwards() {
        takeKey();
        leave();
        seekTo(key, keyLength);
    }

    /** As {@link #giveWayForwards}, backwards. */
    private void giveWayBackwards() {
        takeKey();
        leave();
        seekUpTo(key, keyLength);
    }

    /** How much of a place tells where it is among keys: all of what is longer than any key comes before, or none. */
    private static int telling(int length) {
        return Math.min(length, KeyValueStore.KEY_BYTES_MAX + 1);
    }

    private void leaveShown() {
        if (isOnShown) {
            entries.next();
        }
        skipKey();
    }

    /** Leaves the versions of the key that is shown. */
    private void skipKey() {
        while (entries.valid() && isShownKey()) {
            entries.next();
        }
    }

    private boolean isShownKey() {
        return entries.keyLength() == keyLength && Memory.compare(entries.keyAddress(), keyLength, key, keyLength) == 0;
    }

    /** Shows the first key from where the tree cursor stands that has a value, or nothing. */
    private void showForwards() {
        isOnShown = false;
        while (entries.valid()) {
            if (to != null && Memory.compare(entries.keyAddress(), entries.keyLength(), to) >= 0) {
                break;
            }
            if (!isCurrent()) {
                giveWayForwards();
                continue;
            }
            if (entries.sequence() > state.sequence() || !isShown()) {
                entries.next();
                continue;
            }
            takeKey();
            if (entries.kind() == Entries.PUT) {
                takeValue();
                isOnShown = true;
                position = Position.ON_FORWARDS;
                return;
            }
            if (entries.kind() == Entries.MERGE) {
                byte[] result = apply(EntryResolver.gather(entries, Arrays.copyOf(key, keyLength)));
                if (result != null) {
                    takeValue(result);
                    position = Position.ON_FORWARDS;
                    return;
                }
                if (!isPlaced) {
                    seekTo(key, keyLength);
                }
            }
            skipKey();
        }
        position = Position.AFTER_LAST;
    }

    /** Shows the last key up to where the tree cursor stands that has a value, or nothing. */
    private void showBackwards() {
        while (entries.valid()) {
            if (from != null && Memory.compare(entries.keyAddress(), entries.keyLength(), from) < 0) {
                break;
            }
            if (!isCurrent()) {
                giveWayBackwards();
            } else if (!isShown()) {
                entries.previous();
            } else if (showKeyBackwards()) {
                position = Position.ON_BACKWARDS;
                return;
            }
        }
        position = Position.BEFORE_FIRST;
    }

    /** Walks back over all versions of a key, which come from the oldest; returns whether the newest visible is a value. */
    private boolean showKeyBackwards() {
        takeKey();
        boolean present = false;
        List<byte[]> operands = null;
        while (entries.valid() && isShownKey()) {
            if (entries.sequence() <= state.sequence()) {
                switch (entries.kind()) {
                    case Entries.PUT -> {
                        takeValue();
                        present = true;
                        operands = null;
                    }
                    case Entries.DELETE -> {
                        present = false;
                        operands = null;
                    }
                    default -> {
                        operands = operands == null ? new ArrayList<>() : operands;
                        operands.add(entries.value());
                    }
                }
            }
            entries.previous();
        }
        if (operands != null) {
            byte[] base = present ? Arrays.copyOf(value, valueLength) : null;
            byte[] result = apply(new EntryResolver.Operands(Arrays.copyOf(key, keyLength), base, operands));
            present = result != null;
            if (present) {
                takeValue(result);
            } else if (!isPlaced) {
                seekBefore(key, keyLength);
            }
        }
        return present;
    }

    /** Has the operator make a value; it may be long about it, or wait for who writes. */
    private byte[] apply(EntryResolver.Operands operands) {
        pause();
        try {
            return operands.applied(store.mergeOperator());
        } finally {
            resume();
        }
    }

    private void takeKey() {
        keyLength = entries.keyLength();
        if (key.length < keyLength) {
            key = new byte[Math.max(keyLength, 2 * key.length)];
        }
        Memory.copyTo(entries.keyAddress(), key, 0, keyLength);
    }

    private void takeValue() {
        valueLength = entries.valueLength();
        if (value.length < valueLength) {
            value = new byte[(int) Math.min(Integer.MAX_VALUE - 8, Math.max(valueLength, 2L * value.length))];
        }
        if (entries.largeGroup() != null) {
            entries.readAheadLarge();
        }
        entries.copyValue(value);
    }

    private void takeValue(byte[] result) {
        valueLength = result.length;
        if (value.length < valueLength) {
            value = new byte[valueLength];
        }
        System.arraycopy(result, 0, value, 0, valueLength);
    }

    @Override
    public boolean valid() {
        requireOpen();
        return isOnEntry();
    }

    private boolean isOnEntry() {
        return position == Position.ON_FORWARDS || position == Position.ON_BACKWARDS;
    }

    @Override
    public byte[] key() {
        requireValid();
        byte[] copy = Arrays.copyOf(key, keyLength);
        store.form().restore(copy, keyLength);
        return copy;
    }

    @Override
    public byte[] value() {
        requireValid();
        return Arrays.copyOf(value, valueLength);
    }

    @Override
    public MemorySegment keySegment() {
        requireValid();
        return keyView.of(shownKey(), keyLength);
    }

    private byte[] shownKey() {
        if (store.form() == KeyForm.PLAIN) {
            return key;
        }
        if (shownKey == null || shownKey.length < keyLength) {
            shownKey = new byte[key.length];
        }
        System.arraycopy(key, 0, shownKey, 0, keyLength);
        store.form().restore(shownKey, keyLength);
        return shownKey;
    }

    @Override
    public MemorySegment valueSegment() {
        requireValid();
        return valueView.of(value, valueLength);
    }

    private void requireOpen() {
        if (closed) {
            throw new ClosedException("the cursor");
        }
        store.requireOpen();
    }

    private void requireValid() {
        requireOpen();
        if (!isOnEntry()) {
            throw new IllegalStateException("the cursor does not stand on an entry");
        }
    }

    /** Begins an operation of a move, with room for a key, in which the tree cursor walks what the view reads now. */
    private Operation enter(int keyBytes) {
        Operation operation = begin(keyBytes);
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

    private Operation begin(int keyBytes) {
        pause();
        try {
            // Who closes the store may wait for this move, and whoever has an operation for who closes the store.
            store.requireOpen();
            Operation operation = store.enterOutsideEpoch();
            try {
                store.require(operation, keyBytes);
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

    @Override
    public void close() {
        if (!closed) {
            if (!takeToClose()) {
                throw new IllegalStateException("the cursor is closed by another thread, or from within a move of its own");
            }
            closed = true;
            store.released(this, state);
        }
    }

    /**
     * Lets go of what it reads; called once, by the store, whose calls see by now whether it is closed. A move that finds it closed has
     * said before that it is under way, and waits for nobody: so it is waited for.
     */
    void closeEntries() {
        while (!takeToLetGo()) {
            Clock.SYSTEM.parkNanos(LETTING_GO_NANOS);
        }
        try {
            if (held != null) {
                leave();
            }
        } finally {
            USE.setRelease(this, CLOSED);
        }
    }

    private boolean takeToLetGo() {
        return USE.compareAndSet(this, AT_REST, LETTING_GO) || USE.compareAndSet(this, CLOSED, LETTING_GO);
    }

    /** Lets nobody move the cursor any more; returns false while a move is under way. */
    private boolean takeToClose() {
        while (use != CLOSED && !USE.compareAndSet(this, AT_REST, CLOSED)) {
            int now = use;
            if (now == MOVING || now == PAUSED) {
                return false;
            }
            Clock.SYSTEM.parkNanos(LETTING_GO_NANOS);
        }
        return true;
    }
}
