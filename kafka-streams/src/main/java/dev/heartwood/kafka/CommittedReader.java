package dev.heartwood.kafka;

import dev.heartwood.Cursor;
import dev.heartwood.KeyRange;
import dev.heartwood.Snapshot;
import java.util.function.Supplier;

/** Reads a table as its last commit left it. Thread-safe. */
final class CommittedReader implements TableReader {
    private final StateTable table;
    private final Snapshot snapshot;
    private final long streamTime;
    private int readers = 1;

    CommittedReader(StateTable table, Snapshot snapshot, long streamTime) {
        this.table = table;
        this.snapshot = snapshot;
        this.streamTime = streamTime;
    }

    @Override
    public byte[] get(byte[] tableKey) {
        return held() ? read(() -> snapshot.get(tableKey)) : later().get(tableKey);
    }

    @Override
    public Cursor cursor(KeyRange range) {
        return held() ? read(() -> snapshot.cursor(range)) : later().cursor(range);
    }

    @Override
    public long streamTime() {
        return streamTime;
    }

    @Override
    public <I extends TableIterator<?>> I opened(I iterator) {
        return table.opened(iterator);
    }

    private <R> R read(Supplier<R> read) {
        try {
            return table.reading(read);
        } finally {
            release();
        }
    }

    /** The reader of a later commit, which took this one's place. */
    private TableReader later() {
        table.requireOpen();
        return table.committedReader();
    }

    /** Counts a reader in, unless the next commit has let go of the snapshot. */
    private synchronized boolean held() {
        if (readers == 0) {
            return false;
        }
        readers++;
        return true;
    }

    /** Counts a reader, or the table itself, out; the last one closes the snapshot. */
    void release() {
        boolean isLast;
        synchronized (this) {
            isLast = --readers == 0;
        }
        if (isLast) {
            snapshot.close();
        }
    }
}
