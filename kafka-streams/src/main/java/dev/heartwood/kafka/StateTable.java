package dev.heartwood.kafka;

import dev.heartwood.ClosedException;
import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreException;
import dev.heartwood.StoreStats;
import dev.heartwood.WriteBatch;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.query.Position;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One open directory of a state store: its data, the offsets and the position committed with it, and the way back to the last
 * commit. All kinds of stores are made of one of these. Thread-safe: readers take no lock, writers take the table's.
 */
final class StateTable implements TableReader, AutoCloseable {
    /*
     * Shared field        read                  written               guarded by
     * committed           volatile              volatile              the table's lock
     * lasting             volatile              volatile              the table's lock
     * committedReader     volatile              volatile              the table's lock
     * open                volatile              volatile              the table's lock
     * writtenBytes        volatile              volatile              the table's lock
     * streamTime          volatile              volatile              the table's lock
     * observedTime        volatile              volatile              -, belongs to the writer
     * ownEntries          volatile              volatile              the table's lock
     * undoEntries         volatile              volatile              the table's lock
     * hasCommit           -                     -                     the table's lock
     * processed           -                     -                     the table's lock
     * waiting             -                     -                     the table's lock
     * sinceLastingBytes   -                     -                     the table's lock
     * ahead               -                     -                     the table's lock
     * committedHere       -                     -                     the table's lock
     * rightAt             -                     -                     the table's lock
     * position            -                     -                     its own monitor, as Kafka Streams does
     *
     * Lock order: the table's lock, then the position's monitor or an iterator's lock.
     */
    private static final Logger LOG = LoggerFactory.getLogger(StateTable.class);

    /** What is written between two commits that a loss of power cannot take back, at most, where commits come all the time. */
    private static final long LASTING_BYTES = 4 << 20;

    private final String name;
    private final KeyValueStore store;
    private final TableFilter filter;
    private final CommitMode mode;
    private final UndoLog undo;
    private final BulkRestore bulk;
    private final Time time;
    private final Consumer<StateTable> afterClose;
    private final Position position;
    private final Set<TableIterator<?>> iterators = ConcurrentHashMap.newKeySet();
    private volatile CommitState committed;
    /** The last commit that a loss of power cannot take back: what it needs stays. */
    private volatile CommitState lasting;

    private volatile CommittedReader committedReader;
    private volatile boolean open = true;
    private volatile long writtenBytes;
    private volatile long streamTime;
    private volatile long observedTime = -1;
    /** Entries of the table's own, apart from undo records; and undo records of this commit. What is overwritten or of before is not counted. */
    private volatile long ownEntries;

    private volatile long undoEntries;
    private boolean hasCommit;
    /** Whether anything was written that a kill takes back to the commit before. */
    private boolean processed;
    /** Whether the last commit is in memory only. */
    private boolean waiting;
    private final long foundUpTo;
    private final boolean foundEmpty;
    private final boolean isGlobal;
    private final long rollbackAgeMaxMillis;
    private long sinceLastingBytes;
    private boolean ahead;
    /** Whether the last commit since the table was opened stands for what was found in it. */
    private boolean committedHere;
    /** When the offsets of the last commit were said to be right, as far as is known. */
    private long rightAt;

    /**
     * What {@link TableOpener} found and made.
     *
     * @param committed the last commit, which a loss of power cannot take back
     * @param foundUpTo no data that was found has a timestamp after this; where keys have no time, any number
     * @param foundEmpty whether no data was found
     * @param isGlobal whether what is processed is of no transaction
     * @param rollbackAgeMaxMillis how old a commit of a store with a changelog may be that the table goes back to
     */
    record Parts(
            String name,
            KeyValueStore store,
            TableShape shape,
            TableFilter filter,
            CommitMode mode,
            CommitState committed,
            boolean isAhead,
            long foundUpTo,
            boolean foundEmpty,
            boolean isGlobal,
            long rollbackAgeMaxMillis,
            Time time,
            Supplier<UndoneKeys> undoneKeys,
            Consumer<StateTable> afterClose) {}

