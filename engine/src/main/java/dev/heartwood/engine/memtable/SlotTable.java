package dev.heartwood.engine.memtable;

import dev.heartwood.engine.os.Memory;

/**
 * The layout of an index partition's hash table: open addressing over 2^b slots of 8 bytes.
 *
 * <pre>
 *    63        45 44                            0
 *   +------------+-------------------------------+
 *   |  tag (19)  |  address of the record / 8    |      0 = empty
 *   +------------+-------------------------------+
 * </pre>
 *
 * <p>Addresses are below 2^48 ({@link dev.heartwood.engine.os.MemoryPool}).
 *
 * <p>A key's home is the top b bits of its tag, probing goes upwards and wraps. So a table is copied into a larger one
 * from its slots alone, front to back, and only keys of one home can have equal tags by chance.
 *
 * <p>A table is named by a word: its address, a multiple of 64, with b in the low 6 bits.
 */
final class SlotTable {
    static final int TAG_BITS = 19;
    static final int SLOT_SHIFT = 3;
    static final int TABLE_ALIGNMENT = 64;
    /** How far from its home a key comes to lie by chance is a tenth of that at most, even in a table of the largest size (simulated). */
    static final int DISTANCE_MAX = 1024;

    private static final int ADDRESS_BITS = Long.SIZE - TAG_BITS;
    private static final long ADDRESS_MASK = (1L << ADDRESS_BITS) - 1;
    private static final int ADDRESS_SHIFT = 3;
    private static final int BITS_MASK = TABLE_ALIGNMENT - 1;

    private SlotTable() {}

    /** The slot where the search for a key begins. */
    static long home(long word, long tag) {
        int bits = bits(word);
        return word - bits + (tag >>> TAG_BITS - bits << SLOT_SHIFT);
    }

    /** The record that the key's slot leads to, or 0. */
    static long find(long word, long tag, long keyAddress, int keyLength) {
        int bits = bits(word);
        long table = word - bits;
        long mask = slots(bits) - 1;
        long index = tag >>> TAG_BITS - bits;
        while (true) {
            // Loaded once: another key may take an empty slot at any time.
            long content = Memory.getLongAcquire(table + (index << SLOT_SHIFT));
            if (content == 0) {
                return 0;
            }
            if (content >>> ADDRESS_BITS == tag && Records.hasKey(record(content), keyAddress, keyLength)) {
                return record(content);
            }
            index = index + 1 & mask;
        }
    }

    /** The slot of the key, or the empty one where the search for it ended. Under the partition's lock. */
    static long probe(long word, long tag, long keyAddress, int keyLength) {
        int bits = bits(word);
        long table = word - bits;
        long mask = slots(bits) - 1;
        long index = tag >>> TAG_BITS - bits;
        while (true) {
            long slot = table + (index << SLOT_SHIFT);
            long content = Memory.getLong(slot);
            if (content == 0
                    || content >>> ADDRESS_BITS == tag && Records.hasKey(record(content), keyAddress, keyLength)) {
                return slot;
            }
            index = index + 1 & mask;
        }
    }

    /** By how many slots a key's own lies behind its home: so many others every search for it looks at. */
    static long distance(long word, long tag, long slot) {
        return (slot - home(word, tag) >> SLOT_SHIFT) & slots(bits(word)) - 1;
    }

    /** Fills a zeroed table of {@code bits} with what the one of {@code word} holds. */
    static void copy(long word, long table, int bits) {
        long from = word & -TABLE_ALIGNMENT;
        long fromEnd = from + (slots(bits(word)) << SLOT_SHIFT);
        long mask = slots(bits) - 1;
        for (; from < fromEnd; from += Long.BYTES) {
            long content = Memory.getLong(from);
            if (content != 0) {
                long index = content >>> Long.SIZE - bits;
                while (Memory.getLong(table + (index << SLOT_SHIFT)) != 0) {
                    index = index + 1 & mask;
                }
                Memory.putLong(table + (index << SLOT_SHIFT), content);
            }
        }
    }

    static long content(long tag, long record) {
        assert record >>> ADDRESS_SHIFT <= ADDRESS_MASK;
        return tag << ADDRESS_BITS | record >>> ADDRESS_SHIFT;
    }

    static long record(long content) {
        return (content & ADDRESS_MASK) << ADDRESS_SHIFT;
    }

    static int bits(long word) {
        return (int) word & BITS_MASK;
    }

    static long slots(int bits) {
        return 1L << bits;
    }

    /** Five eighths: a miss then takes four slots on average at worst, nearly always of one cache line or two. */
    static long slotsUsedMax(int bits) {
        return slots(bits) - (slots(bits) >>> 2) - (slots(bits) >>> 3);
    }
}
