package dev.heartwood.engine.filter;

import dev.heartwood.engine.os.Memory;
import java.util.Arrays;

/** The entries of a maplet with other values, their fingerprints cut; those that get no value are left out. */
final class RemappedMaplet implements EntrySource {
    private final MapletCursor cursor;
    /** The new value of each old one, or -1. */
    private final int[] newValues = new int[Entry.VALUE_MASK + 1];

    private final int cut;

    /**
     * Entries from the first on.
     *
     * @param cursor before its first entry; closed with this
     * @param newValues the new value of each old one, or -1; those behind its end get none
     * @param bitsCut bits by which fingerprints are shortened
     */
    RemappedMaplet(MapletCursor cursor, int[] newValues, int bitsCut) {
        assert bitsCut >= 0;
        this.cursor = cursor;
        this.cut = bitsCut;
        Arrays.fill(this.newValues, -1);
        System.arraycopy(newValues, 0, this.newValues, 0, Math.min(newValues.length, this.newValues.length));
    }

    @Override
    public int read(long to, int room) {
        int kept = 0;
        int count = -1;
        while (kept == 0 && count != 0) {
            count = cursor.read(to, room);
            kept = remap(to, count);
        }
        return kept;
    }

    /** Gives entries their new values in place; returns how many are left. */
    private int remap(long first, int count) {
        long end = first + (long) count * Entry.BYTES;
        long to = first;
        for (long at = first; at < end; at += Entry.BYTES) {
            long entry = Memory.getLong(at);
            int value = newValues[Entry.value(entry)];
            Memory.putLong(to, Entry.of(Entry.fingerprint(entry) >>> cut, value & Entry.VALUE_MASK));
            // Nothing for a value that goes, which the next entry overwrites.
            to += ~(value >> Integer.SIZE - 1) & Entry.BYTES;
        }
        return (int) (to - first) / Entry.BYTES;
    }

    @Override
    public void close() {
        cursor.close();
    }
}
