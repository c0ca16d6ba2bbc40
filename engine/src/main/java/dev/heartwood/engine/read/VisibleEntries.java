package dev.heartwood.engine.read;

import dev.heartwood.MergeOperator;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.call.EntryResolver;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.trunk.TreeCursor;
import dev.heartwood.engine.write.DeadRanges;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Of the versions that a cursor walks, those that its view sees: for each key the newest, with the operands above it applied. Owns copies of
 * the key and the value that are shown, so that what is walked can be let go of. Belongs to the cursor's thread, within its moves; what is
 * shown may be read between them.
 */
public final class VisibleEntries {
    /*
     * Forwards, the tree cursor stands on the entry that is shown, or beyond it where operands were applied; the rest of the
     * key's versions is skipped by the next move. Backwards, it stands before the first version of the key that is shown. A change of
     * direction seeks.
     */
    private static final int ANY = -1;

    private final ViewWalk walk;
    private final TreeCursor entries;
    private final MergeOperator operator;
    private final DeadWalk dead;
    // The bounds of the range, or of the group that was entered within it; null is none.
    private byte[] from;
    private byte[] to;
    /** The length of the keys to be shown; {@link #ANY} for all. */
    private int lengthShown = ANY;
    /** Whether the tree cursor stands on the entry that is shown. */
    private boolean isOnShown;
    /** The stored form of the key that is shown. */
    private byte[] key = new byte[64];
    private int keyLength;
    private byte[] value = new byte[256];
    private int valueLength;

    /**
     * @param operator for stored keys, or null
     * @param dead for the walk's view
     * @param from where the keys begin, null for all
     * @param to before what they end, null for all
     */
    public VisibleEntries(ViewWalk walk, MergeOperator operator, DeadWalk dead, byte[] from, byte[] to) {
        this.walk = walk;
        this.entries = walk.entries();
        this.operator = operator;
        this.dead = dead;
        this.from = from;
        this.to = to;
    }

    /** Shows keys of one length alone, within other bounds, from now on. */
    public void within(byte[] newFrom, byte[] newTo, int length) {
        from = newFrom;
        to = newTo;
        lengthShown = length;
    }

    public byte[] from() {
        return from;
    }

    public byte[] to() {
        return to;
    }

    /** The array with the key that is shown, in its stored form. */
    public byte[] key() {
        return key;
    }

    public int keyLength() {
        return keyLength;
    }

    /** The array with the value that is shown. */
    public byte[] value() {
        return value;
    }

    public int valueLength() {
        return valueLength;
    }

    /** Shows the first key at or after {@code target}, which nobody changes, that has a value; returns false when there is none. */
    public boolean showFrom(byte[] target) {
        walk.seek(target, target.length);
        dead.beginAt(target);
        return showForwards();
    }

    /** Shows the last key up to {@code target}, itself included, that has a value; returns false when there is none. */
    public boolean showUpTo(byte[] target) {
        walk.seekUpTo(target, target.length);
        dead.begin();
        return showBackwards();
    }

    /** Shows the last key of all that has a value; returns false when there is none. */
    public boolean showLast() {
        if (to == null) {
            walk.seekLast();
        } else {
            walk.seekBefore(to, to.length);
        }
        dead.beginAt(to);
        return showBackwards();
    }

    /** Shows the next key after the one that is shown, when the tree cursor is in its place on the way forwards. */
    public boolean stepForwards() {
        if (isOnShown) {
            entries.next();
        }
        skipKey();
        dead.begin();
        return showForwards();
    }

    /** As {@link #stepForwards} wherever the tree cursor is. */
    public boolean turnForwards() {
        walk.seek(key, keyLength);
        skipKey();
        dead.begin();
        return showForwards();
    }

    /** Shows the key before the one that is shown, when the tree cursor is in its place on the way backwards. */
    public boolean stepBackwards() {
        dead.begin();
        return showBackwards();
    }

    /** As {@link #stepBackwards} wherever the tree cursor is. */
    public boolean turnBackwards() {
        walk.seekBefore(key, keyLength);
        dead.begin();
        return showBackwards();
    }

    /** Lets go of what the view does not read any more, and goes on from the key that the tree cursor stands on. */
    private void giveWayForwards() {
        takeKey();
        walk.leave();
        walk.seek(key, keyLength);
    }

    /** As {@link #giveWayForwards}, backwards. */
    private void giveWayBackwards() {
        takeKey();
        walk.leave();
        walk.seekUpTo(key, keyLength);
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

    /** Whether what the tree cursor stands on is within the group that was entered; there may be longer and shorter keys between. */
    private boolean isShown() {
        return lengthShown == ANY || entries.keyLength() == lengthShown;
    }

    /** Shows the first key from where the tree cursor stands that has a value, or nothing. */
    private boolean showForwards() {
        isOnShown = false;
        while (entries.valid()) {
            if (to != null && Memory.compare(entries.keyAddress(), entries.keyLength(), to) >= 0) {
                break;
            }
            if (!walk.isCurrent()) {
                giveWayForwards();
                continue;
            }
            if (entries.sequence() > walk.sequence() || !isShown()) {
                entries.next();
                continue;
            }
            takeKey();
            if (entries.kind() == Entries.PUT) {
                takeValue();
                isOnShown = true;
                dead.endForwards(key, keyLength);
                return true;
            }
            if (entries.kind() == Entries.MERGE) {
                dead.endForwards(key, keyLength);
                byte[] result = apply(EntryResolver.gather(entries, Arrays.copyOf(key, keyLength)));
                if (result != null) {
                    takeValue(result);
                    return true;
                }
                if (!walk.isPlaced()) {
                    walk.seek(key, keyLength);
                }
                dead.begin();
            } else if (lengthShown == ANY) {
                byte[] next = dead.passForwards(key, keyLength);
                if (next == DeadRanges.NO_END) {
                    break;
                }
                if (next != null) {
                    walk.seek(next, next.length);
                    continue;
                }
            }
            skipKey();
        }
        dead.endForwards(to);
        return false;
    }

    /** Shows the last key up to where the tree cursor stands that has a value, or nothing. */
    private boolean showBackwards() {
        while (entries.valid()) {
            if (from != null && Memory.compare(entries.keyAddress(), entries.keyLength(), from) < 0) {
                break;
            }
            if (!walk.isCurrent()) {
                giveWayBackwards();
            } else if (!isShown()) {
                entries.previous();
            } else if (showKeyBackwards()) {
                dead.endBackwards(key, keyLength);
                return true;
            } else if (lengthShown == ANY) {
                byte[] next = dead.passBackwards(key, keyLength);
                if (next != null) {
                    walk.seekBefore(next, next.length);
                }
            }
        }
        dead.endBackwards(from);
        return false;
    }

    /** Walks back over all versions of a key, which come from the oldest; returns whether the newest visible is a value. */
    private boolean showKeyBackwards() {
        takeKey();
        boolean present = false;
        List<byte[]> operands = null;
        while (entries.valid() && isShownKey()) {
            if (entries.sequence() <= walk.sequence()) {
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
            } else {
                if (!walk.isPlaced()) {
                    walk.seekBefore(key, keyLength);
                }
                dead.beginAt(Arrays.copyOf(key, keyLength));
            }
        }
        return present;
    }

    /** Has the operator make a value; it may be long about it, or wait for who writes. */
    private byte[] apply(EntryResolver.Operands operands) {
        walk.pause();
        try {
            return operands.applied(operator);
        } finally {
            walk.resume();
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
}
