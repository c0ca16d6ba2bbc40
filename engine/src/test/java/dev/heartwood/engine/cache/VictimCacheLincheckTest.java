package dev.heartwood.engine.cache;

import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.os.PoolModelChecking;
import dev.heartwood.engine.page.PageLayout;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;

/**
 * Pages that are evicted, brought back and written anew, in every interleaving with memory that is lent and given back: a page is always what
 * was written last, and memory that was given back is not touched any more.
 */
@Param(name = "page", gen = IntGen.class, conf = "0:1")
public class VictimCacheLincheckTest {
    /** So few that sets are shared, and no loop is long enough to be taken for one without end. */
    private static final int BLOCK_PAGES = 1;

    private static final int PAGES = 2;
    private static final int ABSENT = 0;
    private static final int HERE = 1;
    private static final int OWNED = 2;
    private static final long OF_OTHERS = -1;

    private static final MemoryPool POOL = MemoryPool.open(PAGES << PageLayout.PAGE_SHIFT);
    private static final MemoryPool LENDER = MemoryPool.open(BLOCK_PAGES << PageLayout.PAGE_SHIFT);
    private static final long[] FRAMES = {POOL.allocate(PageLayout.PAGE_BYTES), POOL.allocate(PageLayout.PAGE_BYTES)};
    private static final long LENT = LENDER.allocate(PageLayout.PAGE_BYTES);

    private final VictimCache cache = new VictimCache(BLOCK_PAGES << PageLayout.PAGE_SHIFT, BLOCK_PAGES);
    private final AtomicIntegerArray entries = new AtomicIntegerArray(PAGES);
    private final long[] written = new long[PAGES];

    public VictimCacheLincheckTest() {
        // Nobody says when an execution is over, and what it left lent.
        if (LENDER.allocated() > 0) {
            LENDER.free(LENT, PageLayout.PAGE_BYTES);
        }
        cache.borrow(LENDER);
    }

    @Operation
    public void read(@Param(name = "page") int page) {
        if (entries.compareAndSet(page, ABSENT, OWNED)) {
            if (!cache.take(0, page, FRAMES[page], true)) {
                fill(FRAMES[page], word(page)); // from the device
            }
        } else if (!entries.compareAndSet(page, HERE, OWNED)) {
            return;
        }
        require(FRAMES[page], word(page));
        entries.set(page, HERE);
    }

    @Operation
    public void evict(@Param(name = "page") int page) {
        if (entries.compareAndSet(page, HERE, OWNED)) {
            cache.put(0, page, FRAMES[page]);
            fill(FRAMES[page], OF_OTHERS);
            entries.set(page, ABSENT);
        }
    }

    /** Its number is used anew. */
    @Operation
    public void replace(@Param(name = "page") int page) {
        if (entries.compareAndSet(page, HERE, OWNED) || entries.compareAndSet(page, ABSENT, OWNED)) {
            cache.drop(0, page);
            written[page]++;
            fill(FRAMES[page], word(page));
            entries.set(page, HERE);
        }
    }

    @Operation
    public void lend() {
        cache.borrow(LENDER);
    }

    @Operation
    public void wantBack() {
        cache.giveBackAll(LENDER);
        long block = LENDER.allocateSpare(PageLayout.PAGE_BYTES);
        if (block != 0) {
            fill(block, OF_OTHERS);
            entries.get(0); // a place for the other thread to go on
            require(block, OF_OTHERS);
            LENDER.free(block, PageLayout.PAGE_BYTES);
        }
    }

    private long word(int page) {
        return page * 1000L + written[page];
    }

    private static void fill(long page, long word) {
        Memory.putLong(page + PageLayout.BODY, word);
        Memory.putByte(page + PageLayout.TYPE, 0);
    }

    private static void require(long page, long word) {
        if (Memory.getLong(page + PageLayout.BODY) != word) {
            throw new AssertionError("not what was written");
        }
    }

    @Test
    void modelChecking() {
        PoolModelChecking.options().iterations(40).invocationsPerIteration(100).actorsBefore(2).check(getClass());
    }
}
