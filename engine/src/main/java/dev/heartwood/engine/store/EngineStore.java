package dev.heartwood.engine.store;

import dev.heartwood.BackupReport;
import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.StoreTuning;
import dev.heartwood.ValueConsumer;
import dev.heartwood.VerifyReport;
import dev.heartwood.WriteBatch;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.call.KeyForm;
import dev.heartwood.engine.call.Operation;
import dev.heartwood.engine.call.StoreCalls;
import dev.heartwood.engine.node.TrunkPolicies;
import dev.heartwood.engine.read.ManyReads;
import dev.heartwood.engine.read.PointReads;
import dev.heartwood.engine.read.ReadCalls;
import dev.heartwood.engine.trunk.Trunk;
import dev.heartwood.engine.write.DeadRanges;
import dev.heartwood.engine.write.WritePath;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * A store as its users see it: checks what it is given, copies it to native memory, and hands it to who does it. Owns nothing but the parts
 * it is made of: {@link StoreCalls} say whether it is open, {@link StoreLifecycle} makes it durable and closes it, {@link ReadCalls} read a
 * key, {@link StoreViews} open snapshots and cursors, and {@link MemoryShare} is what the environment knows of it. Thread-safe.
 */
final class EngineStore implements KeyValueStore {
    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

    private final StoreParts parts;
    private final EngineEnvironment environment;
    private final WritePath write;
    private final StoreOptions options;
    private final KeyForm form;
    private final StoreCalls calls;
    private final ReadCalls reads;
    private final StoreViews views;
    private final MemoryShare memory;
    private final StoreLifecycle lifecycle;

    EngineStore(StoreParts parts, EngineEnvironment environment, Runnable afterClose) {
        this.parts = parts;
        this.environment = environment;
        this.write = parts.write();
        this.options = parts.options();
        this.form = KeyForm.of(options.keyOrder());
        this.calls = new StoreCalls(parts.operations(), parts.epochs());
        OpenViews open = new OpenViews();
        PointReads pointReads = new PointReads(calls, parts.read(), write, parts.live());
        this.reads = new ReadCalls(calls, pointReads, form, parts.storage().device().queuesOverlap());
        this.views = new StoreViews(calls, parts, reads, open, form);
        this.memory = new MemoryShare(calls, open, parts);
        this.lifecycle = new StoreLifecycle(
                parts, calls, open, environment.userCode(), views::closeAll, () -> environment.closed(this), afterClose);
    }

    /** Closes a store that nobody has been given: without what is to be done after that. */
    void closeAlone() {
        lifecycle.closeAlone();
    }

    /** What the environment asks it for. */
    MemoryShare memory() {
        return memory;
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
        delete(Arguments.segment(key, "key"), durability);
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
        merge(Arguments.segment(key, "key"), Arguments.segment(operand, "operand"), durability);
    }

    @Override
    public void merge(MemorySegment key, MemorySegment operand, Durability durability) {
        requireMergeOperator();
        writeSegments(Entries.MERGE, key, Objects.requireNonNull(operand, "operand"), durability);
    }

    private void requireMergeOperator() {
        if (options.mergeOperator().isEmpty()) {
            calls.requireOpen();
            throw new UnsupportedOperationException("the store was opened without a merge operator");
        }
    }

    private void writeArrays(byte kind, byte[] key, byte[] value, Durability durability) {
        Objects.requireNonNull(durability, "durability");
        EngineBatch.Limits.check(key.length, value.length);
        Operation operation = calls.begin();
        try {
            calls.require(operation, Operation.Copied.WRITE, (long) key.length + value.length);
            long keyAddress = form.copy(operation, key);
            long valueAddress = operation.copy(value);
            write.write(operation, kind, keyAddress, key.length, valueAddress, value.length, durability);
        } finally {
            operation.end();
        }
    }

    private void writeSegments(byte kind, MemorySegment key, MemorySegment value, Durability durability) {
        Objects.requireNonNull(durability, "durability");
        EngineBatch.Limits.check(key.byteSize(), value.byteSize());
        Operation operation = calls.begin();
        try {
            calls.require(operation, Operation.Copied.WRITE, key.byteSize() + value.byteSize());
            int keyLength = (int) key.byteSize();
            int valueLength = (int) value.byteSize();
            long keyAddress = form.copy(operation, key);
            long valueAddress = operation.copy(value);
            write.write(operation, kind, keyAddress, keyLength, valueAddress, valueLength, durability);
        } finally {
            operation.end();
        }
    }

    @Override
    public byte[] get(byte[] key) {
        return reads.get(key);
    }

    @Override
    public byte[] get(MemorySegment key) {
        return reads.get(null, key);
    }

    @Override
    public long get(MemorySegment key, MemorySegment destination) {
        return reads.get(null, key, destination);
    }

