package dev.heartwood.engine.store;

import dev.heartwood.BackupReport;
import dev.heartwood.ClosedException;
import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.NoSpaceException;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.StoreTuning;
import dev.heartwood.ValueConsumer;
import dev.heartwood.VerifyReport;
import dev.heartwood.WriteBatch;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.checkpoint.SessionMark;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.trunk.Trunk;
import dev.heartwood.engine.trunk.TrunkPolicies;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * A store: checks what it is given, copies it to native memory, and hands it to the write path or the read path. Thread-safe.
 *
 * <p>Closing: everything is made durable while calls go on. Then a flag is raised, and an epoch later no call is inside one; calls that
 * waited outside of an epoch look at the flag again, and those that work outside of one are waited for. What was written meanwhile, maybe
 * without a log, is made durable too. Then cursors and snapshots that are still open are let go, and the parts close from the top down.
 */
final class EngineStore implements KeyValueStore {
    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

    private final StoreParts parts;
    private final EngineEnvironment environment;
    private final Runnable afterClose;
    private final WritePath write;
    private final ReadPath read;
    private final PointReads reads;
    private final StoreOptions options;
    private final KeyForm form;
    private final OpenViews views = new OpenViews();
    /** Fair: threads that make one checkpoint after the other must not keep the store from closing. */
    private final ReentrantLock lifecycle = new ReentrantLock(true);

    private final LongCalls longCalls = new LongCalls();
    /** Made ahead, as what closes the parts: a full Java heap must not keep a store from closing. */
    private final LongSupplier seal;

    private final LongSupplier sealLast;
    private final Closing closing;
    private volatile boolean closed;

    EngineStore(StoreParts parts, EngineEnvironment environment, Runnable afterClose) {
        this.parts = parts;
        this.environment = environment;
        this.afterClose = afterClose;
        this.write = parts.write();
        this.read = parts.read();
        this.options = parts.options();
        this.form = KeyForm.of(options.keyOrder());
        this.reads = new PointReads(this, views, read, write, parts.live());
        this.seal = write::seal;
        this.sealLast = write::sealLast;
        this.closing = parts.closing(this::closeViews);
    }

    /** Begins a call; refuses it when the store is closed. */
    Operation enter() {
        return requireOpen(parts.operations().begin());
    }

    /** As {@link #enter} for a cursor, which locks the pages it reads: however long it takes, it holds nothing back. */
    Operation enterOutsideEpoch() {
        return requireOpen(parts.operations().beginOutsideEpoch(this));
    }

    private Operation requireOpen(Operation operation) {
        if (closed) {
            operation.end();
            throw new ClosedException("the store");
        }
        return operation;
    }

    /** Refuses what does not touch shared memory when the store is closed. */
    void requireOpen() {
        if (closed) {
            throw new ClosedException("the store");
        }
    }

    /** Makes room for what a call copies. The call may have waited for it, so it looks again whether the store is closed. */
    void require(Operation operation, long bytes) {
        operation.require(bytes);
        requireOpen();
    }

    /** As {@link #require} for a key to be looked up. */
    private void requireForRead(Operation operation, int keyBytes) {
        operation.requireForRead(keyBytes);
        requireOpen();
    }

    /** Notes that a cursor is opened or moved. */
    void noteAsked() {
        read.noteAsked();
    }

    /** The merge operator for stored keys, or null. */
    MergeOperator mergeOperator() {
        return read.operator();
    }

    /** The form of stored keys. */
    KeyForm form() {
        return form;
    }

    /** {@link StoreOptions#groupSuffixBytes}. */
    int groupSuffixBytes() {
        return options.groupSuffixBytes();
    }

    /** Copies a key to the call's scratch, in its stored form. */
    private long storedKey(Operation operation, byte[] key) {
        long address = operation.copy(key);
        form.store(address, key.length);
        return address;
    }

    /** Copies a key to the call's scratch, in its stored form. */
    private long storedKey(Operation operation, MemorySegment key) {
        long address = operation.copy(key);
        form.store(address, (int) key.byteSize());
        return address;
    }

    @Override
    public void put(byte[] key, byte[] value) {
        put(key, value, options.durability());
    }

