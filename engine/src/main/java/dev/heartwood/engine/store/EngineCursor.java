package dev.heartwood.engine.store;

import dev.heartwood.ClosedException;
import dev.heartwood.Cursor;
import dev.heartwood.KeyRange;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.call.KeyForm;
import dev.heartwood.engine.call.StoreCalls;
import dev.heartwood.engine.read.SnapshotState;
import dev.heartwood.engine.read.ViewWalk;
import dev.heartwood.engine.read.VisibleEntries;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * A user's cursor: where it stands within its range or group, and what may be asked of it there. The entries are those that {@link
 * VisibleEntries} shows of what a {@link ViewWalk} walks. Belongs to one thread at a time; a store that closes waits for its moves.
 */
final class EngineCursor implements Cursor {
    /*
     * All fields belong to the cursor's thread; what others may take from it, and when, is the walk's to say. A move says that it is under way
     * before it looks whether the store is closed, and stands nowhere until it has ended.
     */
    private enum Position {
        BEFORE_FIRST,
        ON_FORWARDS,
        ON_BACKWARDS,
        AFTER_LAST,
        /** A move failed half way. */
        LOST
    }

    private final StoreCalls calls;
    private final StoreViews views;
    private final KeyForm form;
    private final SnapshotState state;
    private final ViewWalk walk;
    private final VisibleEntries entries;
    private final byte[] rangeFrom;
    private final byte[] rangeTo;
    private Position position = Position.BEFORE_FIRST;
    /** The key that is shown, when somebody has asked for it in a store whose stored form is another. */
    private byte[] shownKey;

    private final ArrayView keyView = new ArrayView();
    private final ArrayView valueView = new ArrayView();
    private boolean closed;

    /** Takes over a reference to {@code state}, and {@code walk}, which {@code views} lets go. */
    EngineCursor(
            StoreCalls calls,
            StoreViews views,
            SnapshotState state,
            ViewWalk walk,
            VisibleEntries entries,
            KeyRange range) {
        this.calls = calls;
        this.views = views;
        this.form = views.form();
        this.state = state;
        this.walk = walk;
        this.entries = entries;
        this.rangeFrom = range.from();
        this.rangeTo = range.to();
    }

    @Override
    public boolean next() {
        beginMove();
        try {
            if (position == Position.ON_FORWARDS && walk.canStep()) {
                calls.requireOpen();
                position = Position.LOST;
                wentForwards(entries.stepForwards());
            } else {
                turnToNext();
            }
            return isOnEntry();
        } finally {
            walk.endMove();
        }
    }

    @Override
    public boolean previous() {
        beginMove();
        try {
            if (position == Position.ON_BACKWARDS && walk.canStep()) {
                calls.requireOpen();
                position = Position.LOST;
                wentBackwards(entries.stepBackwards());
            } else {
                turnToPrevious();
            }
            return isOnEntry();
        } finally {
            walk.endMove();
        }
    }

    private void beginMove() {
        if (closed) {
            throw new ClosedException("the cursor");
        }
        walk.beginMove();
    }

    private void turnToNext() {
        calls.requireOpen();
        switch (depart()) {
            case BEFORE_FIRST -> goToFirst();
            case ON_FORWARDS, ON_BACKWARDS -> wentForwards(entries.turnForwards());
            case AFTER_LAST -> position = Position.AFTER_LAST;
            default -> throw lost();
        }
    }

    private void turnToPrevious() {
        calls.requireOpen();
        switch (depart()) {
            case AFTER_LAST -> goToLast();
            case ON_FORWARDS, ON_BACKWARDS -> wentBackwards(entries.turnBackwards());
            case BEFORE_FIRST -> position = Position.BEFORE_FIRST;
            default -> throw lost();
        }
    }

    /** Where the cursor stood; until the move has ended it stands nowhere. */
    private Position depart() {
        Position left = position;
        position = Position.LOST;
        return left;
    }

    private void wentForwards(boolean found) {
        position = found ? Position.ON_FORWARDS : Position.AFTER_LAST;
    }

    private void wentBackwards(boolean found) {
        position = found ? Position.ON_BACKWARDS : Position.BEFORE_FIRST;
    }

    private static IllegalStateException lost() {
        return new IllegalStateException("an earlier move failed, so there is no place to move on from; seek first");
    }

