package dev.heartwood.engine.memtable;

import dev.heartwood.engine.os.Memory;

/**
 * The layout of what lies in a lane's chunks: records, one behind the other, each a multiple of 8 bytes.
 *
 * <pre>
 *   0        8        16       24        24 + (meta &amp; 8)
 *   +--------+--------+--------+---------+-----------+-------------+---------+
 *   |sequence| older  |  meta  | [cell]  | key bytes | value bytes | padding |
 *   +--------+--------+--------+---------+-----------+-------------+---------+
 *   meta: bits 0-2 kind, bit 3 has a commit cell, bits 4-31 key length, bits 32-63 value length
 * </pre>
 *
 * <p>{@code older} is the address of the next older version of the same key, or 0. A record of a batch carries the address of
 * the batch's commit cell. Kind {@link #INTERNAL} marks what is no entry: a commit cell (its sequence field is the {@code
 * PENDING} or {@code COMMITTED} state) and a node of an index partition's overflow list (see {@link HashIndex}).
 */
final class Records {
    static final int HEADER_BYTES = 24;
    static final int OLDER_OFFSET = 8;
    static final int META_OFFSET = 16;
    static final int ALIGNMENT = 8;

    /** Not one of {@link dev.heartwood.engine.base.Entries}: the walk over a lane's records steps over it. */
    static final int INTERNAL = 0;

    static final long PENDING = 0;
    static final long COMMITTED = 1;

    /** Bytes of a commit cell. */
    static final int CELL_BYTES = HEADER_BYTES;

    /** Bytes of an overflow node, and where in it the address of the newest version is. */
    static final int NODE_BYTES = HEADER_BYTES + 8;

    static final int NODE_HEAD_OFFSET = HEADER_BYTES;

    private static final int KIND_MASK = 7;
    private static final int CELL_FLAG = 8;
    private static final int KEY_LENGTH_SHIFT = 4;
    private static final int VALUE_LENGTH_SHIFT = 32;

    static {
        // The flag is the number of bytes it adds before the key, so that the key's place is found without a branch.
        if (CELL_FLAG != Long.BYTES || (CELL_FLAG & KIND_MASK) != 0) {
            throw new AssertionError("the commit cell's flag must equal the size of its address");
        }
    }

    private Records() {}

    static long meta(int kind, int keyLength, int valueLength) {
        return (long) valueLength << VALUE_LENGTH_SHIFT | (long) keyLength << KEY_LENGTH_SHIFT | kind;
    }

    static long metaInBatch(int kind, int keyLength, int valueLength) {
        return meta(kind, keyLength, valueLength) | CELL_FLAG;
    }

    static int kind(long meta) {
        return (int) meta & KIND_MASK;
    }

    static boolean isInBatch(long meta) {
        return (meta & CELL_FLAG) != 0;
    }

    static int keyLength(long meta) {
        return (int) meta >>> KEY_LENGTH_SHIFT;
    }

    static int valueLength(long meta) {
        return (int) (meta >>> VALUE_LENGTH_SHIFT);
    }

    static int keyOffset(long meta) {
        return HEADER_BYTES + ((int) meta & CELL_FLAG);
    }

    /** The bytes a record takes, padding included. */
    static long bytes(long meta) {
        return align(keyOffset(meta) + (long) keyLength(meta) + valueLength(meta));
    }

    /** The most bytes a record of these lengths can take in a lane, with or without a batch, with its overflow node. */
    static long bytesMax(long keyAndValueBytes, long count) {
        return keyAndValueBytes + count * (HEADER_BYTES + CELL_FLAG + ALIGNMENT - 1 + NODE_BYTES);
    }

    private static long align(long bytes) {
        return bytes + ALIGNMENT - 1 & -ALIGNMENT;
    }

    static long sequence(long record) {
        return Memory.getLong(record);
    }

    static long meta(long record) {
        return Memory.getLong(record + META_OFFSET);
    }

    static long olderAcquire(long record) {
        return Memory.getLongAcquire(record + OLDER_OFFSET);
    }

    static long cell(long record) {
        return Memory.getLong(record + HEADER_BYTES);
    }

    /** Whether readers may see the record: always, unless its batch is still pending. */
    static boolean isCommitted(long record, long meta) {
        return !isInBatch(meta) || Memory.getLongAcquire(cell(record)) == COMMITTED;
    }

    static boolean hasKey(long record, long keyAddress, int keyLength) {
        long meta = meta(record);
        return keyLength(meta) == keyLength
                && Memory.commonPrefix(record + keyOffset(meta), keyAddress, keyLength) == keyLength;
    }

    /** Compares the keys of two records, which share their first {@code offset} bytes. */
    static int compareKeys(long a, long b, int offset) {
        long aMeta = meta(a);
        long bMeta = meta(b);
        return Memory.compare(
                a + keyOffset(aMeta) + offset,
                keyLength(aMeta) - offset,
                b + keyOffset(bMeta) + offset,
                keyLength(bMeta) - offset);
    }

    /**
     * The order of an ordered view: by key, then newest version first. Records of one key and one sequence compare as equal.
     */
    static int compare(long a, long b, int offset) {
        int order = compareKeys(a, b, offset);
        return order != 0 ? order : Long.compare(sequence(b), sequence(a));
    }

    /** Bytes {@code offset} to {@code offset + 7} of the record's key as a big-endian number, zeros behind its end. */
    static long head(long record, int offset) {
        long meta = meta(record);
        int remaining = keyLength(meta) - offset;
        long from = record + keyOffset(meta) + offset;
        if (remaining >= Long.BYTES) {
            return Memory.getLongBigEndian(from);
        }
        if (remaining <= 0) {
            return 0;
        }
        // Read the eight bytes that end with the key: the header lies before it, so they are all of this record.
        return Memory.getLongBigEndian(from + remaining - Long.BYTES) << (Long.BYTES - remaining) * Byte.SIZE;
    }

    /** As {@link #head(long, int)} of a key that need not be part of a record. */
    static long headOfKey(long keyAddress, int keyLength, int offset) {
        if (keyLength - offset >= Long.BYTES) {
            return Memory.getLongBigEndian(keyAddress + offset);
        }
        long head = 0;
        for (int i = offset; i < offset + Long.BYTES; i++) {
            head = head << Byte.SIZE | (i < keyLength ? Memory.getUnsignedByte(keyAddress + i) : 0);
        }
        return head;
    }
}
