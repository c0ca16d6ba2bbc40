package dev.heartwood.kafka;

import dev.heartwood.Cursor;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.WriteBatch;
import java.util.Arrays;

/**
 * The way back to the last commit. The first write to a key after a commit also records what the key had at that commit, in the
 * same atomic batch; so at every moment, whatever the process is killed in the midst of, the records of the current epoch
 * lead from the data as it is to the data as it was committed.
 *
 * <p>A commit begins a new epoch in the one write that makes it a commit; the records of epochs before are garbage from then on
 * and go when a merge meets them. Belongs to the writer of the table.
 */
final class UndoLog {
    private static final byte WAS_ABSENT = 0;
    private static final byte WAS_PRESENT = 1;
    private static final long ROLLBACK_BATCH_BYTES = 256 << 10;

    private final KeyValueStore store;
    private final UndoneKeys undone;
    private final long seed = UndoneKeys.newSeed();
    private long epoch;

    UndoLog(KeyValueStore store, UndoneKeys undone, long epoch) {
        this.store = store;
        this.undone = undone;
        this.epoch = epoch;
    }

    /** From now on a record leads back to the commit of this epoch. */
    void begin(long epoch) {
        this.epoch = epoch;
    }

    /** Sets the value of a key, null for none, so that it can be undone; returns how many records of its own it wrote. */
    int write(byte[] key, byte[] value) {
        long fingerprint = UndoneKeys.fingerprint(seed, epoch, key);
        if (undone.contains(fingerprint)) {
            writeAlone(key, value);
            return 0;
        }
        byte[] undoKey = TableKeys.undo(epoch, key);
        if (store.contains(undoKey)) {
            undone.add(fingerprint);
            writeAlone(key, value);
            return 0;
        }
        try (WriteBatch batch = store.newBatch()) {
            batch.put(undoKey, before(store.get(key)));
            write(batch, key, value);
            store.write(batch);
        }
        undone.add(fingerprint);
        return 1;
    }

    private void writeAlone(byte[] key, byte[] value) {
        if (value == null) {
            store.delete(key);
        } else {
            store.put(key, value);
        }
    }

    private static byte[] before(byte[] value) {
        if (value == null) {
            return new byte[] {WAS_ABSENT};
        }
        byte[] before = new byte[1 + value.length];
        before[0] = WAS_PRESENT;
        System.arraycopy(value, 0, before, 1, value.length);
        return before;
    }

    private static void write(WriteBatch batch, byte[] key, byte[] value) {
        if (value == null) {
            batch.delete(key);
        } else {
            batch.put(key, value);
        }
    }

    /**
     * Goes back to the commit. Each batch restores keys and removes their records together, so a rollback that is cut short goes
     * on where it ended.
     *
     * @return how many keys were restored
     */
    static long rollBack(KeyValueStore store, long epoch) {
        long restored = 0;
        byte[] from = TableKeys.undoPrefix(epoch);
        byte[] to = TableKeys.undoPrefix(epoch + 1);
        try (WriteBatch batch = store.newBatch()) {
            while (from != null) {
                batch.clear();
                from = gather(store, KeyRange.between(from, to), batch);
                restored += batch.count() / 2;
                if (batch.count() > 0) {
                    store.write(batch);
                }
            }
        }
        return restored;
    }

    /**
     * Fills a batch with the way back of some keys; returns where to go on, or null. The cursor is closed before the batch is
     * written: it holds on to memtables, which writes may need the memory of.
     */
    private static byte[] gather(KeyValueStore store, KeyRange range, WriteBatch batch) {
        try (Cursor cursor = store.cursor(range)) {
            while (cursor.next()) {
                byte[] undoKey = cursor.key();
                byte[] before = cursor.value();
                byte[] value = before[0] == WAS_PRESENT ? Arrays.copyOfRange(before, 1, before.length) : null;
                write(batch, TableKeys.undone(undoKey), value);
                batch.delete(undoKey);
                if (batch.bytes() >= ROLLBACK_BATCH_BYTES) {
                    return TableKeys.after(undoKey);
                }
            }
        }
        return null;
    }
}
