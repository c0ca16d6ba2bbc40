package dev.heartwood.engine.memtable;

import dev.heartwood.engine.base.BriefWait;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;

/**
 * Finds the newest version of a key in the lanes' records. Writers lock one partition; readers take no lock. Thread-safe.
 */
final class HashIndex {
    /*
     * The top bits of a key's hash choose a partition, the next TAG_BITS are its tag, by which the partition's table (see
     * SlotTable) finds it. A slot leads to the newest version of its key; older versions follow through the records, by
     * descending sequence, also when writers arrive out of order: then a record is linked in behind the newer ones.
     *
     * A reader loads the table word once and may go on in a table that has been replaced: that one keeps what it held, is
     * never filled up (a probe ends at an empty slot), and its memory stays until the memtable is released.
     *
     * Growth is done by the inserter that passes slotsUsedMax of the table, after its own insert; memory for it is taken
     * without holding the lock. When there is none, or the tag has no more bits, the index is exhausted for good:
     * Memtable.reserve then refuses, and what was reserved before still goes into the slots left and, when only one slot is
     * empty, into the partition's overflow list. Its nodes take arena bytes that every reservation includes. Nodes are never removed.
     *
     * Keys can be chosen so that they agree in the bits of their hashes that choose partition and home, and then each insert and each
     * search passes all before it. So a key that comes to lie DISTANCE_MAX slots from its home, in a table that is not crowded, exhausts the
     * index as well. What was reserved before still goes in: a batch of such keys alone passes as many for each as it has.
     *
     * A reservation grows a table to the size that it needs at once, since those on the way would stay. One that cannot grow ahead
     * only fails itself: the memtable may still be empty, and is asked again when the pool has memory.
     *
     * The first tables of all partitions share one smallest block of the pool.
     */
    private static final int PARTITIONS_MIN = 8;
    private static final int PARTITIONS_MAX = 64;

    private final PoolBlocks blocks;
    private final Partition[] partitions;
    private final int partitionBits;
    private final int firstTableBits;
    private volatile boolean prepared;
    private volatile boolean exhausted;

    /** Written before writers have the memtable. */
    private boolean keepsColliding;
    // Bytes left in the block that small tables are cut from; guarded by this.
    private long smallTables;
    private long smallTablesEnd;

    HashIndex(PoolBlocks blocks, int lanes) {
        this.blocks = blocks;
        this.partitionBits = partitionBits(lanes);
        this.partitions = new Partition[1 << partitionBits];
        for (int i = 0; i < partitions.length; i++) {
            partitions[i] = new Partition();
        }
        this.firstTableBits = firstTableBits(partitionBits);
    }

    private static int partitionBits(int lanes) {
        int wanted = Math.clamp(4L * lanes, PARTITIONS_MIN, PARTITIONS_MAX);
        return Integer.SIZE - Integer.numberOfLeadingZeros(wanted - 1);
    }

    private static int firstTableBits(int partitionBits) {
        int firstTableBytes = MemoryPool.BLOCK_BYTES_MIN >>> partitionBits;
        assert firstTableBytes >= SlotTable.TABLE_ALIGNMENT;
        return Integer.numberOfTrailingZeros(firstTableBytes >>> SlotTable.SLOT_SHIFT);
    }

    /** The bytes of the pool that an empty index has taken when {@link #reserve} has returned true. */
    static long bytesReserved(int lanes, int count) {
        int partitionBits = partitionBits(lanes);
        int firstBits = firstTableBits(partitionBits);
        int bits = bitsWanted(share(count, partitionBits), firstBits);
        long grown = bits == firstBits ? 0 : SlotTable.slots(bits) << SlotTable.SLOT_SHIFT + partitionBits;
        return MemoryPool.BLOCK_BYTES_MIN + grown;
    }

    /** How many of {@code count} keys there is to be room for in each partition: a quarter more than in the mean. */
    private static long share(int count, int partitionBits) {
        return (count >>> partitionBits) + (count >>> partitionBits + 2);
    }

