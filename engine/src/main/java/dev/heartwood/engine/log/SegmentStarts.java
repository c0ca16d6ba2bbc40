package dev.heartwood.engine.log;

import dev.heartwood.ClosedException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreIoException;
import dev.heartwood.TooLargeException;
import dev.heartwood.engine.device.MappedFile;

/** Begins the lanes' segments, and has the next ones made ready. Thread-safe, except that a lane's segment is begun by its owner. */
final class SegmentStarts {
    /*
     * A segment begins in this order: a file is taken from the pool, outside of all locks; its header is published; it is claimed; the lane
     * goes over to it; it becomes live. All but the first under the structure lock, so that closing meets a segment that is live or a file
     * that went back to the pool. Appends to it come after all that, so none is ever in a segment that recovery does not look for.
     *
     * Once the header's first byte is there recovery may count the segment, and another one in its place would contradict it. So what
     * fails between that and the end, as for want of Java heap, is final.
     *
     * Shared field   read       written     guarded by
     * spareWanted    volatile   volatile    -
     */
    private static final int READY_MAX = 4;

    private final long storeId;
    private final LogOptions options;
    private final LogLane[] lanes;
    private final LogStructure structure;
    private final SegmentPool pool;
    private final LaneClaims claims;
    private final LossStatement statement;
    private final LogMemory memory;
    private final GroupCommit commit;
    private volatile Runnable spareWanted = () -> {};

    SegmentStarts(
            long storeId,
            LogOptions options,
            LogLane[] lanes,
            LogStructure structure,
            SegmentPool pool,
            LaneClaims claims,
            LossStatement statement,
            LogMemory memory,
            GroupCommit commit) {
        this.storeId = storeId;
        this.options = options;
        this.lanes = lanes;
        this.structure = structure;
        this.pool = pool;
        this.claims = claims;
        this.statement = statement;
        this.memory = memory;
        this.commit = commit;
    }

    /** Sets what to run when a spare is wanted; see {@link #prepareSpares}. */
    void whenSpareIsWanted(Runnable hook) {
        spareWanted = hook;
    }

    /** Notes that a lane wants a spare, if it does from this offset on and did not before. */
    void wantSpare(LogLane own, long offset) {
        if (own.wantSpare(offset, structure.lock())) {
            spareWanted.run();
        }
    }

    /** See {@link SegmentPool#foundUnreadable}. */
    boolean foundUnreadable(LogScan.Spare place, StoreIoException failure) {
        return pool.foundUnreadable(place, failure);
    }

    /** Begins the lane's next segment, with room for a record with this much payload. */
    void begin(LogLane own, int lane, long payloadBytes) {
        structure.throwClosed();
        LogGeneration generation = structure.generation();
        if (payloadBytes > LogLayout.PAYLOAD_BYTES_MAX) {
            throw new TooLargeException("log record", payloadBytes, LogLayout.PAYLOAD_BYTES_MAX);
        }
        long bytesNext = own.nextSegmentBytes(options.segmentBytesMax());
        long bytesMin = LogLayout.segmentBytes(LogLayout.recordBytesMax(payloadBytes));
        SegmentPool.Mapped mapped = pool.take(Math.max(bytesMin, bytesNext), bytesMin);
        SegmentHeader header;
        LogSegment segment;
        try {
            header = own.nextHeader(storeId, generation, lane, mapped, commit.durable());
            segment = LogSegment.begin(mapped.place(), header, mapped.file());
        } catch (Throwable e) {
            pool.giveBack(mapped);
            throw e;
        }
        structure.lock().lock();
        try {
            if (structure.isClosed()) {
                pool.giveBack(mapped);
                throw new ClosedException("the log");
            }
            put(own, segment, header, mapped.file());
        } finally {
            structure.lock().unlock();
        }
        spareWanted.run();
    }

    /** Makes a segment the lane's. Under the structure lock. */
    private void put(LogLane own, LogSegment segment, SegmentHeader header, MappedFile file) {
        try {
            header.publish(file.address(), storeId);
            claims.begun(segment.lane, segment.generation, segment.index);
            own.endSegment();
            own.startIn(segment, file);
            own.isSpareWanted = own.isFilled || file.length() >= options.segmentBytesMax();
            own.limitToWindow();
            if (!own.isUsed) {
                own.isUsed = true;
                memory.lanesUsed(structure.lanesUsed());
            }
            structure.add(segment);
            statement.begun(segment);
        } catch (Throwable e) {
            commit.fail(e);
            // It may not be live, so that nobody else would; and nobody appends any more.
            segment.close();
            throw e;
        }
    }

    /**
     * Begins the first lane's segment if something is to be stated, with the lanes at rest. What recovery found behind a gap is called
     * durable by the next sync, though nothing may have been appended since: so it must be known by then that the gap was accepted, or a
     * loss of power would end the log there.
     */
    void stateLosses() {
        if (statement.isOwed()) {
            try {
                begin(lanes[0], 0, 0);
            } catch (NoSpaceException e) {
                // The first append tries again; until then a sync is refused, and nothing is released.
                assert statement.isOwed();
            }
        }
    }

    /** Makes ready what lanes want next. In the background. */
    void prepareSpares() {
        LogStructure.SparesWanted wanted = structure.sparesWanted();
        pool.prepare(Math.min(wanted.count(), READY_MAX), wanted.bytes());
    }
}
