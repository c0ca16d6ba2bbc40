package dev.heartwood.engine.log;

import dev.heartwood.ClosedException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.TooLargeException;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.os.Memory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;
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
     * An append writes the record and then its checksum; the order does not matter, because a record counts only when the
     * checksum, changed by a salt that no other use of the file has, holds over all other fields. An append that was cut off
     * at any store, or whose sectors reached the device in part, fails it.
     *
     * A sync takes the LSN counter, waits for the appends under way (an append announces itself before it draws its LSN, so
     * whoever has drawn one of the LSNs below is seen), and syncs what every lane had completed then. So an LSN is called
     * durable only when every lower one is durable too.
     *
     * Lock order: structure, then a segment's monitor, the pool's or that of the claims. Nobody syncs or maps under the structure lock.
     *
     * Shared field          read       written            guarded by
     * lsn[LSN_INDEX]        volatile   getAndIncrement    -
     * live, unsynced        -          -                  structure
     * claims                plain      once, by rotate    written with the lanes at rest
     * lives, generation     plain      plain              written by replay and rotate, with the lanes at rest
     * statement             volatile   volatile, once     -
     * isStatementDurable    volatile   volatile, once     -
     * closed                volatile   volatile           structure
     * spareWanted            volatile   volatile           -
     */
    private static final int LSN_INDEX = 16;
    private static final int READY_MAX = 4;

    private final Storage storage;
    private final long storeId;
    private final LogOptions options;
    private final LogScan scan;
    private final LogSurvey survey;
    private final LogMemory memory;
    private final SegmentPool pool;
    private final GroupCommit commit;
    private final LogLane[] lanes;
    private final AtomicLongArray lsn = new AtomicLongArray(2 * LSN_INDEX);

    private final ReentrantLock structure = new ReentrantLock();
    private final List<LogSegment> live = new ArrayList<>();
    private final List<LogSegment> unsynced = new ArrayList<>();

    private LaneClaims claims = LaneClaims.NONE;
    private LogLife life;
    private LogGeneration generation;
    private long previousGeneration;
    private boolean replayed;
    /** The first segment of this life, which says what the recovery at its start accepted as lost or cut off. */
    private volatile LogSegment statement;

    private volatile boolean isStatementDurable;

    private volatile boolean closed;
    private volatile Runnable spareWanted = () -> {};

    private WriteAheadLog(
            Storage storage, long storeId, int laneCount, LogOptions options, long checkpointGeneration) {
        if (laneCount < 1 || laneCount > LogLayout.LANES_MAX || checkpointGeneration < 0) {
            throw new IllegalArgumentException(laneCount + " lanes, generation " + checkpointGeneration);
        }
        this.storage = storage;
        this.storeId = storeId;
        this.options = options;
        this.scan = new LogScan(storage, storeId, checkpointGeneration);
        scan.run();
        this.survey = new LogSurvey(storage, scan, checkpointGeneration);
        this.memory = new LogMemory(options.segmentBytesMax());
        this.pool = new SegmentPool(storage, options, memory, scan);
        this.commit = new GroupCommit(this::syncAll, Clock.SYSTEM);
        this.lanes = new LogLane[laneCount];
        for (int i = 0; i < laneCount; i++) {
            lanes[i] = new LogLane();
            lanes[i].segmentBytesNext = options.segmentBytesMin();
        }
    }

    /**
     * The log of a new store.
     *
     * @throws dev.heartwood.CorruptionException when the directory holds a log
     */
    public static WriteAheadLog create(Storage storage, long storeId, int lanes, LogOptions options) {
        WriteAheadLog log = new WriteAheadLog(storage, storeId, lanes, options, 0);
        if (!log.scan.generations().isEmpty()) {
            throw LogScan.damaged(log.scan.generations().getFirst().anyFile(), 0, "no log in a new store", "one");
        }
        log.begin();
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
        log.survey.run();
        return log;
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
        begin();
        return replay.summary(scan, survey);
    }

    private void begin() {
        replayed = true;
        long first = Math.max(1, survey.nextLsn() == 0 ? scan.lsnBeyondAll() : survey.nextLsn());
        life = new LogLife(scan.lastLife() + 1, first, survey.lost(), lanes.length, scan.bootId());
        lsn.set(LSN_INDEX, first);
        boolean isEmpty = survey.parts().isEmpty();
        commit.startFrom(isEmpty ? first - 1 : survey.durableLsn());
        for (LogSurvey.Part part : survey.parts()) {
            LogGeneration logged = part.generation().header();
            previousGeneration = logged.firstLsn() < first ? logged.number() : previousGeneration;
        }
        for (LoggedGeneration logged : scan.generations()) {
            for (List<LogScan.Segment> lane : logged.lanes()) {
                for (LogScan.Segment segment : lane) {
                    live.add(LogSegment.recovered(segment));
                }
            }
        }
        if (commit.durable() < first - 1) {
            unsynced.addAll(live);
        }
    }

    /**
     * Appends from now on belong to {@code number}, which is greater than every generation before. Nobody appends beside this
     * call, and what was appended before happens before it.
     */
    public void rotate(long number) {
        for (LogScan.Spare spare : scan.unreadable()) {
            storage.delete(spare.file());
        }
        scan.unreadable().clear();
        if (claims == LaneClaims.NONE && replayed && !closed) {
            claims = LaneClaims.open(storage, storeId, scan, lanes.length);
        }
        structure.lock();
        try {
            throwClosed();
            if (!replayed || number <= Math.max(scan.lastGeneration(), generation == null ? 0 : generation.number())) {
                throw new IllegalStateException("generation " + number + " is not next");
            }
            long first = lsn.get(LSN_INDEX);
            if (generation != null && first > generation.firstLsn()) {
                previousGeneration = generation.number();
            }
            generation = new LogGeneration(number, first, previousGeneration, life);
            for (LogLane lane : lanes) {
                lane.fitSegments(options);
                lane.endSegment();
                lane.index = 0;
            }
        } finally {
            structure.unlock();
        }
        pool.trim(sizesWanted());
        stateLosses();
    }

    /**
     * What recovery found behind a gap is called durable by the next sync, though nothing may have been appended since: so it must be
     * known by then that the gap was accepted, or a loss of power would end the log there.
     */
    private void stateLosses() {
        if (isStatementOwed()) {
            try {
                beginSegment(lanes[0], 0, 0);
            } catch (NoSpaceException e) {
                // The first append tries again; until then a sync is refused, and nothing is released.
                assert statement == null;
            }
        }
    }

    private boolean isStatementOwed() {
        return statement == null && (life.lost() > 0 || survey.isCut());
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
     * @throws TooLargeException when no record can be so long
     */
    public void reserve(int lane, long payloadBytes) {
        commit.throwFailure();
        LogLane own = lanes[lane];
        long bytes = LogLayout.recordBytes(payloadBytes);
        if (bytes > own.limit - own.position && !slide(own, bytes)) {
            beginSegment(own, lane, payloadBytes);
            if (bytes > own.limit - own.position) {
                slide(own, bytes);
            }
        }
    }

    /**
     * Has the processor load what an append after a {@link #reserve} will touch, all of it at once, where one line would else be waited for
     * after the other. Changes nothing.
     */
    public void prefetch(int lane, long payloadBytes) {
        LogLane own = lanes[lane];
        own.touched = Memory.touchLines(own.position, LogLayout.RECORD_PAYLOAD + payloadBytes);
    }

    /** Makes room for a record of {@code bytes} in the lane's segment, unless it is full. */
    private boolean slide(LogLane own, long bytes) {
        long position = own.position - own.base;
        long needed = position + bytes + LogLayout.RECORD_PAYLOAD;
        if (own.segment == null || needed > own.file.length()) {
            return false;
        }
        if (own.wantSpare(needed, structure)) {
            spareWanted.run();
        }
        own.slide(needed, memory.windowBytes());
        return true;
    }

    /** Appends an entry, for which there is room. */
    public void append(
            int lane, long sequence, byte kind, long key, int keyLength, long value, int valueLength) {
        assert Entries.isKind(kind) && (kind != Entries.DELETE || valueLength == 0);
        LogLane own = lanes[lane];
        int length = LogLayout.RECORD_PAYLOAD + keyLength + valueLength;
        long at = own.position;
        assert at + LogLayout.align(length, LogLayout.RECORD_ALIGNMENT) <= own.limit : "reserve first";
        own.begin();
        try {
            writeHeader(at, length, sequence, kind | keyLength << 8);
            Memory.copy(key, at + LogLayout.RECORD_PAYLOAD, keyLength);
            Memory.copy(value, at + LogLayout.RECORD_PAYLOAD + keyLength, valueLength);
            own.complete(at, length);
        } catch (Throwable e) {
            commit.fail(e);
            throw e;
        } finally {
            own.finish();
        }
    }

    /**
     * Appends a batch, for which there is room, as one record: after a crash it is there as a whole or not at all. Its entries
     * take the sequence numbers from {@code sequence} to {@code sequence + count - 1}.
     */
    public void appendBatch(int lane, long sequence, int count, long payload, long payloadLength) {
        LogLane own = lanes[lane];
        int length = LogLayout.RECORD_PAYLOAD + LogLayout.BATCH_COUNT_BYTES + (int) payloadLength;
        long at = own.position;
        assert at + LogLayout.align(length, LogLayout.RECORD_ALIGNMENT) <= own.limit : "reserve first";
        own.begin();
        try {
            writeHeader(at, length, sequence, LogLayout.KIND_BATCH);
            Memory.putInt(at + LogLayout.RECORD_PAYLOAD, count);
            Memory.copy(payload, LogRecord.batchPayload(at), payloadLength);
            own.complete(at, length);
        } catch (Throwable e) {
            commit.fail(e);
            throw e;
        } finally {
            own.finish();
        }
    }

    private void writeHeader(long at, int length, long sequence, int kindAndKeyLength) {
        long number = lsn.getAndIncrement(LSN_INDEX);
        long behind = number - commit.durable();
        int unsynced = behind < 0xffff_ffffL ? (int) behind : LogLayout.UNSYNCED_UNKNOWN;
        LogRecord.writeHeader(at, length, number, sequence, kindAndKeyLength, unsynced);
    }

    /**
     * Returns once everything that was appended before this call is durable. Concurrent callers share the work.
     *
     * @throws NoSpaceException when there was no space to state what recovery accepted as lost; nothing is wrong yet
     * @throws dev.heartwood.StoreException the failure, to the caller that met it; final but for a segment that could not be opened again,
     *     as for want of descriptors: see {@link #isFailed}
     * @throws dev.heartwood.PreviousFailureException to all others
     */
    public void sync() {
        commit.throwFailure();
        throwClosed();
        if (isStatementOwed()) {
            throw new NoSpaceException("no space for a log segment after recovery");
        }
        commit.await(lsn.get(LSN_INDEX) - 1);
    }

    /** What the leader of a group commit does; returns the LSN up to which everything is durable then. */
    private long syncAll() {
        long target = lsn.get(LSN_INDEX) - 1;
        for (LogLane lane : lanes) {
            lane.awaitAppend();
        }
        commit.throwFailure();
        LogSegment[] segments;
        structure.lock();
        try {
            throwClosed();
            segments = unsynced.toArray(new LogSegment[0]);
        } finally {
            structure.unlock();
        }
        pool.syncDirectory();
        for (LogSegment segment : segments) {
            segment.sync(storage);
            claims.durable(segment.lane, segment.generation, segment.index);
        }
        claims.sync();
        structure.lock();
        try {
            unsynced.removeIf(segment -> segment.finished && segment.isSynced());
        } finally {
            structure.unlock();
        }
        return target;
    }

    /**
     * What recovery cut off must not come back when the gap before it is no longer there to be seen; returns false while nothing
     * says that it was cut off.
     */
    private boolean makeStatementDurable() {
        if (isStatementOwed()) {
            return false;
        }
        try {
            pool.syncDirectory();
            statement.sync(storage);
            isStatementDurable = true;
            return true;
        } catch (SyncNotTriedException e) {
            return false;
        } catch (Throwable e) {
            commit.fail(e);
            throw e;
        }
    }

    /** Segments of this generation and older ones are no longer needed: a durable checkpoint holds what they hold. */
    public void release(long upTo) {
        if (survey.isCut() && !isStatementDurable && !makeStatementDurable()) {
            return;
        }
        List<LogSegment> released = new ArrayList<>();
        structure.lock();
        try {
            throwClosed();
            if (generation != null && upTo >= generation.number()) {
                throw new IllegalStateException("generation " + upTo + " is still written");
            }
            for (LogSegment segment : live) {
                if (segment.generation <= upTo) {
                    released.add(segment);
                }
            }
            live.removeAll(released);
            unsynced.removeAll(released);
        } finally {
            structure.unlock();
        }
        if (released.isEmpty()) {
            return;
        }
        // All give their mappings back first: a file that cannot be deleted then keeps no other's.
        for (LogSegment segment : released) {
            segment.release();
        }
        pool.recycle(released.stream().map(segment -> segment.place).toList(), sizesWanted());
    }

    /** Deletes the files that are kept to be used again, but for one. */
    public void returnFreeSpace() {
        pool.returnSpace(sizesWanted());
    }

    /**
     * Does in the background what appends would otherwise wait for: makes the next segments ready, and unmaps finished ones.
     * Called by a worker whenever the hook given to {@link #whenSpareIsWanted} has run; at most one thread at a time gains.
     * Closing waits for it.
     */
    public void prepareSpare() {
        List<LogSegment> finished = new ArrayList<>();
        int wanted;
        long bytes;
        structure.lock();
        try {
            if (closed || commit.isFailed()) {
                return;
            }
            for (LogSegment segment : live) {
                if (segment.finished) {
                    finished.add(segment);
                }
            }
            wanted = LogLane.countSparesWanted(lanes);
            bytes = LogLane.spareBytesWanted(lanes, options.segmentBytesMax());
        } finally {
            structure.unlock();
        }
        for (LogSegment segment : finished) {
            segment.unmap();
        }
        pool.prepare(Math.min(wanted, READY_MAX), bytes);
    }

    /** Sets what to run when a segment was begun or half of it is used: something quick that gets {@link #prepareSpare} called soon. */
    public void whenSpareIsWanted(Runnable hook) {
        spareWanted = hook;
    }

    /**
     * Sets how much of the segments that are written may be in memory, for the sake of other logs; asked whenever there is to be more. For
     * each lane there are at least 32 KiB, or as much as a record takes.
     */
    public void limitMemory(LongSupplier bytesMax) {
        memory.limit(bytesMax);
    }

    /** The bytes of the segments being written, and of those that are ready to follow, that are in memory. */
    public long bytesInMemory() {
        return memory.bytesHeld();
    }

    /** The bytes of all records appended since the log was opened. */
    public long bytesAppended() {
        structure.lock();
        try {
            return LogLane.bytesAppended(lanes);
        } finally {
            structure.unlock();
        }
    }

    /** The bytes that the log's files take on the device. */
    public long bytesOnDevice() {
        long bytes = pool.bytes();
        structure.lock();
        try {
            for (LogSegment segment : live) {
                bytes += segment.place.bytes();
            }
        } finally {
            structure.unlock();
        }
        return bytes;
    }

    /** The failure that ended writing, if any, is thrown as {@link dev.heartwood.PreviousFailureException}. */
    public void throwFailure() {
        commit.throwFailure();
    }

    /** Whether a sync or an append failed, which is final. */
    public boolean isFailed() {
        return commit.isFailed();
    }

    private void beginSegment(LogLane own, int lane, long payloadBytes) {
        throwClosed();
        if (generation == null) {
            throw new IllegalStateException("rotate first");
        }
        if (payloadBytes > LogLayout.PAYLOAD_BYTES_MAX) {
            throw new TooLargeException("log record", payloadBytes, LogLayout.PAYLOAD_BYTES_MAX);
        }
        long bytesNext = own.nextSegmentBytes(options.segmentBytesMax());
        long bytesMin = LogLayout.segmentBytes(LogLayout.recordBytes(payloadBytes));
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
        structure.lock();
        try {
            if (closed) {
                pool.giveBack(mapped);
                throwClosed();
            }
            put(own, segment, header, mapped.file());
        } finally {
            structure.unlock();
        }
        spareWanted.run();
    }

    /**
     * Makes a segment the lane's. From the first byte of its header on recovery may count it, so nothing is logged any more if that
     * fails half way, as for want of Java heap: another segment in its place would contradict it. Under the structure lock.
     */
    private void put(LogLane own, LogSegment segment, SegmentHeader header, MappedFile file) {
        try {
            header.publish(file.address(), storeId);
            claims.begun(segment.lane, generation, segment.index);
            own.endSegment();
            own.startIn(segment, file);
            own.isSpareWanted = own.isFilled || file.length() >= options.segmentBytesMax();
            own.limitToWindow();
            if (!own.isUsed) {
                own.isUsed = true;
                memory.lanesUsed(LogLane.countUsed(lanes));
            }
            live.add(segment);
            unsynced.add(segment);
            statement = statement == null ? segment : statement;
        } catch (Throwable e) {
            commit.fail(e);
            if (own.segment != segment) {
                file.close();
            }
            throw e;
        }
    }

    private SegmentSizes sizesWanted() {
        structure.lock();
        try {
            return LogLane.sizesWanted(lanes, options);
        } finally {
            structure.unlock();
        }
    }

    private void throwClosed() {
        if (closed) {
            throw new ClosedException("the log");
        }
    }

    /**
     * Makes everything durable, unless a sync failed before, and says so in the log, so that later damage is not mistaken for
     * a loss of power. Nobody appends beside or after this call. Idempotent.
     */
    @Override
    public void close() {
        try {
            if (!closed && generation != null && !commit.isFailed()) {
                commit.await(lsn.get(LSN_INDEX) - 1);
                markDurable();
            }
        } finally {
            try {
                unmapAll();
            } finally {
                pool.close();
            }
        }
    }

    private void markDurable() {
        for (LogLane own : lanes) {
            if (own.segment != null && own.segment.end() > LogLayout.HEADER_BYTES) {
                own.begin();
                try {
                    writeHeader(own.position, LogLayout.RECORD_PAYLOAD, 0, LogLayout.KIND_MARK);
                    own.complete(own.position, LogLayout.RECORD_PAYLOAD);
                } finally {
                    own.finish();
                }
            }
        }
        commit.await(lsn.get(LSN_INDEX) - 1);
    }

    private void unmapAll() {
        structure.lock();
        try {
            closed = true;
            for (LogLane lane : lanes) {
                lane.endSegment();
            }
            for (LogSegment segment : live) {
                segment.unmap();
            }
            claims.close();
        } finally {
            structure.unlock();
        }
    }
}