    @Override
    public void put(MemorySegment key, MemorySegment value) {
        put(key, value, options.durability());
    }

    @Override
    public void put(byte[] key, byte[] value, Durability durability) {
        writeArrays(Entries.PUT, key, value, durability);
    }

    @Override
    public void put(MemorySegment key, MemorySegment value, Durability durability) {
        writeSegments(Entries.PUT, key, value, durability);
    }

    @Override
    public void delete(byte[] key) {
        delete(key, options.durability());
    }

    @Override
    public void delete(MemorySegment key) {
        delete(key, options.durability());
    }

    @Override
    public void delete(byte[] key, Durability durability) {
        delete(MemorySegment.ofArray(key), durability);
    }

    @Override
    public void delete(MemorySegment key, Durability durability) {
        writeSegments(Entries.DELETE, key, NOTHING, durability);
    }

    @Override
    public void merge(byte[] key, byte[] operand) {
        merge(key, operand, options.durability());
    }

    @Override
    public void merge(MemorySegment key, MemorySegment operand) {
        merge(key, operand, options.durability());
    }

    @Override
    public void merge(byte[] key, byte[] operand, Durability durability) {
        merge(MemorySegment.ofArray(key), MemorySegment.ofArray(operand), durability);
    }

    @Override
    public void merge(MemorySegment key, MemorySegment operand, Durability durability) {
        requireMergeOperator();
        writeSegments(Entries.MERGE, key, operand, durability);
    }

    private void requireMergeOperator() {
        if (options.mergeOperator().isEmpty()) {
            throw new UnsupportedOperationException("the store was opened without a merge operator");
        }
    }

    private void writeArrays(byte kind, byte[] key, byte[] value, Durability durability) {
        Objects.requireNonNull(durability, "durability");
        EngineBatch.Limits.check(key.length, value.length);
        Operation operation = enter();
        try {
            require(operation, (long) key.length + value.length);
            long keyAddress = storedKey(operation, key);
            long valueAddress = operation.copy(value);
            write.write(operation, kind, keyAddress, key.length, valueAddress, value.length, durability);
        } finally {
            operation.end();
        }
    }

    private void writeSegments(byte kind, MemorySegment key, MemorySegment value, Durability durability) {
        Objects.requireNonNull(durability, "durability");
        EngineBatch.Limits.check(key.byteSize(), value.byteSize());
        Operation operation = enter();
        try {
            require(operation, key.byteSize() + value.byteSize());
            int keyLength = (int) key.byteSize();
            int valueLength = (int) value.byteSize();
            long keyAddress = storedKey(operation, key);
            long valueAddress = operation.copy(value);
            write.write(operation, kind, keyAddress, keyLength, valueAddress, valueLength, durability);
        } finally {
            operation.end();
        }
    }

    @Override
    public byte[] get(byte[] key) {
        Operation operation = enter();
        try {
            if (isTooLong(key.length)) {
                return null;
            }
            requireForRead(operation, key.length);
            long keyAddress = storedKey(operation, key);
            return reads.get(operation, null, keyAddress, key.length);
        } finally {
            operation.end();
        }
    }

    @Override
    public byte[] get(MemorySegment key) {
        return get((EngineSnapshot) null, key);
    }

    @Override
    public long get(MemorySegment key, MemorySegment destination) {
        return get((EngineSnapshot) null, key, destination);
    }

    /** As the public get, in a snapshot; null is the current state. */
    byte[] get(EngineSnapshot snapshot, MemorySegment key) {
        Operation operation = enter();
        SnapshotState state = null;
        try {
            if (isTooLong(key.byteSize())) {
                return null;
            }
            int length = (int) key.byteSize();
            requireForRead(operation, length);
            state = stateOf(snapshot);
            long keyAddress = storedKey(operation, key);
            return reads.get(operation, state, keyAddress, length);
        } finally {
            leave(operation, state);
        }
    }

