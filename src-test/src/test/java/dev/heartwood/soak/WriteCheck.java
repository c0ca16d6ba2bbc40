package dev.heartwood.soak;

import dev.heartwood.Cursor;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import java.util.Arrays;
import java.util.List;

/** What a store shows of the histories of its threads: whether it is what some of their writes leave, calls whole. */
final class WriteCheck {
    /** So many of the last writes may leave nothing that tells of them, deletes of keys that were not there above all. */
    private static final int UNSEEN_MAX = 1_000;

    private final WriteHistory[] histories;
    private final byte[][][] found;

    /** Reads all that a store has. */
    WriteCheck(WriteHistory[] histories, KeyValueStore store) {
        this(histories);
        try (Cursor cursor = store.cursor()) {
            read(cursor);
        }
    }

    /** Reads all that a snapshot has. */
    WriteCheck(WriteHistory[] histories, Snapshot snapshot) {
        this(histories);
        try (Cursor cursor = snapshot.cursor()) {
            read(cursor);
        }
    }

    private WriteCheck(WriteHistory[] histories) {
        this.histories = histories;
        found = new byte[histories.length][][];
        for (int t = 0; t < histories.length; t++) {
            found[t] = new byte[histories[t].keys()][];
        }
    }

    private void read(Cursor cursor) {
        while (cursor.next()) {
            byte[] key = cursor.key();
            byte[][] ofThread = found[WriteHistory.threadOf(key)];
            if (ofThread[WriteHistory.keyOf(key)] != null) {
                throw new AssertionError("a cursor shows key " + WriteHistory.keyOf(key) + " twice");
            }
            ofThread[WriteHistory.keyOf(key)] = cursor.value();
        }
    }

    /**
     * How many of a thread's writes it shows.
     *
     * @param least those that must be there
     * @param acknowledged those that were acknowledged: no more are there but those of the call under way
     * @param discarded those made before the thread's range was discarded
     */
    long requireWrites(int thread, long least, long acknowledged, long discarded) {
        WriteHistory history = histories[thread];
        long most = history.endOfCall(acknowledged);
        long newest = Arrays.stream(found[thread])
                .mapToLong(value -> value == null ? -1 : WriteHistory.writeOf(value))
                .max()
                .orElseThrow();
        String complaint = null;
        long first = Math.max(least, newest + 1);
        for (long writes = first; writes <= Math.min(most, first + UNSEEN_MAX); writes++) {
            if (history.isEndOfCall(writes)) {
                String difference = difference(thread, history.after(writes, Math.min(discarded, writes)));
                if (difference == null) {
                    return writes;
                }
                complaint = complaint == null ? "after " + writes + " writes " + difference : complaint;
            }
        }
        throw new AssertionError("thread " + thread + " has made " + least + " to " + most + " writes, the newest that is there is " + newest
                + ", the last discard was at " + discarded + "; " + complaint);
    }

    /** Requires that a thread's keys are as in a state. */
    void requireState(int thread, WriteHistory.State state) {
        String difference = difference(thread, state);
        if (difference != null) {
            throw new AssertionError(difference);
        }
    }

    private String difference(int thread, WriteHistory.State state) {
        for (int key = 0; key < found[thread].length; key++) {
            String difference = difference(key, state.values(key), found[thread][key]);
            if (difference != null) {
                return difference;
            }
        }
        return null;
    }

    /** Requires that a key has what it may have in a state; {@code how} says who looked. */
    static void expect(String how, int key, WriteHistory.State state, byte[] found) {
        String difference = difference(key, state.values(key), found);
        if (difference != null) {
            throw new AssertionError(how + ": " + difference);
        }
    }

    /** Requires that a cursor shows the keys from one to before another as in a state, those that are not there included. */
    static void expectForwards(Cursor cursor, int from, int to, WriteHistory.State state) {
        int next = from;
        while (cursor.next()) {
            int key = WriteHistory.keyOf(cursor.key());
            for (; next < key; next++) {
                expect("scan", next, state, null);
            }
            expect("scan", next++, state, cursor.value());
        }
        for (; next < to; next++) {
            expect("scan", next, state, null);
        }
    }

    /** The same, from the last key on. */
    static void expectBackwards(Cursor cursor, int from, int to, WriteHistory.State state) {
        int next = to - 1;
        for (boolean there = cursor.last(); there; there = cursor.previous()) {
            int key = WriteHistory.keyOf(cursor.key());
            for (; next > key; next--) {
                expect("scan back", next, state, null);
            }
            expect("scan back", next--, state, cursor.value());
        }
        for (; next >= from; next--) {
            expect("scan back", next, state, null);
        }
    }

    /** How a value that was found differs from all that a key may have; null where it is one of them. */
    private static String difference(int key, List<byte[]> expected, byte[] value) {
        for (byte[] one : expected) {
            if (Arrays.equals(one, value)) {
                return null;
            }
        }
        return "key " + key + " has " + text(value) + " instead of " + text(expected.getFirst())
                + (expected.size() > 1 ? " or " + (expected.size() - 1) + " others" : "");
    }

    private static String text(byte[] value) {
        return value == null ? "nothing" : value.length + " bytes of write " + WriteHistory.writeOf(value);
    }
}
