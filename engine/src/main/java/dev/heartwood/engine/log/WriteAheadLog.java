package dev.heartwood.engine.log;

import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.device.Storage;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * The write-ahead log of one store: appends by several lanes without a common lock, made durable by group commit, replayed in
 * the order of sequence numbers. Thread-safe, except that each lane is used by one thread at a time and {@link #rotate} by
 * nobody beside appends.
 *
 * <p>Life: {@link #create} or {@link #open}; then {@link #replay}, once, when it was opened; then {@link #rotate}; then
 * {@link #reserve} and an append, and so on.
 */
public final class WriteAheadLog implements AutoCloseable {
    /*
     * The doors of the package's rooms, and the log's life. What happens to a record, in order:
     *
     *   reserve, append    LaneAppends; where a segment is full SegmentStarts begins the next, from the SegmentPool
     *   sync               LogSync, for the callers that GroupCommit brings together
     *   rotate             LogStructure: the lanes end their segments, and the next ones are of another generation
     *   release            LogStructure lets go of segments, the SegmentPool takes their files
     *
     * Shared field         read    written                                          guarded by
     * life, replayed       plain   by create or replay, before the first rotate     -
     */
    private final Storage storage;
    private final LogScan scan;
    private final LogSurvey survey;
    private final int laneCount;
    private final LogMemory memory;
    private final SegmentPool pool;
    private final LaneClaims claims;
    private final LossStatement statement = new LossStatement();
    private final GroupCommit commit;
    private final LogStructure structure;
    private final SegmentStarts starts;
    private final LaneAppends appends;
    private final LogSync sync;
    private LogLife life;
    private boolean replayed;

    private WriteAheadLog(
            Storage storage, long storeId, int laneCount, LogOptions options, long checkpointGeneration) {
        if (laneCount < 1 || laneCount > LogLayout.LANES_MAX || checkpointGeneration < 0) {
            throw new IllegalArgumentException(laneCount + " lanes, generation " + checkpointGeneration);
        }
        this.storage = storage;
        this.laneCount = laneCount;
        this.scan = new LogScan(storage, storeId, checkpointGeneration);
        scan.run();
        this.survey = new LogSurvey(storage, scan, checkpointGeneration);
        this.memory = new LogMemory(options.segmentBytesMax());
        this.pool = new SegmentPool(storage, options, memory, scan);
        this.claims = new LaneClaims(storeId);
        this.commit = new GroupCommit(this::syncAll, Clock.SYSTEM);
        LogLane[] lanes = new LogLane[laneCount];
        for (int i = 0; i < laneCount; i++) {
            lanes[i] = new LogLane(options.segmentBytesMin());
        }
        this.structure = new LogStructure(lanes, options);
        this.starts = new SegmentStarts(storeId, options, lanes, structure, pool, claims, statement, memory, commit);
        this.appends = new LaneAppends(lanes, starts, memory, commit);
        this.sync = new LogSync(structure, appends, pool, claims, statement, commit);
    }

    private long syncAll() {
        return sync.syncAll();
    }

    /**
     * The log of a new store.
     *
     * @throws dev.heartwood.CorruptionException when the directory holds a log
     */
    public static WriteAheadLog create(Storage storage, long storeId, int lanes, LogOptions options) {
        WriteAheadLog log = new WriteAheadLog(storage, storeId, lanes, options, 0);
        if (!log.scan.generations().isEmpty()) {
            throw LogScan.damaged(storage, log.scan.generations().getFirst().anyFile(), 0, "no log in a new store", "one");
        }
        log.beginLife();
        return log;
    }

    /**
     * The log of an existing store, checked as a whole; changes nothing yet.
     *
     * @param checkpointGeneration the last generation that the checkpoint holds, or 0: its records and older ones do not count
     * @throws dev.heartwood.CorruptionException when segments or records are damaged that cannot be missing otherwise
     */
    public static WriteAheadLog open(
            Storage storage, long storeId, int lanes, LogOptions options, long checkpointGeneration) {
        WriteAheadLog log = new WriteAheadLog(storage, storeId, lanes, options, checkpointGeneration);
        try {
            log.openFound();
            log.survey.run();
            return log;
        } catch (Throwable e) {
            log.close();
            throw e;
        }
    }

    /**
     * Before anything of them is read: what was read then is in the files, or the next sync fails. What was written since the system
     * started is written again: a sync may have failed, after which it is in the files but not on the device, and nobody is told again.
     */
    private void openFound() {
        for (LoggedGeneration logged : scan.generations()) {
            boolean isOnDevice = !scan.isRunning(logged.header().life());
            for (List<LogScan.Segment> lane : logged.lanes()) {
                for (LogScan.Segment segment : lane) {
                    String file = segment.file();
                    MappedFile mapped = isOnDevice ? storage.openAtRest(file) : storage.openRewritten(file);
                    structure.recover(LogSegment.recovered(segment, mapped));
                }
            }
        }
    }

    /** The bytes of the records that were found, all or nearly all of which are to be replayed. */
    public long bytesFound() {
        return survey.bytesFound();
    }

    /**
     * Delivers what was appended after the checkpoint's generation. To be called once; changes nothing on the device, so it may be
     * interrupted and repeated by later openings.
     */
    public ReplaySummary replay(ReplaySink sink) {
        if (replayed) {
            throw new IllegalStateException("replayed before");
        }
        LogReplay replay = new LogReplay(storage, sink);
        replay.run(survey);
        beginLife();
        return replay.summary(scan, survey);
    }

    private void beginLife() {
        replayed = true;
        long first = Math.max(1, survey.nextLsn() == 0 ? scan.lsnBeyondNewest() : survey.nextLsn());
        life = new LogLife(scan.lastLife() + 1, first, survey.lost(), laneCount, scan.bootId());
        statement.expect(survey.lost() > 0, survey.isCut());
        appends.startFrom(first);
        boolean isEmpty = survey.parts().isEmpty();
        commit.startFrom(isEmpty ? first - 1 : survey.durableLsn());
        long lastLogged = 0;
        for (LogSurvey.Part part : survey.parts()) {
            LogGeneration logged = part.generation().header();
            lastLogged = logged.firstLsn() < first ? logged.number() : lastLogged;
        }
        structure.beginLife(commit.durable() >= first - 1, scan.lastGeneration(), lastLogged);
    }

    /**
     * Appends from now on belong to {@code number}, which is greater than every generation before, and have sequences from {@code
     * firstSequence} on, of which there are fewer than 2^31. Nobody appends beside this call, and what was appended before happens before it.
     */
    public void rotate(long number, long firstSequence) {
        for (LogScan.Spare spare : scan.unreadable()) {
            storage.delete(spare.file());
        }
        scan.unreadable().clear();
        structure.throwClosed();
        if (!replayed) {
            throw new IllegalStateException("replay first");
        }
        claims.open(storage, scan, laneCount);
        structure.beginGeneration(number, appends.nextLsn(), firstSequence, life);
        pool.trim(structure.sizesWanted());
        starts.stateLosses();
    }

    /** The bytes of payload of one entry for {@link #reserve}. */
    public static long entryPayloadBytes(int keyLength, int valueLength) {
        return (long) keyLength + valueLength;
    }

    /** The bytes of payload of a batch for {@link #reserve}. */
    public static long batchPayloadBytes(long payloadLength) {
        return LogLayout.BATCH_COUNT_BYTES + payloadLength;
    }

    /**
     * Makes room in a lane for one record with this much payload; see {@link #entryPayloadBytes}. May make a segment.
     *
     * @throws dev.heartwood.NoSpaceException when no segment can be made; the log goes on
     * @throws dev.heartwood.PreviousFailureException when a sync failed before
     * @throws dev.heartwood.TooLargeException when no record can be so long
     */
    public void reserve(int lane, long payloadBytes) {
        appends.reserve(lane, payloadBytes);
    }

    /**
     * Has the processor load what an append after a {@link #reserve} will touch, all of it at once, where one line would else be waited for
     * after the other. Changes nothing.
     */
    public void prefetch(int lane, long payloadBytes) {
        appends.prefetch(lane, payloadBytes);
    }

    /** Appends an entry, for which there is room. */
    public void append(
            int lane, long sequence, byte kind, long key, int keyLength, long value, int valueLength) {
        appends.append(lane, sequence, kind, key, keyLength, value, valueLength);
    }

    /**
     * Appends a batch, for which there is room, as one record: after a crash it is there as a whole or not at all. Its entries
     * take the sequence numbers from {@code sequence} to {@code sequence + count - 1}.
     */
    public void appendBatch(int lane, long sequence, int count, long payload, long payloadLength) {
        appends.appendBatch(lane, sequence, count, payload, payloadLength);
    }

    /**
     * Returns once everything that was appended before this call is durable. Concurrent callers share the work.
     *
     * @throws dev.heartwood.NoSpaceException when there was no space to state what recovery accepted as lost; nothing is wrong yet
     * @throws dev.heartwood.StoreException the failure, to the caller that met it; it is final
     * @throws dev.heartwood.PreviousFailureException to all others
     */
    public void sync() {
        sync.sync();
    }

    /** Segments of this generation and older ones are no longer needed: a durable checkpoint holds what they hold. */
    public void release(long upTo) {
        if (!sync.prepareRelease(upTo >= scan.lastGeneration())) {
            return;
        }
        List<LogSegment> released = structure.removeUpTo(upTo);
        if (released.isEmpty()) {
            return;
        }
        // All give their mappings back first: a file that cannot be deleted then keeps no other's.
        for (LogSegment segment : released) {
            segment.release();
        }
        pool.recycle(released.stream().map(segment -> segment.place).toList(), structure.sizesWanted());
    }

    /** Deletes the files that are kept to be used again, but for one. */
    public void returnFreeSpace() {
        pool.returnSpace(structure.sizesWanted());
    }

    /**
     * Does in the background what appends would otherwise wait for: makes the next segments ready, and gives back the memory of finished
     * ones. Those are open until a sync has covered them; of more than may be open the oldest are synced.
     * Called by a worker whenever the hook given to {@link #whenSpareIsWanted} has run; at most one thread at a time gains.
     * Closing waits for it.
     */
    public void prepareSpare() {
        if (structure.isClosed() || commit.isFailed()) {
            return;
        }
        for (LogSegment segment : structure.finished()) {
            segment.rest();
        }
        starts.prepareSpares();
        sync.syncOldest();
    }

    /** Sets what to run when a segment was begun or half of it is used: something quick that gets {@link #prepareSpare} called soon. */
    public void whenSpareIsWanted(Runnable hook) {
        starts.whenSpareIsWanted(hook);
    }

    /**
     * Sets how much of the segments that are written may be in memory, for the sake of other logs; asked whenever there is to be more. For
     * each lane there are at least 32 KiB, or as much as a record takes.
     */
    public void limitMemory(LongSupplier bytesMax) {
        memory.limit(bytesMax);
    }

    /**
     * Sets how many segments that are full may be open until a sync covers them, each of which takes a mapping without memory, for the sake of
     * other logs; asked whenever there is another.
     */
    public void limitOpen(IntSupplier segmentsMax) {
        sync.limitOpen(segmentsMax);
    }

    /** The bytes of the segments being written, and of those that are ready to follow, that are in memory. */
    public long bytesInMemory() {
        return memory.bytesHeld();
    }

    /** The bytes of all records appended since the log was opened. */
    public long bytesAppended() {
        return structure.bytesAppended();
    }

    /** The bytes that the log's files take on the device. */
    public long bytesOnDevice() {
        return pool.bytes() + structure.bytesLive();
    }

    /** The failure that ended writing, if any, is thrown as {@link dev.heartwood.PreviousFailureException}. */
    public void throwFailure() {
        commit.throwFailure();
    }

    /** Whether a sync or an append failed, which is final. */
    public boolean isFailed() {
        return commit.isFailed();
    }

    /** Whether it is this that ended writing. */
    public boolean isFailure(Throwable e) {
        return commit.isFailure(e);
    }

    /**
     * Makes everything durable, unless a sync failed before, and says so in the log, so that later damage is not mistaken for
     * a loss of power. Where what recovery found lost is not stated yet, for want of space perhaps, all is left as it was found. Nobody appends
     * beside or after this call. Idempotent.
     */
    @Override
    public void close() {
        try {
            if (!structure.isClosed() && structure.hasGeneration() && !commit.isFailed()) {
                sync.syncAndMark();
            }
        } finally {
            try {
                for (LogSegment segment : structure.close()) {
                    segment.close();
                }
                claims.close();
            } finally {
                pool.close();
            }
        }
    }
}
