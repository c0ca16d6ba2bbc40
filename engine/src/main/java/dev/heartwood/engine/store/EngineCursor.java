package dev.heartwood.engine.store;

import dev.heartwood.ClosedException;
import dev.heartwood.Cursor;
import dev.heartwood.KeyRange;
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
     * All other moves are operations.
     *
     * Shared field   read       written
     * steps          volatile   volatile to true, release to false, by the cursor's thread
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

    private static final VarHandle STEPS;

    static {
        try {
            STEPS = MethodHandles.lookup().findVarHandle(EngineCursor.class, "steps", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final EngineStore store;
    private final SnapshotState state;
    private final TreeCursor entries;
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

    @SuppressWarnings("unused") // by STEPS
    private volatile boolean steps;

    /** Takes over a reference to {@code state}. */
    EngineCursor(EngineStore store, SnapshotState state, TreeCursor entries, KeyRange range) {
        this.store = store;
        this.state = state;
        this.entries = entries;
        this.rangeFrom = range.from();
        this.rangeTo = range.to();
        this.from = rangeFrom;
        this.to = rangeTo;
    }

    @Override
    public boolean next() {
        return position == Position.ON_FORWARDS ? step(false) : turnToNext();
    }

    /** Goes on in the direction in which the cursor came. */
    private boolean step(boolean isBackwards) {
        beginStep();
        try {
            position = Position.LOST;
            if (isBackwards) {
                showBackwards();
            } else {
                leaveShown();
                showForwards();
            }
            return valid();
        } finally {
            STEPS.setRelease(this, false);
        }
    }

    private void beginStep() {
        if (closed) {
            throw new ClosedException("the cursor");
        }
        STEPS.setVolatile(this, true);
        try {
            store.requireOpen();
        } catch (ClosedException e) {
            STEPS.setRelease(this, false);
            throw e;
        }
    }

    /** Whether a move is under way that is no operation. */
    boolean isStepping() {
        return steps;
    }

    private boolean turnToNext() {
        Operation operation = enter();
        try {
            switch (depart()) {
                case BEFORE_FIRST -> seekForwards(operation, from == null ? Keys.EMPTY : from);
                case ON_BACKWARDS -> {
                    seekTo(operation, key, keyLength);
                    skipKey();
                    showForwards();
                }
                case AFTER_LAST -> position = Position.AFTER_LAST;
                default -> throw lost();
            }
            return valid();
        } finally {
            operation.end();
        }
    }

    @Override
    public boolean previous() {
        return position == Position.ON_BACKWARDS ? step(true) : turnToPrevious();
    }

    private boolean turnToPrevious() {
        Operation operation = enter();
        try {
            switch (depart()) {
                case AFTER_LAST -> seekEnd(operation);
                case ON_FORWARDS -> {
                    seekBefore(operation, key, keyLength);
                    showBackwards();
                }
                case BEFORE_FIRST -> position = Position.BEFORE_FIRST;
                default -> throw lost();
            }
            return valid();
        } finally {
            operation.end();
        }
    }

    @Override
    public boolean first() {
        Operation operation = enter();
        try {
            seekForwards(operation, from == null ? Keys.EMPTY : from);
            return valid();
        } finally {
            operation.end();
        }
    }

    @Override
    public boolean last() {
        Operation operation = enter();
        try {
            seekEnd(operation);
            return valid();
        } finally {
            operation.end();
        }
    }

    @Override
    public boolean seek(byte[] target) {
        Operation operation = enter();
        try {
            store.form().requireOrder("seek");
            boolean below = from != null && Keys.compare(target, from) < 0;
            seekForwards(operation, below ? from : target);
            return valid();
        } finally {
            operation.end();
        }
    }

    @Override
    public boolean seek(MemorySegment target) {
        return seek(target.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
    }

    @Override
    public boolean seekBackwards(byte[] target) {
        Operation operation = enter();
        try {
            store.form().requireOrder("seekBackwards");
            if (!Keys.isBefore(target, to)) {
                seekEnd(operation);
            } else {
                // The least key after the target is the target with a zero byte appended.
                byte[] after = Arrays.copyOf(target, target.length + 1);
                seekBefore(operation, after, after.length);
                showBackwards();
            }
            return valid();
        } finally {
            operation.end();
        }
    }

    @Override
    public boolean seekBackwards(MemorySegment target) {
        return seekBackwards(target.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
    }

    @Override
    public void enterGroup(byte[] group) {
        Operation operation = enter();
        try {
            int suffixBytes = store.groupSuffixBytes();
            if (suffixBytes == 0) {
                throw new UnsupportedOperationException("the store was made with groupSuffixBytes 0");
            }
            if (group.length == 0) {
                throw new IllegalArgumentException("a group without a byte");
            }
            store.require(operation, group.length);
            // Any suffix will do for the hash; none is copied.
            long hash = KeyHasher.hash(operation.copy(group), group.length);
            position = Position.LOST;
            KeyRange keys = KeyRange.prefix(group);
            Span span = new Span(keys.from(), keys.to());
            entries.enterGroup(hash, span);
            from = Keys.laterFrom(rangeFrom, span.from());
            to = Keys.earlierTo(rangeTo, span.to());
            lengthShown = group.length + suffixBytes;
            position = Position.BEFORE_FIRST;
        } finally {
            operation.end();
        }
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

    private void seekForwards(Operation operation, byte[] target) {
        seekTo(operation, target, target.length);
        showForwards();
    }

    private void seekEnd(Operation operation) {
        if (to == null) {
            position = Position.LOST;
            entries.seekLast();
        } else {
            seekBefore(operation, to, to.length);
        }
        showBackwards();
    }

    private void seekTo(Operation operation, byte[] target, int length) {
        position = Position.LOST;
        store.require(operation, length);
        entries.seek(operation.copy(MemorySegment.ofArray(target).asSlice(0, length)), length);
    }

    private void seekBefore(Operation operation, byte[] target, int length) {
        position = Position.LOST;
        store.require(operation, length);
        entries.seekBefore(operation.copy(MemorySegment.ofArray(target).asSlice(0, length)), length);
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
                byte[] result = EntryResolver.applyOperands(
                        entries, Arrays.copyOf(key, keyLength), store.mergeOperator());
                if (result != null) {
                    takeValue(result);
                    position = Position.ON_FORWARDS;
                    return;
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
            if (!isShown()) {
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
            byte[] result = EntryResolver.apply(Arrays.copyOf(key, keyLength), base, operands, store.mergeOperator());
            present = result != null;
            if (present) {
                takeValue(result);
            }
        }
        return present;
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

    private void requireValid() {
        if (closed) {
            throw new ClosedException("the cursor");
        }
        store.requireOpen();
        if (!valid()) {
            throw new IllegalStateException("the cursor does not stand on an entry");
        }
    }

    private Operation enter() {
        if (closed) {
            throw new ClosedException("the cursor");
        }
        return store.enterOutsideEpoch();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            store.released(this, state);
        }
    }

    /** Lets go of the pages; called once, by the store, while it is open. */
    void closeEntries() {
        entries.close();
    }
}
