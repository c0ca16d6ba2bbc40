package dev.heartwood.engine.store;

import dev.heartwood.Cursor;
import dev.heartwood.KeyRange;
import dev.heartwood.Snapshot;
import dev.heartwood.ValueConsumer;
import dev.heartwood.engine.read.ManyReads;
import dev.heartwood.engine.read.ReadCalls;
import dev.heartwood.engine.read.SnapshotHold;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** A user's snapshot: hands its calls, with its hold on a pinned state, to those that the store's own go to. Thread-safe. */
final class EngineSnapshot implements Snapshot {
    private final ReadCalls reads;
    private final StoreViews views;
    private final SnapshotHold hold;

    /** Takes over {@code hold}, which {@code views} lets go. */
    EngineSnapshot(ReadCalls reads, StoreViews views, SnapshotHold hold) {
        this.reads = reads;
        this.views = views;
        this.hold = hold;
    }

    @Override
    public byte[] get(byte[] key) {
        return get(Arguments.segment(key, "key"));
    }

    @Override
    public byte[] get(MemorySegment key) {
        hold.requireOpen();
        return reads.get(hold, key);
    }

    @Override
    public long get(MemorySegment key, MemorySegment destination) {
        hold.requireOpen();
        return reads.get(hold, key, destination);
    }

    @Override
    public boolean get(byte[] key, ValueConsumer consumer) {
        return get(Arguments.segment(key, "key"), consumer);
    }

    @Override
    public boolean get(MemorySegment key, ValueConsumer consumer) {
        hold.requireOpen();
        return reads.get(hold, key, consumer);
    }

    @Override
    public List<byte[]> getAll(List<byte[]> keys) {
        hold.requireOpen();
        return new ManyReads(reads, hold, keys).run();
    }

    @Override
    public boolean contains(byte[] key) {
        return contains(Arguments.segment(key, "key"));
    }

    @Override
    public boolean contains(MemorySegment key) {
        hold.requireOpen();
        return reads.contains(hold, key);
    }

    @Override
    public Cursor cursor(KeyRange range) {
        hold.requireOpen();
        return views.cursor(hold, range);
    }

    @Override
    public void close() {
        if (hold.close()) {
            views.release(hold, hold.state());
        }
    }
}