    /** A move that looks a place up. */
    private boolean move(Runnable lookUp) {
        beginMove();
        try {
            calls.requireOpen();
            lookUp.run();
            return isOnEntry();
        } finally {
            walk.endMove();
        }
    }

    @Override
    public boolean first() {
        return move(this::goToFirst);
    }

    @Override
    public boolean last() {
        return move(this::goToLast);
    }

    private void goToFirst() {
        goFrom(entries.from() == null ? Keys.EMPTY : entries.from());
    }

    private void goFrom(byte[] target) {
        position = Position.LOST;
        wentForwards(entries.showFrom(target));
    }

    private void goToLast() {
        position = Position.LOST;
        wentBackwards(entries.showLast());
    }

    @Override
    public boolean seek(byte[] key) {
        return seekOwn(key.clone());
    }

    @Override
    public boolean seek(MemorySegment key) {
        return seekOwn(key.toArray(ValueLayout.JAVA_BYTE));
    }

    /** Of an array that nobody else changes: what is looked up is what is told of as the beginning of deleted keys. */
    private boolean seekOwn(byte[] target) {
        return move(() -> {
            form.requireOrder("seek");
            boolean below = entries.from() != null && Keys.compare(target, entries.from()) < 0;
            goFrom(below ? entries.from() : target);
        });
    }

    @Override
    public boolean seekBackwards(byte[] key) {
        return seekOwnBackwards(key.clone());
    }

    @Override
    public boolean seekBackwards(MemorySegment key) {
        return seekOwnBackwards(key.toArray(ValueLayout.JAVA_BYTE));
    }

    private boolean seekOwnBackwards(byte[] target) {
        return move(() -> {
            form.requireOrder("seekBackwards");
            if (!Keys.isBefore(target, entries.to())) {
                goToLast();
            } else {
                position = Position.LOST;
                wentBackwards(entries.showUpTo(target));
            }
        });
    }

    @Override
    public void enterGroup(byte[] group) {
        move(() -> walkGroup(group));
    }

    private void walkGroup(byte[] group) {
        int suffixBytes = views.groupSuffixBytes();
        if (suffixBytes == 0) {
            throw new UnsupportedOperationException("the store was made with groupSuffixBytes 0");
        }
        if (group.length == 0) {
            throw new IllegalArgumentException("a group without a byte");
        }
        position = Position.LOST;
        // Any suffix will do for the hash; none is copied.
        long hash = walk.hash(group);
        KeyRange keys = KeyRange.prefix(group);
        Span span = new Span(keys.from(), keys.to());
        walk.enterGroup(hash, span);
        entries.within(
                Keys.laterFrom(rangeFrom, span.from()), Keys.earlierTo(rangeTo, span.to()), group.length + suffixBytes);
        position = Position.BEFORE_FIRST;
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
        byte[] copy = Arrays.copyOf(entries.key(), entries.keyLength());
        form.restore(copy, copy.length);
        return copy;
    }

    @Override
    public byte[] value() {
        requireValid();
        return Arrays.copyOf(entries.value(), entries.valueLength());
    }

    @Override
    public MemorySegment keySegment() {
        requireValid();
        return keyView.of(shownKey(), entries.keyLength());
    }

    private byte[] shownKey() {
        byte[] key = entries.key();
        if (form == KeyForm.PLAIN) {
            return key;
        }
        int length = entries.keyLength();
        if (shownKey == null || shownKey.length < length) {
            shownKey = new byte[key.length];
        }
        System.arraycopy(key, 0, shownKey, 0, length);
        form.restore(shownKey, length);
        return shownKey;
    }

    @Override
    public MemorySegment valueSegment() {
        requireValid();
        return valueView.of(entries.value(), entries.valueLength());
    }

    private void requireOpen() {
        if (closed) {
            throw new ClosedException("the cursor");
        }
        calls.requireOpen();
    }

    private void requireValid() {
        requireOpen();
        if (!isOnEntry()) {
            throw new IllegalStateException("the cursor does not stand on an entry");
        }
    }

    @Override
    public void close() {
        if (!closed) {
            if (!walk.close()) {
                throw new IllegalStateException("the cursor is closed by another thread, or from within a move of its own");
            }
            closed = true;
            views.release(walk, state);
        }
    }
}