    @Override
    public List<byte[]> getAll(List<byte[]> keys) {
        return new ManyReads(reads, null, keys).run();
    }

    @Override
    public boolean get(byte[] key, ValueConsumer consumer) {
        return get(Arguments.segment(key, "key"), consumer);
    }

    @Override
    public boolean get(MemorySegment key, ValueConsumer consumer) {
        return reads.get(null, key, consumer);
    }

    @Override
    public boolean contains(byte[] key) {
        return contains(Arguments.segment(key, "key"));
    }

    @Override
    public boolean contains(MemorySegment key) {
        return reads.contains(null, key);
    }

    @Override
    public WriteBatch newBatch() {
        calls.requireOpen();
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
        Operation operation = calls.begin();
        try {
            if (engineBatch.count() == 0) {
                write.writeNothing(operation, durability);
                return;
            }
            long payloadBytes = engineBatch.payloadBytes();
            calls.require(operation, Operation.Copied.WRITE, payloadBytes);
            long payload = operation.reserve(payloadBytes);
            boolean mayMerge = options.mergeOperator().isPresent();
            write.writeBatch(operation, engineBatch.encode(payload, payloadBytes, form, mayMerge), durability);
        } finally {
            operation.end();
        }
    }

    @Override
    public Snapshot snapshot() {
        return views.snapshot();
    }

    @Override
    public Cursor cursor(KeyRange range) {
        return views.cursor(null, Objects.requireNonNull(range, "range"));
    }

    @Override
    public void sync() {
        environment.userCode().refuseWithin();
        Operation operation = calls.begin();
        try {
            write.sync(operation);
        } finally {
            operation.end();
        }
    }

    @Override
    public void checkpoint() {
        lifecycle.checkpoint();
    }

    @Override
    public VerifyReport verify() {
        return lifecycle.run(progress -> CheckpointView.verify(parts, environment.buffers(), progress));
    }

    @Override
    public BackupReport backup(Path directory) {
        Objects.requireNonNull(directory, "directory");
        checkpoint();
        return lifecycle.run(progress -> StoreBackup.run(parts, environment, directory, progress));
    }

    @Override
    public void discard(KeyRange range) {
        environment.userCode().refuseWithin();
        Operation operation = calls.begin();
        try {
            form.requireOrder(range, "to discard a range");
            // No checkpoint would have it.
            parts.failStop().check();
            if (discard(new Span(range.from(), range.to()))) {
                parts.epochs().reclaim();
                parts.background().discarded();
            }
        } finally {
            operation.end();
        }
    }

    /** Returns whether the tree has let go of anything. It may have so, too, where this throws. */
    private boolean discard(Span keys) {
        boolean mayHaveChanged = true;
        DeadRanges dead = parts.write().dead();
        dead.beginDiscard();
        try {
            mayHaveChanged = parts.trunk().discard(keys);
            return mayHaveChanged;
        } finally {
            dead.endDiscard();
            if (mayHaveChanged) {
                parts.records().forgetAll();
            }
        }
    }

    /** Gives some nodes of the tree a policy of their own, or takes it; see {@link StorePolicies}. */
    void changePolicy(KeyRange range, Trunk.Heights heights, TrunkPolicies policy) {
        Operation operation = calls.begin();
        try {
            parts.failStop().check();
            parts.trunk().changePolicy(new Span(range.from(), range.to()), heights, policy);
            parts.epochs().reclaim();
        } finally {
            operation.end();
        }
        parts.background().policyChanged();
    }

    /** How many nodes have a policy of their own. */
    int ownPolicies() {
        Operation operation = calls.begin();
        try {
            return parts.trunk().gauge().ownPolicies();
        } finally {
            operation.end();
        }
    }

    @Override
    public void settle() {
        lifecycle.settle();
    }

    @Override
    public StoreStats stats() {
        Operation operation = calls.begin();
        try {
            return parts.stats(environment.cache().stats(), environment.records().hits());
        } finally {
            operation.end();
        }
    }

    @Override
    public void tune(StoreTuning tuning) {
        Objects.requireNonNull(tuning, "tuning");
        environment.userCode().refuseWithin();
        Operation operation = calls.begin();
        try {
            parts.failStop().check();
            parts.tuner().tune(tuning);
        } finally {
            operation.end();
        }
    }

    @Override
    public StoreTuning tuning() {
        calls.requireOpen();
        return parts.tuner().tuning();
    }

    @Override
    public StoreOptions options() {
        StoreTuning tuning = tuning();
        return tuning.equals(StoreTuning.of(options)) ? options : tuning.applyTo(options);
    }

    @Override
    public void close() {
        lifecycle.close();
    }

    /** The directory, and whether it is closed. */
    @Override
    public String toString() {
        return "Heartwood store in " + parts.files().directory() + (calls.isClosed() ? ", closed" : "");
    }
}
