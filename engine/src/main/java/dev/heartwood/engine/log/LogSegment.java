package dev.heartwood.engine.log;

import dev.heartwood.StoreException;
import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.page.PageLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** A segment in use: written by its lane, synced by whoever leads a group commit, released by a checkpoint. */
final class LogSegment {
    /*
     * Shared field      read                  written               guarded by
     * end               acquire               release, lane only    -
     * file              -                     -                     this segment's monitor
     * synced            -                     -                     this segment's monitor
     * released          -                     -                     this segment's monitor
     * finished          -                     -                     the lock of LogStructure
     */
    private static final VarHandle END;

    static {
        try {
            END = MethodHandles.lookup().findVarHandle(LogSegment.class, "end", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final LogScan.Spare place;
    final long generation;
    final int lane;
    final long index;
    final int seed;
    boolean finished;
    private long end;
    private MappedFile file;
    private long synced;
    private boolean released;

    private LogSegment(LogScan.Spare place, SegmentHeader header, long end, MappedFile file) {
        this.place = place;
        this.generation = header.generation().number();
        this.lane = header.lane();
        this.index = header.index();
        this.seed = header.seed();
        this.end = end;
        this.file = file;
    }

    /** A segment to be written. */
    static LogSegment begin(LogScan.Spare place, SegmentHeader header, MappedFile file) {
        return new LogSegment(place, header, LogLayout.HEADER_BYTES, file);
    }

    /** A segment of an earlier life. */
    static LogSegment recovered(LogScan.Segment found) {
        SegmentHeader header = found.header();
        LogScan.Spare place = new LogScan.Spare(found.file(), header.fileNumber(), header.segmentBytes());
        LogSegment segment = new LogSegment(place, header, header.segmentBytes(), null);
        segment.finished = true;
        return segment;
    }

    long end() {
        return (long) END.getAcquire(this);
    }

    /** Everything before this offset is complete. */
    void endRelease(long offset) {
        END.setRelease(this, offset);
    }

    /**
     * Makes what is complete durable; does nothing once released.
     *
     * @throws SyncNotTriedException when it is no longer mapped and cannot be opened again
     */
    synchronized void sync(Storage storage) {
        long to = end();
        if (released || to <= synced) {
            return;
        }
        long from = synced & -PageLayout.PAGE_BYTES;
        long length = LogLayout.align(to, PageLayout.PAGE_BYTES) - from;
        if (file != null) {
            file.sync(from, length);
        } else {
            try (MappedFile reopened = reopen(storage)) {
                reopened.sync(from, length);
            }
        }
        synced = to;
    }

    private MappedFile reopen(Storage storage) {
        try {
            return storage.openMappedExisting(place.file());
        } catch (StoreException e) {
            throw new SyncNotTriedException(e);
        }
    }

    synchronized boolean isSynced() {
        return released || synced == end();
    }

    /** Unmaps a finished segment. */
    synchronized void unmap() {
        if (file != null) {
            file.close();
            file = null;
        }
    }

    /** The segment's contents are no longer needed. */
    synchronized void release() {
        released = true;
        unmap();
    }
}
