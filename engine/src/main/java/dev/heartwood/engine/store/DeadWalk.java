package dev.heartwood.engine.store;

import dev.heartwood.engine.base.Keys;
import java.util.Arrays;

/**
 * The deleted keys that a move of a cursor walks over: it tells {@link DeadRanges} of many, and asks for those that need no walk. Belongs to the
 * cursor's thread.
 */
final class DeadWalk {
    /** Fewer deleted keys are walked over sooner than told of. */
    static final int TOLD_MIN = 16;

    /** So many make it worth to have writes look whether they are among them. */
    static final int WATCHED_MIN = 64;

    /** The first deleted key is looked up, and then every so many. */
    private static final int LOOK_EVERY = 16;

    private final DeadRanges ranges;
    private final long view;
    /** Whether the walk began at {@link #start}; else at the first deleted key. */
    private boolean isBounded;
    /** From where the walk went forwards, or before what it went back, where null is no bound. */
    private byte[] start;

    private byte[] first = new byte[64];
    private int firstLength;
    private int walked;

    DeadWalk(DeadRanges ranges, long view) {
        this.ranges = ranges;
        this.view = view;
    }

    /** The walk begins at the key that comes next. */
    void begin() {
        isBounded = false;
        walked = 0;
    }

    /** The walk begins at a bound, forwards from there or back from before it; null is the end of all. */
    void beginAt(byte[] bound) {
        start = bound;
        isBounded = true;
        walked = 0;
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
        if (walked == 0 && !isBounded) {
            if (first.length < keyLength) {
                first = new byte[Math.max(keyLength, 2 * first.length)];
            }
            System.arraycopy(key, 0, first, 0, keyLength);
            firstLength = keyLength;
        }
        return walked++ % LOOK_EVERY == 0 && !ranges.isEmpty();
    }

    /** Has come forwards to a key that has a value. */
    void endForwards(byte[] key, int keyLength) {
        if (walked >= TOLD_MIN) {
            tell(begun(), Arrays.copyOf(key, keyLength));
        }
    }

    /** Has come to where the keys end that are shown; null is the end of all. */
    void endForwards(byte[] to) {
        if (walked >= TOLD_MIN) {
            tell(begun(), to);
        }
    }

    private byte[] begun() {
        return isBounded ? start.clone() : Arrays.copyOf(first, firstLength);
    }

    /** Has come back to a key that has a value. */
    void endBackwards(byte[] key, int keyLength) {
        if (walked >= TOLD_MIN) {
            tell(Arrays.copyOf(key, keyLength + 1), begunBefore()); // the least key after this one
        }
    }

    /** Has come back to where the keys begin that are shown; null is the first of all. */
    void endBackwards(byte[] from) {
        if (walked >= TOLD_MIN) {
            tell(from == null ? Keys.EMPTY : from, begunBefore());
        }
    }

    private byte[] begunBefore() {
        return !isBounded ? Arrays.copyOf(first, firstLength + 1) : start == null ? null : start.clone();
    }

    private void tell(byte[] from, byte[] to) {
        try {
            ranges.walked(from, to, view, walked >= WATCHED_MIN);
        } catch (OutOfMemoryError full) {
            // Later moves walk as far.
        }
    }
}
