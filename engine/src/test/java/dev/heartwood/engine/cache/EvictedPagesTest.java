package dev.heartwood.engine.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.page.PageLayout;
import org.junit.jupiter.api.Test;

/** Pages that the cache has evicted come back from memory that others have lent, as long as they may. */
class EvictedPagesTest extends FormattedFileTest {
    /** More than the frames hold, and fewer than those and the memory that is lent. */
    private static final int FEW = 192;
    /** Those from here on have another part of the map. */
    private static final int FAR = 2048;

    private void lend() {
        while (fixture.cache.borrow(fixture.lender)) {}
    }

    private void readAll(int pages, long generation) {
        for (int page = 0; page < pages; page++) {
            fixture.read(page, generation);
        }
    }

    private int readsOf(Runnable what) {
        int before = device.reads.get();
        what.run();
        return device.reads.get() - before;
    }

    @Test
    void whatIsEvictedIsNotReadAgain() {
        lend();
        readAll(FEW, GENERATION);
        int again = readsOf(() -> readAll(FEW, GENERATION));
        // Sets that are full let some go.
        assertTrue(again < FEW / 4, "reads: " + again);
        CacheStats stats = fixture.cache.stats();
        assertEquals(CacheFixture.LENDER_BYTES, stats.bytesBorrowed());
        assertEquals(device.reads.get(), stats.loads(), "what comes back was not loaded");
        assertTrue(stats.broughtBack() > FEW - FRAMES - FEW / 4, stats.toString());
    }

    @Test
    void withoutMemoryItIsReadAgain() {
        readAll(FEW, GENERATION);
        lend();
        fixture.cache.giveBackAll(fixture.lender);
        assertEquals(FEW, readsOf(() -> readAll(FEW, GENERATION)));
        assertEquals(0, fixture.cache.stats().bytesBorrowed());
    }

    @Test
    void whatIsDiscardedDoesNotComeBack() {
        lend();
        readAll(FEW, GENERATION);
        file.discard(0, FEW);
        fixture.format(0, FEW, GENERATION + 1);
        assertEquals(FEW, readsOf(() -> readAll(FEW, GENERATION + 1)));
        assertThrows(CorruptionException.class, () -> fixture.read(FEW, GENERATION + 1));
    }

    /** One that takes the number of the file that was closed finds nothing of it. */
    @Test
    void whatWasOfAClosedFileDoesNotComeBack() {
        lend();
        readAll(FEW, GENERATION);
        for (int page = FAR; page < FAR + FEW; page++) {
            fixture.read(page, GENERATION);
        }
        assertFalse(file.map().covers(0));
        assertTrue(kept(FEW) > 0);
        file.close();
        fixture.format(0, FEW, GENERATION + 1);
        try (CachedFile next = fixture.cache.attach(device, CacheFixture.STORE)) {
            assertEquals(file.slot(), next.slot());
            for (int page = 0; page < FEW; page++) {
                long address = next.lockShared(page, CacheFixture.TYPE, GENERATION + 1);
                CacheFixture.check(address, page, GENERATION + 1);
                next.unlockShared(address);
            }
        }
    }

    @Test
    void pagesThatAreBroughtTogetherComeBackToo() {
        lend();
        readAll(FEW, GENERATION);
        int first = 0;
        while (!fixture.cache.victims.has(file.slot(), first) || !fixture.cache.victims.has(file.slot(), first + 1)) {
            first++;
        }
        int page = first;
        assertEquals(0, readsOf(() -> file.bring(page, 2, CacheFixture.TYPE, GENERATION, false)));
        assertTrue(fixture.isCached(page) && fixture.isCached(page + 1));
        assertEquals(0, readsOf(() -> fixture.read(page, GENERATION)));
    }

    /** Scans take their own frames again, and leave the rest of the memory alone, too. */
    @Test
    void pagesThatWereReadAheadAreNotKept() {
        lend();
        for (int page = PAGES - FEW; page < PAGES; page++) {
            fixture.read(page, GENERATION);
        }
        for (int page = 0; page < PAGES / 2; page += PageLayout.EXTENT_PAGES) {
            file.prefetch(page, PageLayout.EXTENT_PAGES, CacheFixture.TYPE, GENERATION);
            for (int i = 0; i < PageLayout.EXTENT_PAGES; i++) {
                fixture.read(page + i, GENERATION);
            }
        }
        assertTrue(fixture.cache.stats().evictions() > PAGES / 4);
        assertEquals(0, kept(PAGES / 2));
    }

    /** A scan of what is looked up more often than what it displaces leaves both where they are. */
    @Test
    void whatAScanBringsBackGoesBeforeOthersAndStaysWhereItWas() {
        lend();
        readAll(FEW, GENERATION);
        readAll(FEW, GENERATION);
        int kept = kept(FEW);
        boolean[] isHot = new boolean[FEW];
        int hot = 0;
        for (int page = 0; page < FEW; page++) {
            isHot[page] = fixture.isCached(page) && !fixture.cache.victims.has(file.slot(), page);
            hot += isHot[page] ? 1 : 0;
        }
        long before = fixture.cache.stats().broughtBack();
        for (int round = 0; round < 3; round++) {
            for (int page = 0; page < FEW; page++) {
                if (!isHot[page]) {
                    file.prefetch(page, 1, CacheFixture.TYPE, GENERATION);
                    fixture.read(page, GENERATION);
                }
            }
        }
        assertTrue(fixture.cache.stats().broughtBack() > before + kept, "brought back");
        assertTrue(kept(FEW) >= kept, kept + " before, and now " + kept(FEW));
        int left = 0;
        for (int page = 0; page < FEW; page++) {
            left += isHot[page] && fixture.isCached(page) ? 1 : 0;
        }
        assertTrue(left > hot * 3 / 4, left + " left of " + hot);
    }

    /** What nobody wants any more, and was not dropped, is not taken for what has its number now. */
    @Test
    void aPageOfAnotherTimeIsReadAnew() {
        lend();
        readAll(FEW, GENERATION);
        int kept = kept(FEW);
        assertTrue(kept > 0);
        fixture.format(0, FEW, GENERATION + 1);
        long before = fixture.cache.stats().broughtBack();
        for (int page = 0; page < FEW; page++) {
            if (fixture.cache.victims.has(file.slot(), page)) {
                switch (page % 3) {
                    case 0 -> file.bring(page, 1, CacheFixture.TYPE, GENERATION + 1, false);
                    case 1 -> file.prefetch(page, 1, CacheFixture.TYPE, GENERATION + 1);
                    default -> {}
                }
                assertEquals(page % 3 == 2, fixture.cache.victims.has(file.slot(), page), "a copy of another time");
                fixture.read(page, GENERATION + 1);
            }
        }
        assertEquals(before, fixture.cache.stats().broughtBack());
    }

    /** How many of the first pages wait to be brought back. */
    private int kept(int pages) {
        int kept = 0;
        for (int page = 0; page < pages; page++) {
            kept += fixture.cache.victims.has(file.slot(), page) ? 1 : 0;
        }
        return kept;
    }
}
