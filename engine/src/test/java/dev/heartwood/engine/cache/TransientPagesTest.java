package dev.heartwood.engine.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TransientPagesTest {
    /** What there is, the reserve last. */
    static List<Long> takeAll(TransientPages pages) {
        List<Long> taken = new ArrayList<>();
        assertThrows(InsufficientMemoryException.class, () -> {
            while (true) {
                taken.add(pages.take(() -> false));
            }
        });
        return taken;
    }

    /** As those of verification and the scrubber, of which the last one was asked, whichever it was. */
    @Test
    void aCacheInTheMemoryOfOthersLeavesWhoIsAskedWhenThatIsShort() {
        try (MemoryPool pool = MemoryPool.open(8L << 20)) {
            List<Boolean> told = new ArrayList<>();
            pool.whenShort(0, told::add);
            try (PageCache view = new PageCache(pool, 1L << 20, new Epochs())) {
                assertEquals(0, pool.allocate(pool.capacity()));
            }
            assertEquals(List.of(true), told);
        }
    }

    /** It came back with the next page that found no frame: write-back and reading ahead had no buffers until then. */
    @Test
    void whoFindsNoMemoryHasThatOfPagesThatNobodyReadsGivenBack() {
        try (CacheFixture fixture = new CacheFixture(64, 64)) {
            long before = fixture.pool.allocated();
            int epoch = fixture.epochs.enter();
            for (long page : takeAll(fixture.cache.transients)) {
                fixture.cache.transients.retire(page);
            }
            assertEquals(0, fixture.pool.allocate(PageLayout.EXTENT_BYTES));
            assertEquals(0, fixture.pool.allocate(PageLayout.EXTENT_BYTES), "somebody may be reading them");
            fixture.epochs.exit(epoch);
            fixture.pool.allocate(PageLayout.EXTENT_BYTES);
            long buffer = fixture.pool.allocate(PageLayout.EXTENT_BYTES);
            assertNotEquals(0, buffer);
            fixture.pool.free(buffer, PageLayout.EXTENT_BYTES);
            assertEquals(before, fixture.pool.allocated());
        }
    }
}
