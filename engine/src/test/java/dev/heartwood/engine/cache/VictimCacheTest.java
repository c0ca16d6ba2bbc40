package dev.heartwood.engine.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class VictimCacheTest {
    private static final int FILE = 3;
    private static final int OTHER_FILE = 4;
    private static final int BLOCK_PAGES = VictimCache.BLOCK_PAGES;
    private static final int BLOCK = BLOCK_PAGES * PageLayout.PAGE_BYTES;
    private static final int BLOCKS = 16;
    private static final long MANY = 4L * BLOCKS * BLOCK_PAGES;

    private final MemoryPool lender = MemoryPool.open((long) BLOCKS * BLOCK);
    private final MemoryPool other = MemoryPool.open((long) BLOCKS * BLOCK);
    private final MemoryPool buffers = MemoryPool.open(1 << 20);
    private final long page = buffers.allocate(PageLayout.PAGE_BYTES);
    private final VictimCache cache = new VictimCache((long) BLOCKS * BLOCK, BLOCK_PAGES);

    @AfterEach
    void close() {
        cache.close();
        assertEquals(0, lender.allocated());
        assertEquals(0, other.allocated());
        lender.close();
        other.close();
        buffers.close();
    }

    private void put(int file, long number, PageType type) {
        for (int i = PageLayout.BODY; i < PageLayout.PAGE_BYTES; i += 8) {
            Memory.putLong(page + i, word(file, number));
        }
        Memory.putByte(page + PageLayout.TYPE, type.code());
        cache.put(file, number, page);
    }

    private void put(long number) {
        put(FILE, number, PageType.BRANCH_LEAF);
    }

    private boolean take(int file, long number) {
        Memory.fill(page, PageLayout.PAGE_BYTES, 0);
        boolean isThere = cache.take(file, number, page, true);
        for (int i = PageLayout.BODY; i < PageLayout.PAGE_BYTES; i += 8) {
            assertEquals(isThere ? word(file, number) : 0, Memory.getLong(page + i));
        }
        return isThere;
    }

    private static long word(int file, long number) {
        return (file * 31L + number) * 0x9E3779B97F4A7C15L;
    }

    private void borrow(MemoryPool pool, int blocks) {
        for (int i = 0; i < blocks; i++) {
            assertTrue(cache.borrow(pool));
        }
    }

    private long count(int file, long numbers) {
        long found = 0;
        for (long number = 0; number < numbers; number++) {
            found += cache.has(file, number) ? 1 : 0;
        }
        return found;
    }

    @Test
    void keepsNothingWithoutMemory() {
        put(1);
        assertFalse(take(FILE, 1));
        borrow(lender, BLOCKS);
        assertFalse(take(FILE, 1));
    }

    @Test
    void aPageIsTakenOnce() {
        borrow(lender, BLOCKS);
        put(0);
        put(OTHER_FILE, 0, PageType.BRANCH_LEAF);
        put(1L << 39);
        assertTrue(take(FILE, 0));
        assertFalse(take(FILE, 0));
        assertTrue(take(FILE, 1L << 39));
        assertTrue(take(OTHER_FILE, 0));
    }

    @Test
    void aCopyOfItMayBeHadAsOften() {
        borrow(lender, BLOCKS);
        put(0);
        for (int i = 0; i < 2; i++) {
            Memory.fill(page, PageLayout.PAGE_BYTES, 0);
            assertTrue(cache.take(FILE, 0, page, false));
            assertEquals(word(FILE, 0), Memory.getLong(page + PageLayout.BODY));
        }
        assertTrue(take(FILE, 0));
        assertFalse(cache.take(FILE, 0, page, false));
    }

    @Test
    void whatIsDroppedIsNotThere() {
        borrow(lender, BLOCKS);
        put(1);
        put(2);
        put(OTHER_FILE, 2, PageType.BRANCH_LEAF);
        cache.drop(FILE, 1);
        cache.drop(FILE, 7);
        assertFalse(take(FILE, 1));
        cache.dropAll(FILE);
        assertFalse(take(FILE, 2));
        assertTrue(take(OTHER_FILE, 2));
    }

    @Test
    void usesAllItsSlotsHoweverManyBlocksThereAre() {
        for (int blocks = 1; blocks <= BLOCKS; blocks++) {
            borrow(lender, 1);
            for (long number = 0; number < MANY; number++) {
                put(number);
            }
            long slots = (long) blocks * BLOCK_PAGES;
            long kept = count(FILE, MANY);
            // Pages whose sets, of the way that is only begun, have no slot yet are not kept.
            assertTrue(kept > slots * 9 / 10 && kept <= slots, kept + " of " + slots);
        }
        assertFalse(cache.borrow(lender));
        assertFalse(cache.borrow(other), "there is no use for more");
    }

    @Test
    void pagesOfFiltersOutliveLeaves() {
        borrow(lender, BLOCKS);
        long few = (long) BLOCKS * BLOCK_PAGES / 4;
        for (long number = 0; number < few; number++) {
            put(OTHER_FILE, number, number % 2 == 0 ? PageType.FILTER : PageType.BRANCH_INDEX);
        }
        for (long number = 0; number < (long) BLOCKS * BLOCK_PAGES; number++) {
            put(number);
        }
        long filters = count(OTHER_FILE, few);
        assertTrue(filters > few * 9 / 10, filters + " of " + few);
        for (long number = 0; number < 4 * MANY; number++) {
            put(number);
        }
        assertTrue(count(OTHER_FILE, few) < few / 10, "but not for ever");
    }

    @Test
    void whoLendsHasItsBlocksBackAndThePagesOfOthersStay() {
        borrow(lender, 5);
        borrow(other, 3);
        for (long number = 0; number < MANY; number++) {
            put(number);
        }
        assertEquals(5L * BLOCK, cache.bytes(lender));
        assertEquals(8L * BLOCK, cache.bytes());
        assertTrue(cache.giveBackSome(lender));
        assertTrue(lender.allocated() < 5L * BLOCK && lender.allocated() > 0, "some");
        cache.giveBackAll(lender);
        assertFalse(cache.giveBackSome(lender));
        assertEquals(0, lender.allocated());
        assertEquals(3L * BLOCK, other.allocated());
        long kept = count(FILE, MANY);
        assertTrue(kept > 2L * BLOCK_PAGES && kept <= 3L * BLOCK_PAGES, "kept " + kept);
        for (long number = 0; number < MANY; number++) {
            assertEquals(cache.has(FILE, number), take(FILE, number));
        }
    }

    @Test
    void whoWantsAFewHasAnEighthOfWhatItLent() {
        borrow(lender, 1);
        borrow(other, BLOCKS - 1);
        assertTrue(cache.giveBackSome(other));
        assertEquals((BLOCKS - 1 - 2L) * BLOCK, other.allocated());
        assertTrue(cache.giveBackSome(lender));
        assertEquals(0, lender.allocated());
        assertFalse(cache.giveBackSome(lender));
    }

    /** As where the stack was full in its midst: here the pool refuses the block. */
    @Test
    void givingBackThatFailedMayBeDoneAgain() {
        try (MemoryPool single = MemoryPool.open(BLOCK)) {
            long block = single.allocate(BLOCK);
            single.free(block, BLOCK);
            borrow(single, 1);
            put(0);
            single.free(block, BLOCK);
            assertThrows(IllegalStateException.class, () -> cache.giveBackSome(single));
            assertFalse(take(FILE, 0));
            put(0);
            assertFalse(take(FILE, 0));
            assertEquals(block, single.allocate(BLOCK));
            assertTrue(cache.giveBackSome(single));
            assertEquals(0, single.allocated());
            assertFalse(cache.giveBackSome(single));
        }
    }

    /** Who has lent all of a pool allocates as if nothing were lent. */
    @Test
    void memoryThatIsWantedComesAtOnce() {
        lender.whenWanted(() -> cache.giveBackSome(lender));
        borrow(lender, BLOCKS);
        assertEquals(0, lender.allocateSpare(4096));
        long few = lender.allocate(4096);
        assertTrue(few != 0 && cache.bytes() > 0, "some are left");
        lender.free(few, 4096);
        long all = lender.allocate(lender.capacity());
        assertTrue(all != 0);
        assertEquals(0, cache.bytes());
        assertEquals(0, lender.allocate(4096));
        lender.free(all, lender.capacity());
    }

    @Test
    void closedItBorrowsNothing() {
        borrow(lender, 1);
        cache.close();
        assertFalse(cache.borrow(lender));
        put(1);
        assertFalse(take(FILE, 1));
    }
}
