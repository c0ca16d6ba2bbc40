package dev.heartwood.engine.store;

import dev.heartwood.engine.base.BriefWait;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The lanes of the write path: whoever owns a lane appends to its log and its memtable arena alone. Spin locks, each on cache
 * lines of its own; held for the length of one write.
 */
final class Lanes {
    private static final int STRIDE = 32;

    private final AtomicIntegerArray owned;
    private final int count;

    /** {@code count} is a power of two. */
    Lanes(int count) {
        assert Integer.bitCount(count) == 1;
        this.count = count;
        this.owned = new AtomicIntegerArray(count * STRIDE + STRIDE);
    }

    int count() {
        return count;
    }

    /** Owns some lane, the hinted one when it is free; returns it. */
    int enter(int hint) {
        int lane = hint & (count - 1);
        for (int looks = 0; ; looks++) {
            if (owned.getPlain(index(lane)) == 0 && owned.compareAndSet(index(lane), 0, 1)) {
                return lane;
            }
            lane = lane + 1 & (count - 1);
            BriefWait.pause(looks);
        }
    }

    /** Owns the first lane, waiting for it if need be: so that what is synced together lies in one file of the log. */
    int enterFirst() {
        for (int looks = 0; owned.getPlain(index(0)) != 0 || !owned.compareAndSet(index(0), 0, 1); looks++) {
            BriefWait.pause(looks);
        }
        return 0;
    }

    /** Lets go of a lane. */
    void exit(int lane) {
        owned.setRelease(index(lane), 0);
    }

    /** Owns every lane, in ascending order, so that no write is under way. */
    void enterAll() {
        for (int lane = 0; lane < count; lane++) {
            for (int looks = 0; !owned.compareAndSet(index(lane), 0, 1); looks++) {
                BriefWait.pause(looks);
            }
        }
    }

    /** Lets go of every lane. */
    void exitAll() {
        for (int lane = 0; lane < count; lane++) {
            exit(lane);
        }
    }

    /** Returns once every write that was under way has ended; writes that begin meanwhile are not waited for. */
    void drain() {
        for (int lane = 0; lane < count; lane++) {
            for (int looks = 0; !owned.compareAndSet(index(lane), 0, 1); looks++) {
                BriefWait.pause(looks);
            }
            exit(lane);
        }
    }

    private static int index(int lane) {
        return STRIDE + lane * STRIDE;
    }
}
