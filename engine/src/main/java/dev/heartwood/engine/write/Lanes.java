package dev.heartwood.engine.write;

import dev.heartwood.engine.base.BriefWait;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The lanes of the write path: whoever owns a lane appends to its log and its memtable arena alone. Spin locks, each on cache
 * lines of its own; held for the length of one write.
 */
public final class Lanes {
    private static final int STRIDE = 32;

    /** As long as most writes take, and some milliseconds more for an owner who has lost his processor: who goes elsewhere takes another file for long. */
    private static final int LOOKS_FEW = 256;

    /** Writers that meet in the first lane for the eighth time, with no more than so many writes between two meetings, part for some time. */
    private static final int MEETING = 64;

    private static final int CROWD = 7 * MEETING;
    private static final int APART = 1 << 16;

    private final AtomicIntegerArray owned;
    private final int count;
    /** How much writers have met in the first lane lately; each write there takes one away. Of two who change it at once one may not count. */
    private int crowd;

    /** {@code count} is a power of two. */
    public Lanes(int count) {
        assert Integer.bitCount(count) == 1;
        this.count = count;
        this.owned = new AtomicIntegerArray(count * STRIDE + STRIDE);
    }

    public int count() {
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

    /**
     * Owns the first lane, or some other when that stays taken, or writers met there often lately: so that a store which few write to at once
     * has what each lane takes, memory and a file of the log, for few.
     */
    int enterFew(int hint) {
        int lane = crowd < CROWD ? enterFirstIfSoon(hint) : enter(hint);
        if (lane == 0 && crowd > 0) {
            crowd--;
        }
        return lane;
    }

    private int enterFirstIfSoon(int hint) {
        int looks = 0;
        while (owned.getPlain(index(0)) != 0 || !owned.compareAndSet(index(0), 0, 1)) {
            if (++looks == LOOKS_FEW) {
                met();
                return enter(hint);
            }
            BriefWait.pause(looks);
        }
        if (looks > 0) {
            met();
        }
        return 0;
    }

    private void met() {
        int more = crowd + MEETING;
        crowd = more < CROWD ? more : CROWD + APART;
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
