package dev.heartwood.kafka;

import dev.heartwood.Cursor;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.WriteBatch;

/**
 * Walks a range of a table and writes what becomes of its entries, in batches of a bounded size: what a batch changes of one entry is
 * written as a whole, and an entry that is larger has a batch of its own. Belongs to the writer of the table.
 *
 * <p>The cursor is closed before a batch is written, and the next one begins behind the last entry: one that stayed open would hold the
 * space of all that is rewritten until the end. So it comes upon what was written further on in the range.
 */
final class RangeRewrite {
    private static final long BATCH_BYTES = 256 << 10;

    /** Says what becomes of one entry. */
    @FunctionalInterface
    interface Change {
        /** Adds to the batch what is to be written because of an entry, whose value is null where keys alone are walked; may add nothing. */
        void add(byte[] key, byte[] value, WriteBatch batch);
    }

    private final KeyValueStore store;
    private final KeyRange range;
    private final boolean readsValues;
    private final Change change;

    private RangeRewrite(KeyValueStore store, KeyRange range, boolean readsValues, Change change) {
        this.store = store;
        this.range = range;
        this.readsValues = readsValues;
        this.change = change;
    }

    /** For what is written of keys and values, at most the value once and some keys. */
    static RangeRewrite ofEntries(KeyValueStore store, KeyRange range, Change change) {
        return new RangeRewrite(store, range, true, change);
    }

    /** For what is written whatever the values are, which are not read. */
    static RangeRewrite ofKeys(KeyValueStore store, KeyRange range, Change change) {
        return new RangeRewrite(store, range, false, change);
    }

    /** Walks the range to its end; returns how many puts and deletions were written. */
    long run() {
        long written = 0;
        byte[] from = range.from();
        try (WriteBatch batch = store.newBatch()) {
            while (from != null) {
                batch.clear();
                from = gather(KeyRange.between(from, range.to()), batch);
                written += batch.count();
                if (batch.count() > 0) {
                    store.write(batch);
                }
            }
        }
        return written;
    }

    /** Fills a batch; returns where to go on, or null at the end of the range. */
    private byte[] gather(KeyRange rest, WriteBatch batch) {
        try (Cursor cursor = store.cursor(rest)) {
            while (cursor.next()) {
                byte[] key = cursor.key();
                byte[] value = readsValues ? cursor.value() : null;
                if (batch.count() > 0 && batch.bytes() + key.length + (value == null ? 0 : value.length) > BATCH_BYTES) {
                    return key;
                }
                change.add(key, value, batch);
            }
        }
        return null;
    }
}