    /** As the public get, in a snapshot; null is the current state. */
    long get(EngineSnapshot snapshot, MemorySegment key, MemorySegment destination) {
        Operation operation = enter();
        SnapshotState state = null;
        try {
            if (destination.isReadOnly()) {
                throw new IllegalArgumentException("a destination that is read-only");
            }
            if (isTooLong(key.byteSize())) {
                return -1;
            }
            int length = (int) key.byteSize();
            requireForRead(operation, length);
            state = stateOf(snapshot);
            long keyAddress = storedKey(operation, key);
            return reads.get(operation, state, keyAddress, length, destination);
        } finally {
            leave(operation, state);
        }
    }

    @Override
    public boolean get(byte[] key, ValueConsumer consumer) {
        return get(MemorySegment.ofArray(key), consumer);
    }

    @Override
    public boolean get(MemorySegment key, ValueConsumer consumer) {
        Objects.requireNonNull(consumer, "consumer");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = get(key, arena);
            if (value == null) {
                return false;
            }
            // After the call has ended: however long the consumer takes, it holds nothing back.
            consumer.accept(value.asReadOnly());
            return true;
        }
    }

    private MemorySegment get(MemorySegment key, Arena arena) {
        Operation operation = enter();
        try {
            if (isTooLong(key.byteSize())) {
                return null;
            }
            int length = (int) key.byteSize();
            requireForRead(operation, length);
            long keyAddress = storedKey(operation, key);
            return reads.get(operation, null, keyAddress, length, arena);
        } finally {
            operation.end();
        }
    }

    @Override
    public boolean contains(byte[] key) {
        return contains(MemorySegment.ofArray(key));
    }

    @Override
    public boolean contains(MemorySegment key) {
        return get(key, NOTHING) >= 0;
    }

    /** Whether no key of this length can have been written. */
    private static boolean isTooLong(long keyBytes) {
        return keyBytes > KEY_BYTES_MAX;
    }

    @Override
    public WriteBatch newBatch() {
        requireOpen();
        return new EngineBatch(options.mergeOperator().isPresent());
    }

    @Override
    public void write(WriteBatch batch) {
        write(batch, options.durability());
    }

    @Override
    public void write(WriteBatch batch, Durability durability) {
        Objects.requireNonNull(durability, "durability");
        Objects.requireNonNull(batch, "batch");
        if (!(batch instanceof EngineBatch engineBatch)) {
            throw new IllegalArgumentException("the batch was not made by newBatch()");
        }
        engineBatch.requireOpen();
        if (engineBatch.holdsOperands()) {
            requireMergeOperator();
        }
        Operation operation = enter();
        try {
            if (engineBatch.count() == 0) {
                write.writeNothing(durability);
                return;
            }
            require(operation, engineBatch.payloadBytes());
            long payload = operation.reserve(engineBatch.payloadBytes());
            engineBatch.encode(payload, form);
            write.writeBatch(
                    operation,
                    new BatchEntries(
                            engineBatch.count(), engineBatch.bytes(), payload, engineBatch.payloadBytes(), engineBatch.space()),
                    durability);
        } finally {
            operation.end();
        }
    }

    @Override
    public Snapshot snapshot() {
        Operation operation = enter();
        SnapshotState state = null;
        try {
            state = SnapshotState.open(read, write, parts.live());
            EngineSnapshot snapshot = new EngineSnapshot(this, state);
            views.add(snapshot, state);
            return snapshot;
        } catch (RuntimeException | Error e) {
            if (state != null) {
                state.release();
            }
            throw e;
        } finally {
            operation.end();
        }
    }

    @Override
    public Cursor cursor(KeyRange range) {
        return cursor((EngineSnapshot) null, Objects.requireNonNull(range, "range"));
    }

    /** A cursor over a snapshot; null is the current state. */
    Cursor cursor(EngineSnapshot snapshot, KeyRange range) {
        Operation operation = enter();
        SnapshotState state = null;
        ViewSources held = null;
        EngineCursor cursor = null;
        try {
            form.requireOrder(range, "a cursor over a range");
            state = snapshot == null ? SnapshotState.open(read, write, parts.live()) : snapshot.enter();
            held = state.retainSources();
            cursor = new EngineCursor(this, state, held, held.entries(read, state.sequence()), range);
            noteAsked();
            parts.background().scanned();
            views.add(cursor, state);
            return cursor;
        } catch (RuntimeException | Error e) {
            if (cursor != null) {
                cursor.closeEntries();
            } else if (held != null) {
                held.release();
            }
            if (state != null) {
                state.release();
            }
            throw e;
        } finally {
            operation.end();
        }
    }

    /** Lets go of what a snapshot or a cursor holds, unless the closing of the store has done so. */
    void released(Object holder, SnapshotState state) {
        Operation operation = parts.operations().begin();
        try {
            if (!closed && views.remove(holder)) {
                release(holder, state);
            }
        } finally {
            operation.end();
        }
    }

    private static void release(Object holder, SnapshotState state) {
        try {
            if (holder instanceof EngineCursor cursor) {
                cursor.closeEntries();
            }
        } finally {
            state.release();
        }
    }

    /** Taken once the call waits for nothing more: who closes the snapshot leaves its memtables to the call. */
    private static SnapshotState stateOf(EngineSnapshot snapshot) {
        return snapshot == null ? null : snapshot.enter();
    }

    private static void leave(Operation operation, SnapshotState state) {
        try {
            if (state != null) {
                state.release();
            }
        } finally {
            operation.end();
        }
    }

    @Override
    public void sync() {
        Operation operation = enter();
        try {
            write.sync();
        } finally {
            operation.end();
        }
    }

    @Override
    public void checkpoint() {
        whileOpen(() -> checkpointNow(seal));
    }

    /**
     * Runs something long that closing has to wait for. It is no operation: threads that wait their turn here, however many, have no slots
     * that others need, maybe those whom this waits for.
     */
    private void whileOpen(Runnable action) {
        environment.userCode().refuseWithin();
        lifecycle.lock();
        try {
            if (closed) {
                throw new ClosedException("the store");
            }
            action.run();
        } finally {
            lifecycle.unlock();
        }
    }

    private void checkpointNow(LongSupplier sealing) {
        parts.failStop().check();
        parts.background().awaitPacked(sealing.getAsLong());
        runCheckpoint();
    }

    private void runCheckpoint() {
        try {
            parts.checkpointer().run();
        } catch (NoSpaceException | InsufficientMemoryException e) {
            throw e;
        } catch (RuntimeException | Error e) {
            parts.failStop().fail(e);
            throw e;
        }
        parts.epochs().reclaim();
    }

    @Override
    public VerifyReport verify() {
        return longCall(() -> CheckpointView.verify(parts, environment.buffers(), (what, done, total) -> longCalls.requireOpen()));
    }

    @Override
    public BackupReport backup(Path directory) {
        Objects.requireNonNull(directory, "directory");
        checkpoint();
        return longCall(() -> StoreBackup.run(parts, environment, directory, (what, done, total) -> longCalls.requireOpen()));
    }

    /** Runs something long that others need not wait for; closing ends it. */
    private <T> T longCall(Supplier<T> call) {
        AtomicReference<T> result = new AtomicReference<>();
        Operation operation = enter();
        try {
            operation.outsideEpoch(() -> result.set(longCalls.run(call)));
        } finally {
            operation.end();
        }
        return result.get();
    }

    @Override
    public void discard(KeyRange range) {
        Operation operation = enter();
        try {
            form.requireOrder(range, "to discard a range");
            if (parts.trunk().discard(new Span(range.from(), range.to()))) {
                parts.records().forgetAll();
                parts.epochs().reclaim();
            }
        } finally {
            operation.end();
        }
    }

    /** Gives some nodes of the tree a policy of their own, or takes it; see {@link StorePolicies}. */
    void changePolicy(KeyRange range, Trunk.Heights heights, TrunkPolicies policy) {
        Operation operation = enter();
        try {
            parts.trunk().changePolicy(new Span(range.from(), range.to()), heights, policy);
            parts.epochs().reclaim();
        } finally {
            operation.end();
        }
        parts.background().policyChanged();
    }

    /** How many nodes have a policy of their own. */
    int ownPolicies() {
        Operation operation = enter();
        try {
            return parts.trunk().gauge().ownPolicies();
        } finally {
            operation.end();
        }
    }

    @Override
    public void settle() {
        whileOpen(() -> {
            boolean goesOn = true;
            while (goesOn) {
                if (parts.background().isSpaceShort()) {
                    // What was deleted frees space only once it is in the tree.
                    parts.background().awaitPacked(write.seal());
                }
                goesOn = parts.background().settle();
                runCheckpoint();
            }
            parts.returnFreeSpace();
        });
    }

    @Override
    public StoreStats stats() {
        Operation operation = enter();
        try {
            return parts.stats(environment.cache().stats(), environment.records().hits());
        } finally {
            operation.end();
        }
    }

    @Override
    public void tune(StoreTuning tuning) {
        Objects.requireNonNull(tuning, "tuning");
        Operation operation = enter();
        try {
            parts.failStop().check();
            parts.tuner().tune(tuning);
        } finally {
            operation.end();
        }
    }

    @Override
    public StoreTuning tuning() {
        requireOpen();
        return parts.tuner().tuning();
    }

    @Override
    public StoreOptions options() {
        StoreTuning tuning = tuning();
        return tuning.equals(StoreTuning.of(options)) ? options : tuning.applyTo(options);
    }

    long logBytesInMemory() {
        return parts.log().bytesInMemory();
    }

    /** Bytes of keys and values given to it since it was opened. */
    long bytesWritten() {
        return write.userBytes();
    }

    /** Bytes of the shared pool that {@link #sealForOthers} would have given back. */
    long sealableBytes() {
        return write.canSeal() ? parts.generations().active().memtable().bytesHeld() : 0;
    }

    /** Whether memory of this store's memtables is about to be given back, or would be if it were asked to seal. */
    boolean isMemoryComing() {
        // In this order: a memtable leaves while it is packed. Nobody reads one for ever, but what failed may keep it.
        return closed
                || parts.background().isPacking()
                || parts.generations().isAnyLeaving() && !parts.failStop().isFailed()
                || write.canSeal() && !parts.background().isPackingRefused();
    }

    /** Has views that are open give back memory of memtables that the tree has by now; waits for nobody. */
    void catchUpViews() {
        if (!parts.generations().isAnyLeaving()) {
            return;
        }
        int slot = parts.epochs().enterBriefly();
        try {
            if (!closed) {
                views.catchUp(parts.epochs());
            }
        } finally {
            parts.epochs().exit(slot);
        }
    }

    /** Seals the active memtable for the sake of other stores, unless that would have to wait. */
    void sealForOthers() {
        if (closed) {
            return;
        }
        try {
            write.sealIfPossible();
        } catch (RuntimeException | Error e) {
            parts.failStop().fail(e);
        }
    }

    @Override
    public void close() {
        environment.userCode().refuseWithin();
        Throwable failure;
        lifecycle.lock();
        try {
            if (closed) {
                return;
            }
            longCalls.close();
            failure = makeDurable(seal);
            closed = true;
            write.close();
            awaitCalls();
            failure = failure == null ? makeLastDurable() : failure;
            failure = Closing.join(failure, closing.run());
            environment.closed(this);
        } finally {
            lifecycle.unlock();
        }
        // Without the lock: closing the environment waits for calls, and those may wait for the lock.
        Closing.throwIfAny(Closing.join(failure, Closing.run(afterClose)));
    }

    private void closeViews() {
        views.closeAll(parts.files().directory().toString(), EngineStore::release);
    }

    /** Makes durable what was written while everything else was; returns why it could not. */
    private Throwable makeLastDurable() {
        try {
            return parts.isDurable() ? null : makeDurable(sealLast);
        } catch (RuntimeException | Error e) {
            return e;
        }
    }

    /** Makes durable what {@code sealing} seals; returns why it could not, be it an earlier failure, of which nobody may have been told. */
    private Throwable makeDurable(LongSupplier sealing) {
        try {
            checkpointNow(sealing);
            SessionMark.write(parts.files(), parts.checkpointer().durable());
            parts.returnFreeSpace();
            return null;
        } catch (RuntimeException | Error e) {
            return e;
        }
    }

    /** Waits until every call that saw the store open has ended. */
    private void awaitCalls() {
        parts.epochs().awaitOperations();
        parts.operations().awaitUsers(this);
        views.awaitMoves();
    }
}
