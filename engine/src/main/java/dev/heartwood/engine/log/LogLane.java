package dev.heartwood.engine.log;

import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.ReentrantLock;

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
    /** The page on which a record has said last what is durable, and what it said; a page of the address space, none is 0. */
    long saidOn;

    long said;
    /** Means nothing; see {@link Memory#touchLines}. */
    long touched;

    LogSegment segment;
    /** The segment's mapping. */
    MappedFile file;

    /** The number of the current segment in its generation, and the size of the next generation's first. */
    long index;

    long segmentBytesNext;
    /** Whether that is after what a generation took, and whether the last one filled half of it, so that another is needed soon. */
    boolean isFitted;

    boolean isFilled;
    /** The bytes of records in this lane's finished segments, and in those of older generations. */
    long bytesFinished;

    long bytesBefore;

    boolean isUsed;
    /** A segment is to be made ready to follow the current one. */
    boolean isSpareWanted;
}

/** One of the writers of the log; used by one thread at a time, whom the caller makes the owner. */
final class LogLane extends LaneFields {
    /*
     * Shared field       read       written              guarded by
     * appends            acquire    release, owner only  -
     * segment, isUsed,   -          -                    the lock of LogStructure; the owner reads them without it
     * isSpareWanted,
     * index, isFitted,
     * isFilled,
     * segmentBytesNext,
     * bytesFinished,
     * bytesBefore
     * all others         plain      plain                the caller's ownership of the lane
     */
    /** What a writer brings into memory at a time, so that it does not take long. */
    private static final long SLIDE_BYTES_MAX = 256 << 10;

    private static final VarHandle APPENDS;

    static {
        try {
            APPENDS = MethodHandles.lookup().findVarHandle(LaneFields.class, "appends", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    long q0, q1, q2, q3, q4, q5, q6, q7;

    /** A lane whose first segment has so many bytes. */
    LogLane(long segmentBytesFirst) {
        segmentBytesNext = segmentBytesFirst;
    }

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

    /** The header of the segment that follows the lane's, or of its first one. */
    SegmentHeader nextHeader(
            long storeId, LogGeneration generation, int lane, SegmentPool.Mapped mapped, long durable) {
        long next = segment == null ? 0 : index + 1;
        long number = mapped.place().number();
        return new SegmentHeader(
                RecordFormat.SHORT,
                number,
                mapped.file().length(),
                SegmentHeader.salt(storeId, generation, number, lane, next),
                generation,
                lane,
                next,
                segment == null ? 0 : segment.end(),
                durable);
    }

    /** Goes on at the beginning of a segment. */
    void startIn(LogSegment next, MappedFile mapped) {
        segment = next;
        index = next.index;
        seed = next.seed;
        file = mapped;
        base = mapped.address();
        position = base + LogLayout.HEADER_BYTES;
        saidOn = 0;
    }

    /**
     * Whether the record at the lane's position is to say that everything up to {@code durable} is; notes that it does. So does the first that
     * begins on a page: of what was not synced a loss of power leaves any pages, and each of them tells what was.
     */
    boolean says(long durable) {
        long page = position / PageLayout.PAGE_BYTES;
        if (page == saidOn && durable == said) {
            return false;
        }
        saidOn = page;
        said = durable;
        return true;
    }

    /** Ends the lane's segment, if it has one. Under the structure lock, by the lane's owner or with the lanes at rest. */
    void endSegment() {
        if (segment != null) {
            segment.finished = true;
            bytesFinished += segment.end() - LogLayout.HEADER_BYTES;
            segment = null;
            file = null;
        }
        position = 0;
        limit = 0;
    }

    /** Brings what lies before {@code needed}, an offset in the segment, into memory, as part of a window of {@code windowBytes}. */
    void slide(long needed, long windowBytes) {
        if (needed > file.windowEnd()) {
            long begin = position - base & -PageLayout.PAGE_BYTES;
            long window = Math.min(begin + Math.min(windowBytes, SLIDE_BYTES_MAX), file.length());
            file.slide(begin, Math.max(window, LogLayout.align(needed, PageLayout.PAGE_BYTES)));
        }
        limitToWindow();
    }

    /** The lane looks again what there is to do at the end of what is in memory, or where it wants a spare; a mark fits beyond. */
    void limitToWindow() {
        long end = isSpareWanted ? file.windowEnd() : Math.min(file.windowEnd(), spareWantedFrom());
        limit = base + end - LogLayout.RECORD_HEADER_MAX;
    }

    /** A lane that has filled half of its segment may need another; most of a small store never do. */
    long spareWantedFrom() {
        return LogLayout.HEADER_BYTES + (file.length() - LogLayout.HEADER_BYTES) / 2;
    }

    /** Notes that a spare is wanted, if one is from this offset on; returns whether it was not before. */
    boolean wantSpare(long offset, ReentrantLock structure) {
        if (isSpareWanted || offset <= spareWantedFrom()) {
            return false;
        }
        structure.lock();
        try {
            isSpareWanted = true;
        } finally {
            structure.unlock();
        }
        return true;
    }

    /**
     * The size of the lane's next segment. While nothing is known of it segments grow fast, since each takes a file; later one has room for a
     * generation, and what follows it in the same is more of it than there was before.
     */
    long nextSegmentBytes(long bytesMax) {
        if (segment == null || isFitted && index == 0) {
            return segmentBytesNext;
        }
        int growth = isFitted ? 2 : 4;
        return Math.min(Math.max(growth * segment.place.bytes(), segmentBytesNext), bytesMax);
    }

    /**
     * A generation ends: fits the segments to what it took, if it did not fit into one or has not used a quarter of one. A lane that took
     * nothing needs no spare.
     */
    void fitSegments(LogOptions options) {
        long bytes = bytesAppended() - bytesBefore;
        bytesBefore += bytes;
        long end = LogLayout.HEADER_BYTES + bytes;
        isFitted |= bytes > 0;
        isFilled = bytes > 0 && end > segmentBytesNext / 2;
        isSpareWanted = isFilled;
        if (end > segmentBytesNext) {
            segmentBytesNext = Math.min(LogLayout.align(end + end / 8, PageLayout.PAGE_BYTES), options.segmentBytesMax());
        } else if (end < segmentBytesNext / 4) {
            long half = LogLayout.align(segmentBytesNext / 2, PageLayout.PAGE_BYTES);
            segmentBytesNext = Math.max(options.segmentBytesMin(), half);
        }
    }

    /** Makes a record count whose other fields are in place, and moves behind it. */
    void complete(long at, int length) {
        Memory.putInt(at + LogLayout.RECORD_CHECKSUM, LogRecord.checksum(at, length, seed));
        long end = at + LogLayout.align(length, LogLayout.RECORD_ALIGNMENT);
        position = end;
        segment.endRelease(end - base);
    }

    /** The bytes of all records that the lane has appended. Under the structure lock. */
    long bytesAppended() {
        return bytesFinished + (segment == null ? 0 : segment.end() - LogLayout.HEADER_BYTES);
    }
}
