package dev.heartwood.engine.record;

import dev.heartwood.engine.base.BriefWait;
import dev.heartwood.engine.os.Memory;

/**
 * The buckets of the record cache: which keys were met, and where the records are. Thread-safe as the package says.
 */
final class RecordTable {
    /*
     * A bucket is a cache line: a lock word and SLOTS slots.
     *
     *   63       48  47  46  45         44                                0
     *   +---------+---------+----------+----------------------------------+
     *   |   tag   |    0    |   used   |  address of the record / 8, or 0 |
     *   +---------+---------+----------+----------------------------------+
     *
     * Addresses are below 2^48 (os.MemoryPool).
     *
     * A slot without address remembers a key that was met once, or whose record was dropped. Bucket and tag come from the top 40
     * bits of the hash, which are what filters keep.
     */
    static final int BUCKET_BYTES = 64;
    static final int SLOTS = BUCKET_BYTES / Long.BYTES - 1;
    /** The bits of a hash that count are those from here up. */
    static final int HASH_SHIFT = 24;

    private static final int TAG_BITS = 16;
    private static final int TAG_SHIFT = Long.SIZE - TAG_BITS;
    private static final int BUCKETS_MAX = 1 << 24;
    /** The most memory that a table makes use of. */
    static final long BYTES_MAX = (long) BUCKETS_MAX * BUCKET_BYTES;

    private static final long USED = 1L << 45;
    private static final long ADDRESS = USED - 1;
    private static final int ADDRESS_SHIFT = 3;

    private final long address;
    private final long bucketCount;

    /** @param address memory of zeros, aligned to a cache line */
    RecordTable(long address, long bytes) {
        this.address = address;
        assert bytes <= BYTES_MAX;
        this.bucketCount = bytes / BUCKET_BYTES;
    }

    /** The bucket of a hash: by its top 24 bits. */
    long bucket(long hash) {
        return address + ((hash >>> 40) * bucketCount >>> 24) * BUCKET_BYTES;
    }

    /** The 16 bits of a hash below those that choose the bucket. */
    private static long tag(long hash) {
        return hash >>> HASH_SHIFT << TAG_SHIFT;
    }

    /** The record of a key, 0 when there is none; it is marked as used. */
    long find(long bucket, long hash, int owner, long keyAddress, int keyLength) {
        long tag = tag(hash);
        for (long slot = first(bucket); slot < end(bucket); slot += Long.BYTES) {
            long word = Memory.getLongAcquire(slot);
            if (isRecordOf(word, tag) && RecordLayout.hasKey(address(word), owner, keyAddress, keyLength)) {
                if ((word & USED) == 0) {
                    // When that fails, the slot has just been changed under its lock, or marked.
                    Memory.compareAndSetLong(slot, word, word | USED);
                }
                return address(word);
            }
        }
        return 0;
    }

    /** Whether a bucket holds a record that may be this key's. */
    boolean mayHold(long bucket, long hash) {
        long tag = tag(hash);
        for (long slot = first(bucket); slot < end(bucket); slot += Long.BYTES) {
            if (isRecordOf(Memory.getLongAcquire(slot), tag)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a key was met before and has no record. */
    boolean remembers(long bucket, long hash) {
        return remembering(bucket, tag(hash)) != 0;
    }

    private static long remembering(long bucket, long tag) {
        for (long slot = first(bucket); slot < end(bucket); slot += Long.BYTES) {
            if (Memory.getLongAcquire(slot) == tag) {
                return slot;
            }
        }
        return 0;
    }

    boolean isLocked(long bucket) {
        return Memory.getLongVolatile(bucket) != 0;
    }

    boolean tryLock(long bucket) {
        return Memory.compareAndSetLong(bucket, 0, 1);
    }

    void lock(long bucket) {
        for (int looks = 0; !tryLock(bucket); looks++) {
            BriefWait.pause(looks);
        }
    }

    /** Waits until nobody holds the lock that was held when the caller came. */
    void awaitUnlocked(long bucket) {
        for (int looks = 0; isLocked(bucket); looks++) {
            BriefWait.pause(looks);
        }
    }

    void unlock(long bucket) {
        Memory.putLongRelease(bucket, 0);
    }

    /**
     * Remembers a key that was met, in place of another one that is only remembered. Where a bucket is full of records, one of them
     * gives way if it was not used since it was last spared. Under the bucket's lock.
     */
    void remember(long bucket, long hash) {
        long tag = tag(hash);
        // The lowest bits of a hash choose neither bucket nor tag: they choose who gives way.
        int start = (int) ((hash & (1 << HASH_SHIFT) - 1) * SLOTS >>> HASH_SHIFT);
        long giving = 0;
        for (int i = 0; i < SLOTS; i++) {
            long slot = first(bucket) + (start + i) % SLOTS * Long.BYTES;
            long word = Memory.getLong(slot);
            if (word >>> TAG_SHIFT == tag >>> TAG_SHIFT) {
                return;
            }
            if (giving == 0 && (word & ADDRESS) == 0) {
                giving = slot;
            }
        }
        if (giving == 0) {
            giving = first(bucket) + (long) start * Long.BYTES;
        }
        long word = Memory.getLong(giving);
        Memory.putLongRelease(giving, (word & USED) == 0 ? tag : word & ~USED);
    }

    /** Refers to the record of a key that is remembered; false when it is not, or not any more. Under the bucket's lock. */
    boolean put(long bucket, long hash, long record) {
        long tag = tag(hash);
        long slot = remembering(bucket, tag);
        if (slot != 0) {
            Memory.putLongRelease(slot, tag | record >>> ADDRESS_SHIFT);
        }
        return slot != 0;
    }

    /** Drops every record that may be of a key and remembers that the key was met. Under the bucket's lock. */
    void drop(long bucket, long hash) {
        long tag = tag(hash);
        for (long slot = first(bucket); slot < end(bucket); slot += Long.BYTES) {
            if (isRecordOf(Memory.getLong(slot), tag)) {
                Memory.putLongRelease(slot, tag);
            }
        }
    }

    /** The slot that refers to a record; 0 when it was dropped. Under the bucket's lock. */
    long slotOf(long bucket, long record) {
        for (long slot = first(bucket); slot < end(bucket); slot += Long.BYTES) {
            if ((Memory.getLong(slot) & ADDRESS) == record >>> ADDRESS_SHIFT) {
                return slot;
            }
        }
        return 0;
    }

    boolean isUsed(long slot) {
        return (Memory.getLong(slot) & USED) != 0;
    }

    /** Has a slot refer to the copy of its record, not used yet; 0 drops the record. Under the bucket's lock. */
    void move(long slot, long record) {
        long word = Memory.getLong(slot);
        Memory.putLongRelease(slot, word >>> TAG_SHIFT << TAG_SHIFT | record >>> ADDRESS_SHIFT);
    }

    private static long first(long bucket) {
        return bucket + Long.BYTES;
    }

    private static long end(long bucket) {
        return bucket + BUCKET_BYTES;
    }

    private static boolean isRecordOf(long word, long tag) {
        return word >>> TAG_SHIFT == tag >>> TAG_SHIFT && (word & ADDRESS) != 0;
    }

    private static long address(long word) {
        return (word & ADDRESS) << ADDRESS_SHIFT;
    }
}
