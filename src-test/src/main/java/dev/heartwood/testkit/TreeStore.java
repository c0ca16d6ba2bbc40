package dev.heartwood.testkit;

import dev.heartwood.BackupReport;
import dev.heartwood.ClosedException;
import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.StoreTuning;
import dev.heartwood.ValueConsumer;
import dev.heartwood.VerifyReport;
import dev.heartwood.WriteBatch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The simplest store that keeps the contract: a sorted map under one monitor, copied for every snapshot. Drivers and checkers are
 * tested on it, and on it with a {@link Bug} planted. Thread-safe.
 */
public final class TreeStore implements KeyValueStore {
    /** Mistakes to plant, each of which a driver must find. */
    public enum Bug {
        NONE,
        FORGETS_DELETES,
        SNAPSHOTS_SEE_LATER_WRITES,
        BATCH_LOSES_ITS_LAST_WRITE,
        MERGE_FORGETS_THE_VALUE,
        LONG_VALUES_ARE_CUT,
        CURSOR_SKIPS_WHEN_IT_TURNS,
        SEEK_PASSES_AN_EQUAL_KEY,
        UPPER_BOUND_IS_INCLUSIVE,
        LOSES_THE_LAST_KEY_AT_REOPEN
    }

    /** Where writes go before they are applied. */
    public interface Journal extends AutoCloseable {
        /** A journal that keeps nothing. */
        Journal NONE = (writes, durability) -> {};

        /** Keeps what is written, as a whole, as well as the level demands. */
        void append(List<Write> writes, Durability durability);

        /** Makes everything appended survive the loss of power. */
        default void sync() {}

        @Override
        default void close() {}
    }

    private final MergeOperator operator;
    private final StoreOptions options;
    private final Bug bug;
    private final Journal journal;
    private final TreeMap<byte[], byte[]> map = Model.newMap();
    private StoreTuning tuning;
    private int views;
    private boolean closed;

    /** A store that contains {@code contents}; closing it closes the journal. */
    public TreeStore(NavigableMap<byte[], byte[]> contents, StoreOptions options, Bug bug, Journal journal) {
        this.journal = journal;
        tuning = StoreTuning.of(options);
        map.putAll(contents);
        operator = options.mergeOperator().orElse(null);
        this.options = options;
        this.bug = bug;
    }

    /** A copy of what the store contains; also after it is closed. */
    public synchronized NavigableMap<byte[], byte[]> contents() {
        return new TreeMap<>(map);
    }

    private void requireOpen() {
        if (closed) {
            throw new ClosedException("the store");
        }
    }

    private synchronized void apply(List<Write> writes, Durability durability) {
        requireOpen();
        journal.append(writes, durability);
        for (Write write : writes) {
            apply(write);
        }
    }

    private void apply(Write write) {
        byte[] existing = bug == Bug.MERGE_FORGETS_THE_VALUE ? null : map.get(write.key());
        byte[] value = write.applyTo(existing, operator);
        if (value != null && bug == Bug.LONG_VALUES_ARE_CUT && value.length > 4096) {
            value = java.util.Arrays.copyOf(value, 4096);
        }
        if (value != null) {
            map.put(write.key(), value);
        } else if (bug != Bug.FORGETS_DELETES) {
            map.remove(write.key());
        }
    }

    @Override
    public void put(byte[] key, byte[] value, Durability durability) {
        apply(List.of(new Write(Write.Kind.PUT, key.clone(), value.clone())), durability);
    }

    @Override
    public void delete(byte[] key, Durability durability) {
        apply(List.of(new Write(Write.Kind.DELETE, key.clone(), null)), durability);
    }

    @Override
    public void merge(byte[] key, byte[] operand, Durability durability) {
        if (operator == null) {
            throw new UnsupportedOperationException("the store has no merge operator");
        }
        apply(List.of(new Write(Write.Kind.MERGE, key.clone(), operand.clone())), durability);
    }

    @Override
    public synchronized byte[] get(byte[] key) {
        requireOpen();
        byte[] value = map.get(key);
        return value == null ? null : value.clone();
    }

    @Override
    public boolean contains(byte[] key) {
        return get(key) != null;
    }

    @Override
    public boolean contains(MemorySegment key) {
        return get(key) != null;
    }

    @Override
    public synchronized List<byte[]> getAll(List<byte[]> keys) {
        return keys.stream().map(this::get).collect(Collectors.toCollection(ArrayList::new));
    }

    @Override
    public boolean get(byte[] key, ValueConsumer consumer) {
        return show(get(key), consumer);
    }

    private static boolean show(byte[] value, ValueConsumer consumer) {
        if (value == null) {
            return false;
        }
        try (Arena arena = Arena.ofConfined()) {
            consumer.accept(arena.allocateFrom(ValueLayout.JAVA_BYTE, value).asReadOnly());
        }
        return true;
    }

    @Override
    public long get(MemorySegment key, MemorySegment destination) {
        return copy(get(key), destination);
    }

    private static long copy(byte[] value, MemorySegment destination) {
        if (value == null) {
            return -1;
        }
        long length = Math.min(value.length, destination.byteSize());
        MemorySegment.copy(MemorySegment.ofArray(value), 0, destination, 0, length);
        return value.length;
    }