    /** The bits of a table for so many keys, at least {@code bitsMin}. One of the largest size takes what it can, and the overflow list the rest. */
    private static int bitsWanted(long keys, int bitsMin) {
        int bits = bitsMin;
        while (bits < SlotTable.TAG_BITS && keys > SlotTable.slotsUsedMax(bits)) {
            bits++;
        }
        return bits;
    }

    /** Makes the first tables; false when the pool has no block. Before the first insert; idempotent. */
    boolean prepare() {
        return prepared || prepareFirst();
    }

    private synchronized boolean prepareFirst() {
        if (prepared) {
            return true;
        }
        long block = blocks.allocate(MemoryPool.BLOCK_BYTES_MIN);
        if (block == 0) {
            return false;
        }
        Memory.fill(block, MemoryPool.BLOCK_BYTES_MIN, 0);
        for (int i = 0; i < partitions.length; i++) {
            partitions[i].setTable(block + ((long) i << firstTableBits + SlotTable.SLOT_SHIFT) | firstTableBits);
        }
        prepared = true;
        return true;
    }

    /** Whether some partition could not grow, or has keys that lie in each other's way: the memtable is to be sealed. */
    boolean exhausted() {
        return exhausted;
    }

    /** Whether keys that lie in each other's way do not exhaust it. */
    void keepColliding(boolean keeps) {
        keepsColliding = keeps;
    }

    /** Grows ahead for {@code count} keys that spread over the partitions; false when there is no memory for that. */
    boolean reserve(int count) {
        long share = share(count, partitionBits);
        for (Partition partition : partitions) {
            if (!reserve(partition, share)) {
                return false;
            }
        }
        return true;
    }

    private boolean reserve(Partition partition, long share) {
        for (int looks = 0; ; looks++) {
            int bits = SlotTable.bits(partition.table());
            int wanted = bitsWanted(partition.used() + share, bits);
            if (wanted == bits) {
                return true;
            }
            if (!grow(partition, bits, wanted)) {
                return false;
            }
            if (SlotTable.bits(partition.table()) == bits) {
                BriefWait.pause(looks); // another thread is growing it
            }
        }
    }

    /** Reads what an insert will read first; see {@link Memory#touchLines}. */
    long touch(long hash) {
        long word = partition(hash).table();
        return word == 0 ? 0 : Memory.getLong(SlotTable.home(word, tag(hash)));
    }

    /** Enters a record of {@code lane}; the lane may be asked for an overflow node. */
    void insert(long hash, long record, Lane lane) {
        Partition partition = partition(hash);
        int crowdedBits;
        partition.lock();
        try {
            crowdedBits = insertLocked(partition, tag(hash), record, lane);
        } finally {
            partition.unlock();
        }
        if (crowdedBits != 0 && !exhausted && !grow(partition, crowdedBits, crowdedBits + 1)) {
            exhausted = true;
        }
    }

    /** Returns the bits of the table when it should grow, or 0. */
    private int insertLocked(Partition partition, long tag, long record, Lane lane) {
        long meta = Records.meta(record);
        long key = record + Records.keyOffset(meta);
        int keyLength = Records.keyLength(meta);
        long word = partition.table();
        long slot = SlotTable.probe(word, tag, key, keyLength);
        long content = Memory.getLong(slot);
        if (content != 0) {
            long newest = link(SlotTable.record(content), record);
            if (newest == record) {
                Memory.putLongRelease(slot, SlotTable.content(tag, record));
            }
            return 0;
        }
        long node = findNode(partition.overflow(), key, keyLength);
        if (node != 0) {
            long newest = link(Memory.getLong(node + Records.NODE_HEAD_OFFSET), record);
            Memory.putLongRelease(node + Records.NODE_HEAD_OFFSET, newest);
            return 0;
        }
        int used = partition.used() + 1;
        if (used < SlotTable.slots(SlotTable.bits(word))) {
            Memory.putLongRelease(slot, SlotTable.content(tag, record));
            partition.setUsed(used);
        } else {
            partition.setOverflow(lane.appendNode(record, partition.overflow()));
        }
        if (used > SlotTable.slotsUsedMax(SlotTable.bits(word))) {
            return SlotTable.bits(word);
        }
        if (!keepsColliding && SlotTable.distance(word, tag, slot) > SlotTable.DISTANCE_MAX) {
            exhausted = true;
        }
        return 0;
    }