    StateTable(Parts parts) {
        name = parts.name();
        store = parts.store();
        filter = parts.filter();
        mode = parts.mode();
        committed = parts.committed();
        afterClose = parts.afterClose();
        foundUpTo = parts.foundUpTo();
        foundEmpty = parts.foundEmpty();
        isGlobal = parts.isGlobal();
        rollbackAgeMaxMillis = parts.rollbackAgeMaxMillis();
        ahead = parts.isAhead();
        time = parts.time();
        rightAt = committed.madeAt();
        hasCommit = committed.epoch() > 0;
        ownEntries = 1 + (hasCommit ? 1 : 0) + (ahead ? 1 : 0);
        streamTime = committed.streamTime();
        position = committed.position().copy();
        undo = mode.undoes() ? new UndoLog(store, parts.undoneKeys().get(), parts.shape(), committed) : null;
        bulk = new BulkRestore(store, time, !committed.knowsOffsets() && !mode.snapshots());
        lasts(committed);
        // Of a versioned store nobody reads what is committed, and merges would drop nothing that has expired and is younger than a snapshot.
        if (mode.snapshots() && parts.shape().kind() != TableKind.VERSIONED) {
            committedReader = new CommittedReader(this, store.snapshot(), streamTime);
        }
    }

    String name() {
        return name;
    }

    boolean isOpen() {
        return open;
    }

    /** The position, to be read and changed under its monitor. */
    Position position() {
        return position;
    }

    /** The largest timestamp seen, before the table was opened too unless {@link #forgetEarlierTime} was called; or -1. */
    @Override
    public long streamTime() {
        return streamTime;
    }

    /** The largest timestamp seen since the table was opened, or -1. */
    long observedTime() {
        return observedTime;
    }

    /** No data has a timestamp after this, also where a killed process left data that no commit knows of. */
    long dataUpTo() {
        return Math.max(foundUpTo, streamTime);
    }

    /** Raises the largest timestamp seen. Belongs to the writer. */
    void observe(long timestamp) {
        if (timestamp > observedTime) {
            observedTime = timestamp;
            streamTime = Math.max(streamTime, timestamp);
        }
    }

    /**
     * Lets data expire by the time since the table was opened alone. To be called before something is written that had expired by the time of before:
     * either that was of a record from far in the future, or what comes now is late, and Kafka Streams' own stores take it. The last commit
     * is written anew with this time, so that going back to it does not bring the other one back. Belongs to the writer.
     *
     * @param expired what had expired by the time of before, some of which may have left the disk, and is removed; or null to keep what is left
     */
    synchronized void forgetEarlierTime(KeyRange expired) {
        LOG.info("Store {} takes a record that had expired before it was opened, when stream time was {}", name, streamTime);
        writing(() -> {
            bulk.end(this::commitRecord);
            finishCommit();
            keepLive(TableFilter.Live.from(Long.MIN_VALUE));
            if (expired != null) {
                UndoLog.remove(store, expired);
            }
            CommitState renewed = committed.at(observedTime);
            store.put(TableKeys.COMMIT, renewed.encoded(), Durability.SYNC);
            committed = renewed;
            lasts(renewed);
            streamTime = observedTime;
        });
    }

    /** Records with timestamps before this may be dropped, also where a commit has them that may be gone back to. */
    long expirableBefore(long retentionMillis) {
        long time = mode.undoes() ? lasting.streamTime() : streamTime;
        return time < 0 ? Long.MIN_VALUE : time - retentionMillis;
    }

    /**
     * The first segment, or begin of a version, of which there was nothing at the last commit, so that records may be dropped by the time of
     * the stream; or {@link TableShape#NOTHING_NEW}: there is none, or no data has to wait for a commit.
     */
    long firstNew() {
        return undo == null ? TableShape.NOTHING_NEW : undo.firstNew();
    }