    @Override
    public WriteBatch newBatch() {
        return new TreeBatch();
    }

    @Override
    public void write(WriteBatch batch, Durability durability) {
        List<Write> writes = ((TreeBatch) batch).writes();
        boolean cut = bug == Bug.BATCH_LOSES_ITS_LAST_WRITE && writes.size() > 3;
        apply(cut ? writes.subList(0, writes.size() - 1) : writes, durability);
    }

    @Override
    public synchronized Snapshot snapshot() {
        requireOpen();
        views++;
        return new View(bug == Bug.SNAPSHOTS_SEE_LATER_WRITES ? map : contents());
    }

    @Override
    public synchronized Cursor cursor(KeyRange range) {
        requireOpen();
        views++;
        return newCursor(map, range);
    }

    private Cursor newCursor(NavigableMap<byte[], byte[]> contents, KeyRange range) {
        TreeMap<byte[], byte[]> within = Model.newMap();
        contents.forEach((key, value) -> {
            if (range.contains(key)
                    || bug == Bug.UPPER_BOUND_IS_INCLUSIVE && java.util.Arrays.equals(key, range.to())) {
                within.put(key, value);
            }
        });
        return new TreeCursor(within, bug, () -> closed, this::viewClosed);
    }

    private synchronized void viewClosed() {
        views--;
    }

    /** There are no files to copy. */
    @Override
    public BackupReport backup(Path directory) {
        throw new UnsupportedOperationException("a store in memory has no files");
    }

    @Override
    public VerifyReport verify() {
        return new VerifyReport(List.of(), List.of(), 0, 0, 0, map.size(), 0, 0, 0, 0);
    }

    @Override
    public synchronized StoreStats stats() {
        requireOpen();
        return new StoreStats(map.size(), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, views, 0, 0, 0, 0, 0, 0, 0,
                tuning.checkpointDistance(), 0, 0);
    }

    @Override
    public synchronized void tune(StoreTuning newTuning) {
        requireOpen();
        tuning = newTuning;
    }

    @Override
    public synchronized StoreTuning tuning() {
        return tuning;
    }

    @Override
    public synchronized StoreOptions options() {
        return tuning.applyTo(options);
    }

    @Override
    public synchronized void sync() {
        requireOpen();
        journal.sync();
    }

    @Override
    public synchronized void checkpoint() {
        requireOpen();
        journal.sync();
    }

    /** Keeps everything, as a store may. */
    @Override
    public void discard(KeyRange range) {}

    @Override
    public synchronized void settle() {
        requireOpen();
    }

    @Override
    public synchronized void close() {
        if (!closed && bug == Bug.LOSES_THE_LAST_KEY_AT_REOPEN && !map.isEmpty()) {
            map.pollLastEntry();
        }
        if (!closed) {
            closed = true;
            journal.sync();
            journal.close();
        }
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
    public void put(MemorySegment key, MemorySegment value, Durability durability) {
        put(array(key), array(value), durability);
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
    public void delete(MemorySegment key, Durability durability) {
        delete(array(key), durability);
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
    public void merge(MemorySegment key, MemorySegment operand, Durability durability) {
        merge(array(key), array(operand), durability);
    }

    @Override
    public byte[] get(MemorySegment key) {
        return get(array(key));
    }

    @Override
    public boolean get(MemorySegment key, ValueConsumer consumer) {
        return get(array(key), consumer);
    }

    @Override
    public void write(WriteBatch batch) {
        write(batch, options.durability());
    }

    static byte[] array(MemorySegment segment) {
        return segment.toArray(ValueLayout.JAVA_BYTE);
    }

    /** A copy of the map as it was. */
    private final class View implements Snapshot {
        private final NavigableMap<byte[], byte[]> contents;
        private boolean viewClosed;

        View(NavigableMap<byte[], byte[]> contents) {
            this.contents = contents;
        }

        @Override
        public byte[] get(byte[] key) {
            if (viewClosed || closed) {
                throw new ClosedException("the snapshot");
            }
            byte[] value = contents.get(key);
            return value == null ? null : value.clone();
        }

        @Override
        public byte[] get(MemorySegment key) {
            return get(array(key));
        }

        @Override
        public long get(MemorySegment key, MemorySegment destination) {
            return copy(get(key), destination);
        }

        @Override
        public boolean get(byte[] key, ValueConsumer consumer) {
            return show(get(key), consumer);
        }

        @Override
        public boolean get(MemorySegment key, ValueConsumer consumer) {
            return get(array(key), consumer);
        }

        @Override
        public List<byte[]> getAll(List<byte[]> keys) {
            return keys.stream().map(this::get).collect(Collectors.toCollection(ArrayList::new));
        }

        @Override
        public boolean contains(byte[] key) {
            return get(key) != null;
        }

        @Override
        public boolean contains(MemorySegment key) {
            return get(key) != null;
        }

        @Override
        public Cursor cursor(KeyRange range) {
            synchronized (TreeStore.this) {
                if (viewClosed || closed) {
                    throw new ClosedException("the snapshot");
                }
                views++;
                return newCursor(contents, range);
            }
        }

        @Override
        public void close() {
            if (!viewClosed) {
                viewClosed = true;
                viewClosed();
            }
        }
    }
}