    /** Links a record into a version chain; returns the chain's first record. */
    private static long link(long newest, long record) {
        long sequence = Records.sequence(record);
        if (Records.sequence(newest) <= sequence) {
            Memory.putLong(record + Records.OLDER_OFFSET, newest);
            return record;
        }
        long newer = newest;
        long older = Records.olderAcquire(newer);
        while (older != 0 && Records.sequence(older) > sequence) {
            newer = older;
            older = Records.olderAcquire(newer);
        }
        Memory.putLong(record + Records.OLDER_OFFSET, older);
        Memory.putLongRelease(newer + Records.OLDER_OFFSET, record);
        return newest;
    }

    /** The newest record of the key, committed or not; 0 when there is none. Lock-free. */
    long find(long hash, long keyAddress, int keyLength) {
        Partition partition = partition(hash);
        long word = partition.table();
        if (word == 0) {
            return 0;
        }
        long record = SlotTable.find(word, tag(hash), keyAddress, keyLength);
        if (record != 0) {
            return record;
        }
        long node = findNode(partition.overflow(), keyAddress, keyLength);
        return node == 0 ? 0 : Memory.getLongAcquire(node + Records.NODE_HEAD_OFFSET);
    }

    private static long findNode(long first, long keyAddress, int keyLength) {
        for (long node = first; node != 0; node = Memory.getLong(node + Records.OLDER_OFFSET)) {
            if (Records.hasKey(Memory.getLongAcquire(node + Records.NODE_HEAD_OFFSET), keyAddress, keyLength)) {
                return node;
            }
        }
        return 0;
    }

    /**
     * Replaces a table of {@code bitsSeen} by a larger one of {@code bits}, unless somebody else replaces it or has done so. Returns false
     * when there is no memory for one or it would be too large.
     */
    private boolean grow(Partition partition, int bitsSeen, int bits) {
        if (!partition.beginGrowth()) {
            return true;
        }
        try {
            if (SlotTable.bits(partition.table()) != bitsSeen) {
                return true;
            }
            long table = bits > SlotTable.TAG_BITS ? 0 : allocateTable(bits);
            if (table == 0) {
                return false;
            }
            partition.lock();
            try {
                SlotTable.copy(partition.table(), table, bits);
                partition.setTable(table | bits);
            } finally {
                partition.unlock();
            }
            return true;
        } finally {
            partition.endGrowth();
        }
    }

    private synchronized long allocateTable(int bits) {
        long bytes = SlotTable.slots(bits) << SlotTable.SLOT_SHIFT;
        long table;
        if (bytes >= MemoryPool.BLOCK_BYTES_MIN) {
            table = blocks.allocate(bytes);
        } else {
            if (smallTablesEnd - smallTables < bytes) {
                long block = blocks.allocate(MemoryPool.BLOCK_BYTES_MIN);
                if (block == 0) {
                    return 0;
                }
                smallTables = block;
                smallTablesEnd = block + MemoryPool.BLOCK_BYTES_MIN;
            }
            table = smallTables;
            smallTables += bytes;
        }
        if (table != 0) {
            Memory.fill(table, bytes, 0);
        }
        return table;
    }

    private Partition partition(long hash) {
        return partitions[(int) (hash >>> Long.SIZE - partitionBits)];
    }

    private long tag(long hash) {
        return hash << partitionBits >>> Long.SIZE - SlotTable.TAG_BITS;
    }
}
