package dev.heartwood.kafka;

import dev.heartwood.Cursor;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.WriteBatch;

/**
 * Walks a range of a table and writes what becomes of its entries, in batches of a bounded size: what a batch changes of one entry is
 * written as a whole. What becomes of a larger entry is written one by one: there is memory for what was a write once, and not for two keys
 * beside it. So who changes entries says in which order that may be cut short. Belongs to the writer of the table.
 *
 * <p>The cursor is closed before a batch is written, and the next one begins behind the last entry: one that stayed open would hold the
 * space of all that is rewritten until the end. So it comes upon what was written further on in the range.
 */
final class RangeRewrite {
    private static final long BATCH_BYTES = 256 << 10;

    /** Says what becomes of one entry. */
    @FunctionalInterface
    interface Change {
        /** Makes the writes that an entry asks for, whose value is null where keys alone are walked; may make none. */
        void make(byte[] key, byte[] value, Writes writes);
    }

    /** Where writes go. */
    interface Writes {
        /** Sets the value of a key; null removes it. */
        void put(byte[] key, byte[] value);
    }

    /** An entry that a batch has no room for. */
    private record Entry(byte[] key, byte[] value) {
        static long bytes(byte[] key, byte[] value) {
            return key.length + (value == null ? 0L : value.length);
        }

        boolean isLarge() {
            return bytes(key, value) > BATCH_BYTES;
        }
    }

    private final KeyValueStore store;
    private final KeyRange range;
    private final boolean readsValues;
    private final Change change;
    private long written;

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
        byte[] from = range.from();
        try (WriteBatch batch = store.newBatch()) {
            while (from != null) {
                batch.clear();
                Entry next = gather(KeyRange.between(from, range.to()), batch);
                written += batch.count();
                if (batch.count() > 0) {
                    store.write(batch);
                }
                from = next == null ? null : next.key();
                if (next != null && next.isLarge()) {
                    change.make(next.key(), next.value(), this::writeAlone);
                    from = TableKeys.after(next.key());
                }
            }
        }
        return written;
    }

    /** Fills a batch; returns the first entry that it has no room for, or null at the end of the range. */
    private Entry gather(KeyRange rest, WriteBatch batch) {
        Writes writes = (key, value) -> write(batch, key, value);
        try (Cursor cursor = store.cursor(rest)) {
            while (cursor.next()) {
                byte[] key = cursor.key();
                byte[] value = readsValues ? cursor.value() : null;
                if (batch.bytes() + Entry.bytes(key, value) > BATCH_BYTES) {
                    return new Entry(key, value);
                }
                change.make(key, value, writes);
            }
        }
        return null;
    }

    private static void write(WriteBatch batch, byte[] key, byte[] value) {
        if (value == null) {
            batch.delete(key);
        } else {
            batch.put(key, value);
        }
    }

    private void writeAlone(byte[] key, byte[] value) {
        if (value == null) {
            store.delete(key);
        } else {
            store.put(key, value);
        }
        written++;
    }
}