    /** Tells merges which data is not needed any more. */
    void keepLive(TableFilter.Live live) {
        filter.live(live);
    }

    /** Gives back the space of a range that will not be read any more. */
    void discard(KeyRange range) {
        writing(() -> store.discard(range));
    }

    @Override
    public byte[] get(byte[] tableKey) {
        return reading(() -> store.get(tableKey));
    }

    @Override
    public Cursor cursor(KeyRange range) {
        return reading(() -> store.cursor(range));
    }

    @Override
    public <I extends TableIterator<?>> I opened(I iterator) {
        iterators.add(iterator);
        iterator.afterClose(iterators::remove);
        if (!open) {
            iterator.close();
        }
        return iterator;
    }

    /** Reads the table as the last commit left it; as it is when the mode keeps no snapshot. */
    TableReader committedReader() {
        CommittedReader reader = committedReader;
        return reader == null ? this : reader;
    }

    /** Sets the value of a table key; null removes it. No table has anything at a key that is too long, so there is nothing to remove. */
    synchronized void put(byte[] tableKey, byte[] value) {
        if (value == null && tableKey.length > KeyValueStore.KEY_BYTES_MAX) {
            return;
        }
        writing(() -> {
            bulk.end(this::commitRecord);
            if (undo != null) {
                finishCommit();
                keepTimeOfCommit();
                lastsWhereCommitsAreRare();
                processed = true;
                if (isWayBackUseless(tableKey)) {
                    endWayBack();
                }
            }
            if (undo != null && !ahead) {
                undoEntries += undo.write(tableKey, value);
            } else {
                writeAhead(tableKey, value);
            }
            writtenBytes += tableKey.length + (value == null ? 0 : value.length);
        });
    }

    private void writeAhead(byte[] tableKey, byte[] value) {
        markAhead();
        if (value == null) {
            store.delete(tableKey);
        } else {
            store.put(tableKey, value);
        }
    }

    /**
     * Whether a write asks for a way back to a commit that the table would not go back to: it is too old, which none becomes where commits
     * come all the time, and the changelog has everything ({@link TableOpener}).
     */
    private boolean isWayBackUseless(byte[] tableKey) {
        return !ahead
                && !mode.snapshots()
                && committed.isOld(time.milliseconds(), rollbackAgeMaxMillis)
                && committed.knowsOffsets()
                && !undo.isNew(tableKey);
    }

    /**
     * Writes have no way back until the next commit: its records would only grow, by one of each key that comes and goes. They go when the table
     * says so for good.
     */
    private void endWayBack() {
        LOG.info("Store {} has no way back to its last commit any more, which is too old, until the next one", name);
        store.put(TableKeys.AHEAD, new byte[0], Durability.SYNC);
        ownEntries++;
        ahead = true;
        long next = committed.epoch() + 1;
        filter.committed(next);
        store.discard(TableKeys.undoBefore(next));
        undoEntries = 0;
    }

    /**
     * Writes restored records, which are committed data and need no way back: {@code puts} puts them into a batch, and whatever the engine
     * refuses on the way is a failure of this store.
     */
    void restore(Consumer<RestoreBatch> puts) {
        writing(() -> {
            beginRestore();
            try (RestoreBatch batch = new RestoreBatch(this, store.newBatch())) {
                puts.accept(batch);
                batch.finish();
            }
        });
    }

    /** A commit that waits is finished before any restored record moves the time of the stream, by which data is dropped. */
    private synchronized void beginRestore() {
        writing(this::finishCommit);
    }

    /** Writes a batch of restored records. */
    synchronized void writeRestored(WriteBatch batch) {
        writing(() -> {
            noteRestored();
            bulk.write(batch);
            writtenBytes += batch.bytes();
        });
    }

    /** Writes a restored record that is larger than a batch may be. */
    synchronized void writeRestored(byte[] tableKey, byte[] value) {
        writing(() -> {
            noteRestored();
            bulk.write(tableKey, value);
            writtenBytes += (long) tableKey.length + value.length;
        });
    }

