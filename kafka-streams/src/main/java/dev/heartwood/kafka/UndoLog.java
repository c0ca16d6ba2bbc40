package dev.heartwood.kafka;

import dev.heartwood.Cursor;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.WriteBatch;
import java.util.Arrays;

/**
 * The way back to the last commit. The first write to a key after a commit also records what the key had at that commit, in the
 * same atomic batch, or before it; so at every moment, whatever the process is killed in the midst of, the records of the current epoch
 * lead from the data as it is to the data as it was committed.
 *
 * <p>Time segments that had nothing at the commit need no record: the commit says which these are, and going back empties them. So what is
 * written there may be dropped at any time, as soon as it has expired. Nor do versions that begin later than all of the commit; they lie
 * among the others, so going back looks through the table for them if there may be any. After a commit of nothing no write needs a record: going
 * back empties the table.
 *
 * <p>Whether they may lead back is asked before ({@link TableOpener}): what was deleted since an old commit would be there again. So once the
 * commit is as old as that, none are written any more ({@link StateTable}).
 *
 * <p>A commit begins a new epoch in the one write that makes it a commit; the records of epochs before are garbage once that write
 * has been synced, and go when a merge meets them. Belongs to the writer of the table.
 */
final class UndoLog {
    private static final byte WAS_ABSENT = 0;
    private static final byte WAS_PRESENT = 1;

    /** What a batch may hold. There is memory for a large value and not for two, so a record of more than this is a write of its own. */
    private static final long BATCH_BYTES = 256 << 10;

    private final KeyValueStore store;
    private final UndoneKeys undone;
    private final TableShape shape;
    private final long seed = UndoneKeys.newSeed();
    private long epoch;
    private long firstNew;
    private boolean isAllNew;
    private boolean addedNoted;

    UndoLog(KeyValueStore store, UndoneKeys undone, TableShape shape, CommitState committed) {
        this.store = store;
        this.undone = undone;
        this.shape = shape;
        begin(committed);
    }

    /** From now on the way back leads to this commit. */
    void begin(CommitState committed) {
        epoch = committed.epoch();
        firstNew = shape.firstNew(committed);
        isAllNew = committed.epoch() > 0 && committed.isOfNothing();
        addedNoted = shape.kind() != TableKind.VERSIONED;
    }

    /** The first number of time of which there was nothing at the commit, or {@link TableShape#NOTHING_NEW}. */
    long firstNew() {
        return firstNew;
    }

    /** Sets the value of a key, null for none, so that it can be undone; returns how many records of its own it wrote. */
    int write(byte[] key, byte[] value) {
        if (isNew(key)) {
            noteAdded();
            writeAlone(key, value);
            return 0;
        }
        if (value == null && hasNoRecord(key) && !store.contains(key)) {
            return 0;
        }
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
        byte[] before = before(store.get(key));
        if (before.length + (value == null ? 0L : value.length) <= BATCH_BYTES) {
            try (WriteBatch batch = store.newBatch()) {
                batch.put(undoKey, before);
                write(batch, key, value);
                store.write(batch);
            }
        } else {
            // Without what follows it this restores what is there.
            store.put(undoKey, before);
            writeAlone(key, value);
        }
        undone.add(fingerprint);
        return 1;
    }

    /** Whether a key is too long for a record; the table may have it, since not all that is written has one. */
    private static boolean hasNoRecord(byte[] key) {
        return key.length > KeyValueStore.KEY_BYTES_MAX - TableKeys.UNDO_PREFIX_BYTES;
    }

    /** Whether there was nothing at the commit, or nothing of the time that the key has, so that a write to it needs no way back. */
    boolean isNew(byte[] key) {
        return isAllNew || firstNew != TableShape.NOTHING_NEW && shape.kind().time(key) >= firstNew;
    }

    /** To be called before data that needs no way back is written; what is restored may be such. */
    void noteAdded() {
        if (!addedNoted) {
            store.put(TableKeys.ADDED, TableKeys.undoPrefix(epoch));
            addedNoted = true;
        }
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

    /** Whether there are records that lead back to the commit of an epoch. */
    static boolean leadsBack(KeyValueStore store, long epoch) {
        return !isEmpty(store, records(epoch));
    }

    private static KeyRange records(long epoch) {
        return KeyRange.between(TableKeys.undoPrefix(epoch), TableKeys.undoPrefix(epoch + 1));
    }

    /**
     * Goes back to the commit of an epoch by its records. Each batch restores keys and removes their records together, and a large value is
     * restored before its record is removed, so a rollback that is cut short goes on where it ended.
     *
     * @return how many keys were restored
     */
    static long rollBack(KeyValueStore store, long epoch) {
        return RangeRewrite.ofEntries(store, records(epoch), UndoLog::undo).run() / 2;
    }

    private static void undo(byte[] undoKey, byte[] before, RangeRewrite.Writes writes) {
        byte[] value = before[0] == WAS_PRESENT ? Arrays.copyOfRange(before, 1, before.length) : null;
        writes.put(TableKeys.undone(undoKey), value);
        writes.put(undoKey, null);
    }

    /**
     * Empties segments, with no way back. A removal that is cut short begins again, since no commit has followed.
     *
     * @return whether they had anything
     */
    static boolean remove(KeyValueStore store, KeyRange range) {
        if (isEmpty(store, range)) {
            return false;
        }
        store.discard(range);
        RangeRewrite.ofKeys(store, range, (key, none, writes) -> writes.put(key, null)).run();
        // What was discarded must not be there again after a crash, for the next commit would make it its own.
        store.checkpoint();
        return true;
    }

    /**
     * Removes the versions that begin at a time or later, if any were added after the commit of an epoch, or after one of later that was
     * not written. A rollback that is cut short begins again.
     *
     * @return whether there were any
     */
    static boolean removeAdded(KeyValueStore store, long epoch, long firstNew) {
        byte[] added = store.get(TableKeys.ADDED);
        if (added == null || Arrays.compareUnsigned(added, TableKeys.undoPrefix(epoch)) < 0) {
            return false;
        }
        RangeRewrite.Change removal = (key, none, writes) -> {
            if (TableKind.VERSIONED.time(key) >= firstNew) {
                writes.put(key, null);
            }
        };
        return RangeRewrite.ofKeys(store, TableKeys.ALL_DATA, removal).run() > 0;
    }

    private static boolean isEmpty(KeyValueStore store, KeyRange range) {
        try (Cursor cursor = store.cursor(range)) {
            return !cursor.first();
        }
    }
}
