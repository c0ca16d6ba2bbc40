package dev.heartwood.kafka;

import dev.heartwood.WriteBatch;

/**
 * Collects restored records and writes them in batches of a bounded size; a record that is larger has one of its own, for which there is
 * memory wherever there was for the record. Belongs to one thread.
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
        if (batch.bytes() + tableKey.length + (value == null ? 0 : value.length) > WRITE_BYTES) {
            write();
        }
        if (value == null) {
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
