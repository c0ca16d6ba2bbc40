package dev.heartwood.engine.cache;

import dev.heartwood.engine.base.KeyHash;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Copies of pages that were evicted lately, in memory that others have no use for now and have back when they ask. Thread-safe.
 */
final class VictimCache implements AutoCloseable {
    /*
     * Nobody ever has an address of what lies here: pages are copied in by who evicts them and out by who loads them. So a block is given back
     * at once, whatever is under way, and who has lent it waits for no reader.
     *
     * The slots form sets of WAYS, and the hash of a page says which set is its. Each slot of a set lies in another block, and blocks of the first
     * way come first and go last, so that sets have about as many slots each, however many blocks there are. A page that finds no empty slot in
     * its set takes the next one whose page had no chance left; those of filters and indexes have some, as with the clock.
     *
     * Who evicts a page puts it here before its entry in the map is absent, and who loads it takes it when the entry says so. So who has found
     * an entry absent sees what was put here of that page, and may drop it for good: nothing puts it here until it was loaded again.
     *
     * Shared field   read                                              written                 guarded by
     * keys           plain: in the set's lock, or after the page's     plain                   the set's lock
     *                entry was found absent
     * chances, hands plain                                             plain                   the set's lock
     * blocks         volatile                                          volatile                lock; 0 before the block's slots are emptied
     * lenders        plain                                             plain                   lock
     * addresses      plain                                             plain                   lock; what a block has while it is given back
     *
     * Lock order: lock, a set's lock; lock, that of a pool.
     */
    static final int BLOCK_PAGES = 64;
    private static final int WAYS = 8;
    private static final int CHANCES_LEAF = 0;
    private static final int CHANCES_INDEX = 3;
    /** Who wants memory back has such a part of what it lent at a time, and not more blocks: their pages are forgotten one by one meanwhile. */
    private static final int STEPS_PER_LEND = 8;

    private static final int BLOCKS_PER_STEP_MAX = 64;
    private static final int SPINS = 100;
    private static final int PAGE_BITS = 40;
    private static final int NONE = -1;

    private final int blockPages;
    private final int blockBytes;
    private final int groups;
    private final int sets;
    private final AtomicLongArray blocks;
    private final MemoryPool[] lenders;
    private final long[] addresses;
    private final long[] keys;
    private final byte[] chances;
    private final byte[] hands;
    private final AtomicIntegerArray locks;
    private final ReentrantLock lock = new ReentrantLock();
    private boolean closed;
    /** Written under lock, read without. */
    private volatile int held;

    /** One that holds nothing yet, and borrows {@code bytesMax} at most, in blocks of so many pages. */
    VictimCache(long bytesMax, int blockPages) {
        this.blockPages = blockPages;
        blockBytes = blockPages << PageLayout.PAGE_SHIFT;
        groups = Math.toIntExact(Math.ceilDiv(bytesMax / blockBytes, WAYS));
        sets = groups * blockPages;
        blocks = new AtomicLongArray(groups * WAYS);
        lenders = new MemoryPool[groups * WAYS];
        addresses = new long[groups * WAYS];
        keys = new long[sets * WAYS];
        chances = new byte[sets * WAYS];
        hands = new byte[sets];
        locks = new AtomicIntegerArray(sets);
    }