    private void noteRestored() {
        if (undo == null) {
            markAhead();
        } else {
            undo.noteAdded();
        }
    }

    /**
     * Makes everything written so far the data that {@code offsets} stand for, in one write.
     *
     * <p>Where a transaction may have been processed the commit waits in memory for the next write or commit, or for the end: Kafka Streams 4.3
     * also commits the stores of a task whose transaction it has given up, once, before it closes and deletes them. A process that is killed
     * before the store is closed must find the commit before.
     */
    synchronized void commit(Map<TopicPartition, Long> offsets) {
        if (!open) {
            return;
        }
        writing(this::finishCommit);
        Map<TopicPartition, Long> after = committed.offsetsAfter(offsets, foundEmpty);
        boolean isSame = writtenBytes == 0 && after.equals(committed.offsets()) && streamTime == committed.streamTime();
        if (isSame && (undo == null || committed.dataUpTo() != CommitState.UNKNOWN)) {
            rightAt = time.milliseconds();
            writing(() -> bulk.commitAgain(this::commitRecord));
            return;
        }
        writing(() -> {
            CommitState before = committed;
            committed = new CommitState(
                    before.epoch() + 1, streamTime, dataUpTo(), after, positionCopy(), time.milliseconds());
            sinceLastingBytes += writtenBytes;
            waiting = processed && !isGlobal && !mode.snapshots();
            if (!waiting) {
                try {
                    bulk.commit(this::commitRecord);
                } catch (RuntimeException e) {
                    committed = before;
                    throw e;
                }
                beginAfterCommit();
            }
            writtenBytes = 0;
            rightAt = committed.madeAt();
            committedHere = standsForData(offsets);
            CommittedReader old = committedReader;
            if (old != null) {
                committedReader = new CommittedReader(this, store.snapshot(), streamTime);
                old.release();
            }
        });
    }

    /** Writes a commit that waits. To be called before what follows it is written. */
    private void finishCommit() {
        if (waiting) {
            committed = committed.rightAt(rightAt);
            commitRecord();
            waiting = false;
            beginAfterCommit();
        }
    }

    private void beginAfterCommit() {
        processed = false;
        if (undo != null) {
            undo.begin(committed);
            undoEntries = 0;
        }
    }

    /**
     * Whether a commit says what the data stands for: an offset, or none because the store has no changelog. Kafka Streams begins with a commit
     * of an unknown offset where it has restored nothing; what was found then is still ahead of the changelog.
     */
    private static boolean standsForData(Map<TopicPartition, Long> offsets) {
        return offsets.isEmpty() || offsets.values().stream().anyMatch(offset -> offset != null && offset >= 0);
    }

    /**
     * Writes the last commit. Where writes are undone it is synced now and then, and only by a commit that was does the table drop
     * what an older one needs: what is dropped may be away for good while the log that says why is not on the device yet.
     */
    private void commitRecord() {
        boolean isSynced = mode.undoes() && sinceLastingBytes >= LASTING_BYTES;
        Durability durability = isSynced ? Durability.SYNC : Durability.BUFFERED;
        if (undo != null && ahead && committed.knowsOffsets()) {
            catchUp(durability);
        } else {
            store.put(TableKeys.COMMIT, committed.encoded(), durability);
        }
        if (!hasCommit) {
            hasCommit = true;
            ownEntries++;
        }
        if (isSynced) {
            lasts(committed);
        }
    }

    /** Writes the last commit, of all that was written with no way back to the one before: from now on there is one again. */
    private void catchUp(Durability durability) {
        try (WriteBatch batch = store.newBatch()) {
            batch.put(TableKeys.COMMIT, committed.encoded());
            batch.delete(TableKeys.AHEAD);
            store.write(batch, durability);
        }
        ahead = false;
        ownEntries--;
    }

