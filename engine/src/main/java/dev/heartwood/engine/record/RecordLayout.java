package dev.heartwood.engine.record;

import dev.heartwood.engine.os.KeyHasher;
import dev.heartwood.engine.os.Memory;

/**
 * A record in a chunk of the ring: 8 bytes of header, the key, the value, and padding to a multiple of 8.
 *
 * <pre>
 *   0       4            6              8
 *   +-------+------------+--------------+-----+-------+
 *   | owner | key length | value length | key | value |
 *   +-------+------------+--------------+-----+-------+
 * </pre>
 */
final class RecordLayout {
    /** The longest key and value together; records of a page's size gain nothing over the page. */
    static final int PAYLOAD_BYTES_MAX = 2048;

    static final int HEADER_BYTES = 8;

    private static final int KEY_LENGTH = 4;
    private static final int VALUE_LENGTH = 6;

    private RecordLayout() {}

    /** The bytes a record takes. */
    static int bytes(int keyLength, int valueLength) {
        return HEADER_BYTES + keyLength + valueLength + 7 & -8;
    }

    static int bytes(long record) {
        return bytes(keyLength(record), valueLength(record));
    }

    static void write(long record, int owner, long keyAddress, int keyLength, long valueAddress, int valueLength) {
        Memory.putInt(record, owner);
        Memory.putShort(record + KEY_LENGTH, keyLength);
        Memory.putShort(record + VALUE_LENGTH, valueLength);
        Memory.copy(keyAddress, record + HEADER_BYTES, keyLength);
        if (valueLength > 0) {
            Memory.copy(valueAddress, record + HEADER_BYTES + keyLength, valueLength);
        }
    }

    static int owner(long record) {
        return Memory.getInt(record);
    }

    static int keyLength(long record) {
        return Memory.getUnsignedShort(record + KEY_LENGTH);
    }

    static int valueLength(long record) {
        return Memory.getUnsignedShort(record + VALUE_LENGTH);
    }

    static long value(long record) {
        return record + HEADER_BYTES + keyLength(record);
    }

    static boolean hasKey(long record, int owner, long keyAddress, int keyLength) {
        return owner(record) == owner
                && keyLength(record) == keyLength
                && Memory.commonPrefix(record + HEADER_BYTES, keyAddress, keyLength) == keyLength;
    }

    /** The hash of a record's key, as its owner looks for it. */
    static long hash(long record) {
        return KeyHasher.hash(record + HEADER_BYTES, keyLength(record)) ^ salt(owner(record));
    }

    /** Sets apart the hashes of stores that hold the same keys. Only in the bits that a filter keeps of a hash, too. */
    static long salt(int owner) {
        return owner * 0x9E3779B97F4A7C15L & -1L << RecordTable.HASH_SHIFT;
    }
}