    /** Borrows a block that {@code lender} has to spare; false when it has none, or there is no use for more. */
    boolean borrow(MemoryPool lender) {
        lock.lock();
        try {
            int block = 0;
            while (block < blocks.length() && lenders[block] != null) {
                block++;
            }
            long address = block == blocks.length() || closed ? 0 : lender.allocateSpare(blockBytes);
            if (address == 0) {
                return false;
            }
            lenders[block] = lender;
            addresses[block] = address;
            blocks.set(block, address);
            held++;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Gives some of what was borrowed of {@code lender} back, with the pages in it; false when nothing is. */
    boolean giveBackSome(MemoryPool lender) {
        lock.lock();
        try {
            int count = Math.min(Math.ceilDiv(count(lender), STEPS_PER_LEND), BLOCKS_PER_STEP_MAX);
            giveBack(lender, count);
            return count > 0;
        } finally {
            lock.unlock();
        }
    }

    /** Gives everything back that was borrowed of {@code lender}. */
    void giveBackAll(MemoryPool lender) {
        lock.lock();
        try {
            giveBack(lender, blocks.length());
        } finally {
            lock.unlock();
        }
    }

    private void giveBack(MemoryPool lender, int count) {
        int left = count;
        for (int block = blocks.length() - 1; block >= 0 && left > 0; block--) {
            if (lenders[block] == lender) {
                giveBack(block);
                left--;
            }
        }
    }

    /** Empties a block and gives it back. Where that throws, as on a full stack, it can be done again. */
    private void giveBack(int block) {
        blocks.set(block, 0);
        int first = block % groups * blockPages;
        for (int set = first; set < first + blockPages; set++) {
            empty(set, set * WAYS + block / groups);
        }
        lenders[block].free(addresses[block], blockBytes);
        lenders[block] = null;
        held--;
    }

    private void empty(int set, int slot) {
        lockSet(set);
        try {
            keys[slot] = 0;
        } finally {
            unlockSet(set);
        }
    }

    private int count(MemoryPool lender) {
        int count = 0;
        for (MemoryPool each : lenders) {
            count += each == lender ? 1 : 0;
        }
        return count;
    }

    /** The bytes borrowed of a pool. */
    long bytes(MemoryPool lender) {
        if (held == 0) {
            return 0;
        }
        lock.lock();
        try {
            return (long) count(lender) * blockBytes;
        } finally {
            lock.unlock();
        }
    }

    /** The bytes that are borrowed at a time. */
    int blockBytes() {
        return blockBytes;
    }

    /** All bytes borrowed. */
    long bytes() {
        return (long) held * blockBytes;
    }

    /** Keeps a copy of a sealed page that is about to be evicted, if there is room. */
    void put(int fileSlot, long page, long address) {
        if (held == 0) {
            return;
        }
        long key = key(fileSlot, page);
        int set = set(key);
        if (!tryLockSet(set)) {
            return;
        }
        try {
            int slot = slotOf(set, key) == NONE ? emptied(set) : NONE;
            long place = slot == NONE ? 0 : place(set, slot);
            if (place != 0) {
                Memory.copy(address, place, PageLayout.PAGE_BYTES);
                keys[slot] = key;
                chances[slot] = (byte) chances(address);
            }
        } finally {
            unlockSet(set);
        }
    }

    /** Copies or moves a page to {@code target}, if it is here. Only by who loads it, its entry in the map saying so. */
    boolean take(int fileSlot, long page, long target, boolean isMoved) {
        if (!has(fileSlot, page)) {
            return false;
        }
        long key = key(fileSlot, page);
        int set = set(key);
        lockSet(set);
        try {
            int slot = slotOf(set, key);
            long place = slot == NONE ? 0 : place(set, slot);
            if (place != 0) {
                Memory.copy(place, target, PageLayout.PAGE_BYTES);
                keys[slot] = isMoved ? 0 : key;
            }
            return place != 0;
        } finally {
            unlockSet(set);
        }
    }

    /** Whether a page is here, whose entry in the map was found absent; for a moment. */
    boolean has(int fileSlot, long page) {
        long key = key(fileSlot, page);
        return held != 0 && slotOf(set(key), key) != NONE;
    }

    /** Drops a page whose entry in the map was found absent, and that nobody asks for any more. */
    void drop(int fileSlot, long page) {
        if (has(fileSlot, page)) {
            long key = key(fileSlot, page);
            dropKey(set(key), key);
        }
    }

    private void dropKey(int set, long key) {
        lockSet(set);
        try {
            int slot = slotOf(set, key);
            if (slot != NONE) {
                keys[slot] = 0;
            }
        } finally {
            unlockSet(set);
        }
    }

    /** Drops all pages of a file of which none is in the map. */
    void dropAll(int fileSlot) {
        for (int slot = 0; held != 0 && slot < keys.length; slot++) {
            long key = keys[slot];
            if (key != 0 && ~key >>> PAGE_BITS == fileSlot) {
                dropKey(slot / WAYS, key);
            }
        }
    }

    /** Where the page of a key is, or {@link #NONE}. */
    private int slotOf(int set, long key) {
        int first = set * WAYS;
        for (int slot = first; slot < first + WAYS; slot++) {
            if (keys[slot] == key) {
                return slot;
            }
        }
        return NONE;
    }

    /** A slot with nothing in it, or else the next one whose page has no chance left; {@link #NONE} when the set has no slots now. */
    private int emptied(int set) {
        int first = set * WAYS;
        int there = 0;
        for (int slot = first; slot < first + WAYS; slot++) {
            boolean isThere = place(set, slot) != 0;
            if (isThere && keys[slot] == 0) {
                return slot;
            }
            there += isThere ? 1 : 0;
        }
        for (int i = 0; there > 0 && i < WAYS * (CHANCES_INDEX + 1); i++) {
            int slot = first + hands[set];
            hands[set] = (byte) ((hands[set] + 1) % WAYS);
            if (place(set, slot) != 0 && chances[slot]-- <= CHANCES_LEAF) {
                return slot;
            }
        }
        return NONE;
    }

    /** The address of a slot; 0 when its block is not there, or about to be given back, which is then not before the set is unlocked. */
    private long place(int set, int slot) {
        long block = blocks.get((slot - set * WAYS) * groups + set / blockPages);
        return block == 0 ? 0 : block + ((long) (set % blockPages) << PageLayout.PAGE_SHIFT);
    }

    private static int chances(long address) {
        int type = Memory.getByte(address + PageLayout.TYPE);
        return type == PageType.FILTER.code() || type == PageType.BRANCH_INDEX.code() ? CHANCES_INDEX : CHANCES_LEAF;
    }

    /** Never 0, which stands for none. */
    private static long key(int fileSlot, long page) {
        return ~((long) fileSlot << PAGE_BITS | page);
    }

    private int set(long key) {
        return (int) Math.unsignedMultiplyHigh(KeyHash.end(key), sets);
    }

    private boolean tryLockSet(int set) {
        return locks.compareAndSet(set, 0, 1);
    }

    /** Waits for who copies a page, or empties a slot. */
    private void lockSet(int set) {
        for (int spins = 1; !tryLockSet(set); spins++) {
            if (spins % SPINS == 0) {
                Thread.yield();
            } else {
                Thread.onSpinWait();
            }
        }
    }

    private void unlockSet(int set) {
        locks.set(set, 0);
    }

    /** Gives everything back; nothing is borrowed any more. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            for (int block = 0; block < blocks.length(); block++) {
                if (lenders[block] != null) {
                    giveBack(block);
                }
            }
        } finally {
            lock.unlock();
        }
    }
}
