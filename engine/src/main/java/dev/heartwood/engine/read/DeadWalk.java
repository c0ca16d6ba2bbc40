package dev.heartwood.engine.read;

import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.write.DeadRanges;
import java.util.Arrays;

/**
 * The deleted keys that a move of a cursor walks over: it tells {@link DeadRanges} of many, and asks for those that need no walk. Belongs to the
 * cursor's thread.
 */
public final class DeadWalk {
    /** Fewer deleted keys are walked over sooner than told of. */
    private static final int TOLD_MIN = 16;

    /** So many make it worth to have writes look whether they are among them. */
    private static final int WATCHED_MIN = 64;

    /** The first deleted key is looked up, and then every so many. */
    private static final int LOOK_EVERY = 16;

    /** Where a walk began. */
    private enum Start {
        /** At the first deleted key. */
        KEY,
        /** At a bound, forwards from there or back from before it. */
        BOUND,
        /** At the end of all keys, back. */
        END,
        /** At a bound that is too long to be kept. */
        UNTOLD
    }

    private final DeadRanges ranges;
    private final DeadRanges.View view;
    private Start start = Start.KEY;
    /** The first deleted key, or the bound; a copy, since the array of who moves the cursor has other keys next. */
    private byte[] first = new byte[64];

    private int firstLength;
    private int walked;

    public DeadWalk(DeadRanges ranges, DeadRanges.View view) {
        this.ranges = ranges;
        this.view = view;
    }

    /** The walk begins at the key that comes next. */
    void begin() {
        start = Start.KEY;
        walked = 0;
    }

    /** The walk begins at a bound, forwards from there or back from before it, where null is the end of all keys. */
    void beginAt(byte[] bound) {
        walked = 0;
        if (bound == null) {
            start = Start.END;
        } else if (bound.length > DeadRanges.KEY_BYTES_MAX) {
            start = Start.UNTOLD;
        } else {
            start = Start.BOUND;
            keepFirst(bound, bound.length);
        }
    }

    private void keepFirst(byte[] key, int keyLength) {
        if (first.length < keyLength) {
            first = new byte[Math.max(keyLength, 2 * first.length)];
        }
        System.arraycopy(key, 0, first, 0, keyLength);
        firstLength = keyLength;
    }

    /** Comes to a deleted key; returns where to go on forwards if not at the next one, {@link DeadRanges#NO_END} when nothing comes. */
    byte[] passForwards(byte[] key, int keyLength) {
        return isLookedUp(key, keyLength) ? ranges.endOf(key, keyLength, view) : null;
    }

    /** Comes to a deleted key; returns before what to go on, backwards, if not before this one. */
    byte[] passBackwards(byte[] key, int keyLength) {
        return isLookedUp(key, keyLength) ? ranges.beginOf(key, keyLength, view) : null;
    }

    private boolean isLookedUp(byte[] key, int keyLength) {
        if (walked == 0 && start == Start.KEY) {
            keepFirst(key, keyLength);
        }
        return walked++ % LOOK_EVERY == 0 && !ranges.isEmpty();
    }

    /** Has come forwards to a key that has a value. */
    void endForwards(byte[] key, int keyLength) {
        if (isTold()) {
            try {
                tell(begun(), key == null ? null : Arrays.copyOf(key, keyLength));
            } catch (OutOfMemoryError full) {
                return; // later moves walk as far
            }
        }
    }

    /** Has come to where the keys end that are shown; null is the end of all. */
    void endForwards(byte[] to) {
        endForwards(to, to == null ? 0 : to.length);
    }

    /** Has come back to a key that has a value. */
    void endBackwards(byte[] key, int keyLength) {
        if (isTold()) {
            try {
                tell(DeadRanges.after(key, keyLength), begunBefore());
            } catch (OutOfMemoryError full) {
                return;
            }
        }
    }

    /** Has come back to where the keys begin that are shown; null is the first of all. */
    void endBackwards(byte[] from) {
        if (isTold()) {
            try {
                tell(from == null ? Keys.EMPTY : from, begunBefore());
            } catch (OutOfMemoryError full) {
                return;
            }
        }
    }

    private boolean isTold() {
        return walked >= TOLD_MIN && start != Start.UNTOLD;
    }

    private byte[] begun() {
        return Arrays.copyOf(first, firstLength);
    }

    private byte[] begunBefore() {
        return switch (start) {
            case KEY -> DeadRanges.after(first, firstLength);
            case BOUND -> begun();
            default -> null;
        };
    }

    private void tell(byte[] from, byte[] to) {
        ranges.walked(from, to, view, walked >= WATCHED_MIN);
    }
}