    /**
     * Called before what needs a way back to the last commit is written. A commit of what there was already is not written while nothing
     * follows it: Kafka Streams also makes one of the offsets that it has found, before it restores what came after them.
     */
    private void keepTimeOfCommit() {
        if (hasCommit && rightAt != committed.madeAt()) {
            CommitState right = committed.rightAt(rightAt);
            store.put(TableKeys.COMMIT, right.encoded(), Durability.BUFFERED);
            committed = right;
        }
    }

    /**
     * Called before what is processed after a commit is written. Without transactional stores Kafka Streams commits a store that
     * processes once, when it begins, and then not before it closes; standbys and transactional stores are committed all the time.
     */
    private void lastsWhereCommitsAreRare() {
        if (!mode.snapshots() && lasting != committed) {
            store.sync();
            lasts(committed);
        }
    }

    private void lasts(CommitState commit) {
        lasting = commit;
        sinceLastingBytes = 0;
        filter.committed(commit.epoch());
        if (mode.snapshots()) {
            // Merges drop none of them that is younger than a snapshot which is still read.
            store.discard(TableKeys.undoBefore(commit.epoch()));
        }
    }

    private void markAhead() {
        if (!ahead) {
            store.put(TableKeys.AHEAD, new byte[0]);
            ownEntries++;
            ahead = true;
        }
    }

    private Position positionCopy() {
        synchronized (position) {
            return position.copy();
        }
    }

    Long committedOffset(TopicPartition partition) {
        requireOpen();
        return committed.offsets().get(partition);
    }

    Position committedPosition() {
        return committed.position().copy();
    }

    /** Bytes written since the last commit. */
    long writtenBytes() {
        return writtenBytes;
    }

    StoreStats stats() {
        return reading(store::stats);
    }

    /** About how many entries the data has; entries that were overwritten and not merged yet count. */
    long entriesEstimate() {
        return Math.max(0, stats().entriesEstimate() - ownEntries - undoEntries);
    }

    /** Waits for merges that are due. For tests. */
    void settle() {
        store.settle();
    }

    void requireOpen() {
        if (!open) {
            throw closed(null);
        }
    }

    private InvalidStateStoreException closed(ClosedException cause) {
        return new InvalidStateStoreException("Store " + name + " is currently closed", cause);
    }

    <R> R reading(Supplier<R> read) {
        try {
            return read.get();
        } catch (ClosedException e) {
            throw closed(e);
        } catch (StoreException e) {
            throw new ProcessorStateException("Error while reading store " + name, e);
        }
    }

    private void writing(Runnable write) {
        requireOpen();
        try {
            write.run();
        } catch (ClosedException e) {
            throw closed(e);
        } catch (StoreException e) {
            throw new ProcessorStateException("Error while writing store " + name, e);
        }
    }

    /** Closes iterators and the directory. What was written after the last commit stays, with its way back. Idempotent. */
    @Override
    public void close() {
        synchronized (this) {
            if (!open) {
                return;
            }
            open = false;
        }
        try {
            end();
        } finally {
            closeStore();
        }
    }

    private synchronized void end() {
        try {
            closeReaders();
            bulk.end(this::commitRecord);
            finishCommit();
            if (ahead && committedHere && writtenBytes == 0) {
                store.delete(TableKeys.AHEAD);
            }
        } catch (StoreException e) {
            LOG.warn("Store {} could not write its end; it is closed as it is", name, e);
        }
    }

    private void closeStore() {
        try {
            store.close();
        } catch (StoreException e) {
            throw new ProcessorStateException("Error while closing store " + name, e);
        } finally {
            afterClose.accept(this);
        }
    }

    private void closeReaders() {
        if (!iterators.isEmpty()) {
            LOG.warn("Closing {} open iterators for store {}", iterators.size(), name);
            iterators.forEach(TableIterator::close);
        }
        if (committedReader != null) {
            committedReader.release();
        }
    }
}
