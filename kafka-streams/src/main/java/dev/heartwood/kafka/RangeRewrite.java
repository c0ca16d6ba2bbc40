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
        /** Adds to the batch what is to be written because of an entry, which the cursor stands on; may add nothing. */
        void add(byte[] key, Cursor entry, WriteBatch batch);
    }

    private final KeyValueStore store;
    private final KeyRange range;
    private final Change change;

    RangeRewrite(KeyValueStore store, KeyRange range, Change change) {
        this.store = store;
        this.range = range;
        this.change = change;
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
                if (batch.count() > 0 && batch.bytes() + key.length + cursor.valueSegment().byteSize() > BATCH_BYTES) {
                    return key;
                }
                change.add(key, cursor, batch);
                if (batch.bytes() >= BATCH_BYTES) {
                    return TableKeys.after(key);
                }
            }
        }
        return null;
    }
}
