package dev.heartwood.kafka;

import dev.heartwood.KeyRange;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The key spaces of a table. The first byte of every key says which one it is in.
 *
 * <pre>
 *   0  'S'                     the table's shape
 *   0  'C'                     the last commit
 *   0  'D'                     present while writes may be ahead of the last commit with no way back
 *   0  'N'                     an epoch: versions may have been added after its commit that going back has to look for
 *   1  key                     the data
 *   2  epoch (8)  table key    what the table key had at the commit before: a way back
 * </pre>
 */
final class TableKeys {
    static final byte META = 0;
    static final byte DATA = 1;
    static final byte UNDO = 2;

    /** The bytes before the table key in an undo key. */
    static final int UNDO_PREFIX_BYTES = 1 + Long.BYTES;

    static final byte[] SHAPE = meta("S");
    static final byte[] COMMIT = meta("C");
    static final byte[] AHEAD = meta("D");
    static final byte[] ADDED = meta("N");

    /** All of the data. */
    static final KeyRange ALL_DATA = KeyRange.between(new byte[] {DATA}, new byte[] {UNDO});

    private TableKeys() {}

    private static byte[] meta(String name) {
        byte[] text = name.getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocate(1 + text.length).put(META).put(text).array();
    }

    /** The key of a record whose own key is {@code key}. */
    static byte[] data(byte[] key) {
        byte[] tableKey = new byte[1 + key.length];
        tableKey[0] = DATA;
        System.arraycopy(key, 0, tableKey, 1, key.length);
        return tableKey;
    }

    /** The record's own key in a table key of the data. */
    static byte[] dataKey(byte[] tableKey) {
        return Arrays.copyOfRange(tableKey, 1, tableKey.length);
    }

    static byte[] undoPrefix(long epoch) {
        return ByteBuffer.allocate(UNDO_PREFIX_BYTES).put(UNDO).putLong(epoch).array();
    }

    /** The undo records of all epochs before one. */
    static KeyRange undoBefore(long epoch) {
        return KeyRange.between(new byte[] {UNDO}, undoPrefix(epoch));
    }

    static byte[] undo(long epoch, byte[] tableKey) {
        return ByteBuffer.allocate(UNDO_PREFIX_BYTES + tableKey.length)
                .put(UNDO)
                .putLong(epoch)
                .put(tableKey)
                .array();
    }

    /** The table key that an undo key is about. */
    static byte[] undone(byte[] undoKey) {
        return Arrays.copyOfRange(undoKey, UNDO_PREFIX_BYTES, undoKey.length);
    }

    /** The least key after {@code key}. */
    static byte[] after(byte[] key) {
        return Arrays.copyOf(key, key.length + 1);
    }
}
