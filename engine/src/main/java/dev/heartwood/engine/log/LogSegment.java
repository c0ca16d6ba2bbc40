package dev.heartwood.engine.log;

import dev.heartwood.ClosedException;
import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.page.PageLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** A segment in use: written by its lane, synced by whoever leads a group commit or in the background, released by a checkpoint. */
final class LogSegment {
    /*
     * Shared field      read                  written               guarded by
     * end               acquire               release, lane only    -
     * file              -                     -                     this segment's monitor
     * synced, released  volatile              volatile              this segment's monitor
     * finished          -                     -                     the lock of LogStructure
     */
    /*
     * Life: written by its lane, with a window of it in memory; finished; at rest, when nothing of it is in memory but the file is open;
     * synced, and no longer open; released. A segment that an earlier life has left begins at rest.
     *
     * The operating system may write a segment back at any time, and fail. It says so to the next sync of everybody who has the file open by
     * then, and may forget it when nobody has. So the file stays open from before the first store, or before recovery has read it, until a
     * sync has covered all of it: a mapping without memory, which takes no descriptor. Who had it open before may have been told already,
     * and what was not written then is taken for written: so what an earlier life has left is stored anew before it is read.
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
    /** The generation's first numbers, from which those of records are counted. */
    final long firstLsn;

    final long firstSequence;
    boolean finished;
    private long end;
    private MappedFile file;
    private volatile long synced;
    private volatile boolean released;

    private LogSegment(LogScan.Spare place, SegmentHeader header, long end, MappedFile file) {
        this.place = place;
        this.generation = header.generation().number();
        this.lane = header.lane();
        this.index = header.index();
        this.seed = header.seed();
        this.firstLsn = header.generation().firstLsn();
        this.firstSequence = header.generation().firstSequence();
        this.end = end;
        this.file = file;
    }

    /** A segment to be written. */
    static LogSegment begin(LogScan.Spare place, SegmentHeader header, MappedFile file) {
        return new LogSegment(place, header, LogLayout.HEADER_BYTES, file);
    }

    /** A segment of an earlier life, whose file is open at rest. */
    static LogSegment recovered(LogScan.Segment found, MappedFile file) {
        SegmentHeader header = found.header();
        LogScan.Spare place = new LogScan.Spare(found.file(), header.fileNumber(), header.segmentBytes());
        LogSegment segment = new LogSegment(place, header, header.segmentBytes(), file);
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
     * Makes what is complete durable; does nothing once released. A failure is latched in {@code commit} before the next may sync: the system
     * tells it once, and who asks again is told that all is well.
     */
    synchronized void sync(GroupCommit commit) {
        long to = end();
        if (released || to <= synced) {
            return;
        }
        long from = synced & -PageLayout.PAGE_BYTES;
        long length = LogLayout.align(to, PageLayout.PAGE_BYTES) - from;
        if (file == null) {
            throw new ClosedException("the log");
        }
        commit.throwFailure();
        try {
            file.sync(from, length);
        } catch (Throwable e) {
            commit.fail(e);
            throw e;
        }
        synced = to;
    }

    /** Recovery has found that all of it is durable: it need not be open. */
    synchronized void beDurable() {
        synced = end();
        close();
    }

    /** Whether all of it is durable, or no longer needed. */
    boolean isSynced() {
        return released || synced == end();
    }

    /** Nobody appends to a finished segment: gives back its memory, and the mapping too if a sync has covered it. */
    synchronized void rest() {
        if (isSynced()) {
            close();
        } else if (file != null) {
            file.rest();
        }
    }

    /** As {@link #sync}, in the background: does nothing once the log has closed. Then it need not be open. */
    synchronized void syncAndClose(GroupCommit commit) {
        if (file != null) {
            sync(commit);
            close();
        }
    }

    /** Closes the file of a finished segment. */
    synchronized void close() {
        if (file != null) {
            file.close();
            file = null;
        }
    }

    /** The segment's contents are no longer needed. */
    synchronized void release() {
        released = true;
        close();
    }
}
