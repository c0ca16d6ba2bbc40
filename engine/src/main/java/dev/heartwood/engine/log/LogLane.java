package dev.heartwood.engine.log;

import dev.heartwood.engine.device.MappedFile;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Keeps a lane's fields off the cache lines of the object before it. */
abstract class LanePadding {
    long p0, p1, p2, p3, p4, p5, p6, p7;
}

/** The fields of a lane. */
abstract class LaneFields extends LanePadding {
    /** Counts twice for each append: odd while one is under way. */
    long appends;

    /** Where the next record goes, and the address at which the room for records ends that is in memory. */
    long position;

    long limit;
    /** The address of the segment's first byte. */
    long base;

    int seed;
    LogSegment segment;
    /** The segment's mapping. */
    MappedFile file;

    /** The number of the current segment in its generation, and what the next is to be. */
    long index;

    long segmentBytesNext;
    /** The bytes of records in this lane's finished segments. */
    long bytesFinished;

    boolean isUsed;
    /** A segment is to be made ready to follow the current one. */
    boolean isSpareWanted;
}

/** One of the writers of the log; used by one thread at a time, whom the caller makes the owner. */
final class LogLane extends LaneFields {
    /*
     * Shared field       read       written              guarded by
     * appends            acquire    release, owner only  -
     * segment, isUsed,   -          -                    the log's structure lock; the owner reads them without it
     * isSpareWanted,
     * bytesFinished
     * all others         plain      plain                the caller's ownership of the lane
     */
    private static final VarHandle APPENDS;

    static {
        try {
            APPENDS = MethodHandles.lookup().findVarHandle(LaneFields.class, "appends", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    long q0, q1, q2, q3, q4, q5, q6, q7;

    /** An append is under way: ordered before the LSN it draws. */
    void begin() {
        APPENDS.setRelease(this, appends + 1);
    }

    /** The append is complete. */
    void finish() {
        APPENDS.setRelease(this, appends + 1);
    }

    /** Returns once the append that is under way, if any, is complete. */
    void awaitAppend() {
        long seen = (long) APPENDS.getAcquire(this);
        if ((seen & 1) == 0) {
            return;
        }
        for (int spins = 0; (long) APPENDS.getAcquire(this) == seen; spins++) {
            if (spins < 1000) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        }
    }
}
