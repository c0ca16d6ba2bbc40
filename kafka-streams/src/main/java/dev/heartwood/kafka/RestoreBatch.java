package dev.heartwood.kafka;

import dev.heartwood.WriteBatch;

/**
 * Collects restored records and writes them in batches of a bounded size; a record that is larger is written without one, for which there
 * is memory wherever there was for the record. Belongs to one thread.
 */
final class RestoreBatch implements AutoCloseable {
    private static final long WRITE_BYTES = 512 << 10;

    private final StateTable table;
    private final WriteBatch batch;

    RestoreBatch(StateTable table, WriteBatch batch) {
        this.table = table;
        this.batch = batch;
    }

    /** Sets the value of a table key; null removes it. */
    void put(byte[] tableKey, byte[] value) {
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
