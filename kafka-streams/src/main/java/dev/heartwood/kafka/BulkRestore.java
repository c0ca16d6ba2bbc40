package dev.heartwood.kafka;

import dev.heartwood.Durability;
import dev.heartwood.KeyValueStore;
import dev.heartwood.WriteBatch;

/**
 * The restore of a store that has nothing yet. The changelog is the log already, so batches are not logged a second time; instead
 * a checkpoint makes them durable before a commit that covers them is. Belongs to the writer of the table.
 *
 * <p>Commits come far more often than checkpoints should. While much is restored between two commits, most of them are kept in
 * memory only, which is safe because the offset found after a crash is then an older one. A commit that covers little ends this:
 * the store has caught up, and what follows is logged.
 */
final class BulkRestore {
    /** A commit that covers less than this ends the bulk restore. */
    static final long CAUGHT_UP_BYTES = 1 << 20;

    /** What is restored between two checkpoints at most. */
    static final long CHECKPOINT_BYTES = 256 << 20;

    private final KeyValueStore store;
    private boolean active;
    private long sinceCommitBytes;
    private long sinceCheckpointBytes;

    BulkRestore(KeyValueStore store, boolean active) {
        this.store = store;
        this.active = active;
    }

    void write(WriteBatch batch) {
        store.write(batch, durability());
        written(batch.bytes());
    }

    /** As the other, for a record that no batch has room for. */
    void write(byte[] tableKey, byte[] value) {
        store.put(tableKey, value, durability());
        written((long) tableKey.length + value.length);
    }

    private Durability durability() {
        return active ? Durability.NONE : Durability.BUFFERED;
    }

    private void written(long bytes) {
        sinceCommitBytes += bytes;
        sinceCheckpointBytes += bytes;
    }

    /** Commits by {@code record}, which writes the commit's record. */
    void commit(Runnable record) {
        if (active && sinceCheckpointBytes > 0) {
            boolean caughtUp = sinceCommitBytes < CAUGHT_UP_BYTES;
            sinceCommitBytes = 0;
            if (!caughtUp && sinceCheckpointBytes < CHECKPOINT_BYTES) {
                return;
            }
            checkpoint();
            active = !caughtUp;
        }
        record.run();
    }

    /** Ends the bulk restore; {@code record} writes the record of the last commit. */
    void end(Runnable record) {
        if (active) {
            if (sinceCheckpointBytes > 0) {
                checkpoint();
                record.run();
            }
            active = false;
        }
    }

    private void checkpoint() {
        store.checkpoint();
        sinceCheckpointBytes = 0;
    }
}
