package dev.heartwood.kafka;

import dev.heartwood.KeyValueStore;
import dev.heartwood.WriteBatch;
import org.apache.kafka.streams.query.Position;

/**
 * Collects restored records and writes them in batches of a bounded size; a record that is larger is written without one, for which there
 * is memory wherever there was for the record. The table's position moves when all is written: a query that asks for a position must find
 * the records. Belongs to one thread.
 */
final class RestoreBatch implements AutoCloseable {
    private static final long WRITE_BYTES = 512 << 10;

    private final StateTable table;
    private final WriteBatch batch;
    private final Position position = Position.emptyPosition();

    RestoreBatch(StateTable table, WriteBatch batch) {
        this.table = table;
        this.batch = batch;
    }

    /** Sets the value of a table key; null removes it. No table has anything at a key that is too long, so there is nothing to remove. */
    void put(byte[] tableKey, byte[] value) {
        if (value == null && tableKey.length > KeyValueStore.KEY_BYTES_MAX) {
            return;
        }
        long bytes = tableKey.length + (value == null ? 0L : value.length);
        if (batch.bytes() + bytes > WRITE_BYTES) {
            write();
        }
        if (bytes > WRITE_BYTES) {
            table.writeRestored(tableKey, value);
        } else if (value == null) {
            batch.delete(tableKey);
        } else {
            batch.put(tableKey, value);
        }
    }

    /** What the records carry, to be merged into. */
    Position position() {
        return position;
    }

    /** Writes what is left, and moves the table's position on. */
    void finish() {
        write();
        Position reached = table.position();
        synchronized (reached) {
            reached.merge(position);
        }
    }

    /** Writes what is left. */
    void write() {
        if (batch.count() > 0) {
            table.writeRestored(batch);
            batch.clear();
        }
    }

    @Override
    public void close() {
        batch.close();
    }
}
