package dev.heartwood.kafka;

import dev.heartwood.Durability;
import dev.heartwood.KeyValueStore;
import dev.heartwood.WriteBatch;
import org.apache.kafka.common.utils.Time;

/**
 * The restore of a store that has nothing yet. The changelog is the log already, so batches are not logged a second time; instead
 * a checkpoint makes them durable before a commit that covers them is. Belongs to the writer of the table.
 *
 * <p>Commits come far more often than checkpoints should. While much is restored, most of them are kept in memory only, which is safe because
 * the offset found after a crash is then an older one. Where little has come for a while the store has caught up, and what follows is
 * logged. Under exactly-once there are ten commits a second, and of many stores that are restored together each gets little between two.
 */
final class BulkRestore {
    /** Less than this in {@link #CAUGHT_UP_MILLIS} is little. */
    static final long CAUGHT_UP_BYTES = 1 << 20;

    /** What at-least-once has between two commits if nobody says otherwise. */
    static final long CAUGHT_UP_MILLIS = 30_000;

    /** What is restored between two checkpoints at most. */
    static final long CHECKPOINT_BYTES = 256 << 20;

    private final KeyValueStore store;
    private final Time time;
    private boolean active;
    private long sinceCheckpointBytes;
    private long recentBytes;
    private long recentBegin;

    BulkRestore(KeyValueStore store, Time time, boolean active) {
        this.store = store;
        this.time = time;
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
        if (sinceCheckpointBytes == 0) {
            beginRecent();
        }
        recentBytes += bytes;
        sinceCheckpointBytes += bytes;
    }

    private void beginRecent() {
        recentBytes = 0;
        recentBegin = time.hiResClockMs();
    }

    /** Commits by {@code record}, which writes the commit's record. */
    void commit(Runnable record) {
        if (!isPending()) {
            record.run();
        } else if (hasCaughtUp()) {
            end(record);
        } else if (sinceCheckpointBytes >= CHECKPOINT_BYTES) {
            checkpoint(record);
        }
    }

    /** Commits what has been committed already, and nothing since: a store to which nothing comes any more has caught up too. */
    void commitAgain(Runnable record) {
        if (isPending() && hasCaughtUp()) {
            end(record);
        }
    }

    /** Ends the bulk restore; {@code record} writes the record of the last commit. */
    void end(Runnable record) {
        if (isPending()) {
            checkpoint(record);
        }
        active = false;
    }

    private boolean isPending() {
        return active && sinceCheckpointBytes > 0;
    }

    private boolean hasCaughtUp() {
        if (recentBytes >= CAUGHT_UP_BYTES) {
            beginRecent();
            return false;
        }
        return time.hiResClockMs() - recentBegin >= CAUGHT_UP_MILLIS;
    }

    /** What could not be written here is still due: where writes are undone, what follows leads back to this commit. */
    private void checkpoint(Runnable record) {
        store.checkpoint();
        record.run();
        sinceCheckpointBytes = 0;
    }
}
