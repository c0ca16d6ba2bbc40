package dev.heartwood.engine.cache;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.os.MemoryRegions;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;

/**
 * A small cache over a file of which two pages are used, and the operations on it that are tried in every interleaving. One at a time: making one
 * closes the one before, as nobody says when an execution is over.
 */
final class TwoPages {
    private static final MemoryPool POOL = MemoryPool.open(4 << 20);
    private static final long FAR_APART = 1024;
    private static final long[] PAGES = {0, 1, FAR_APART};
    private static final MemoryDevice DEVICE = new MemoryDevice((int) FAR_APART + 1);
    private static final MemoryPool LENDER = MemoryPool.open(PageLayout.PAGE_BYTES);
    private static final long LENT = LENDER.allocate(PageLayout.PAGE_BYTES);
    private static TwoPages previous;

    static {
        for (long page : PAGES) {
            long address = DEVICE.contents(page);
            Memory.putLong(address + PageLayout.BODY, page);
            PageSeal.seal(address, CacheFixture.TYPE, CacheFixture.STORE, page, 1);
        }
    }

    private final Epochs epochs = new Epochs();
    private final PageCache cache;
    private final CachedFile file;
    private final Clock clock;
    private final long apart;

    /** Of two pages side by side. */
    TwoPages() {
        this(1, 0);
    }

    /** Of two that are not in one part of the map. */
    static TwoPages farApart() {
        return new TwoPages(FAR_APART, 0);
    }

    /** Of two pages side by side, of which one copy is kept when they are evicted. */
    static TwoPages kept() {
        return new TwoPages(1, 1);
    }

    private TwoPages(long apart, int copies) {
        this.apart = apart;
        if (previous != null) {
            previous.cache.close();
        }
        previous = this;
        cache = new PageCache(POOL, 20L << PageLayout.PAGE_SHIFT, new VictimCache(copies << PageLayout.PAGE_SHIFT, 1), epochs);
        // Nobody says what of the pool the cache of an execution still has that was the last but one.
        if (copies > 0) {
            if (LENDER.allocated() > 0) {
                LENDER.free(LENT, PageLayout.PAGE_BYTES);
            }
            cache.borrow(LENDER);
        }
        file = cache.attach(DEVICE, CacheFixture.STORE);
        clock = new Clock(cache.frames, cache.supply, cache.files, cache.cold, cache.victims, cache.counters);
    }

    /** Takes frames out of use until so many are left. */
    void leaveFrames(int count) {
        while (cache.supply.available() > count) {
            cache.supply.poll();
        }
    }

    long read(int page) {
        int epoch = epochs.enter();
        try {
            return number(file.page(page * apart, CacheFixture.TYPE, 1));
        } finally {
            epochs.exit(epoch);
        }
    }

    long lockAndRead(int page) {
        long address = file.lockShared(page * apart, CacheFixture.TYPE, 1);
        try {
            return number(address);
        } finally {
            file.unlockShared(address);
        }
    }

    void evict() {
        clock.evictAny();
    }

    void discard(int page) {
        file.discard(page * apart, 1);
    }

    /** Whether there is a copy of a page that was evicted. */
    boolean isKept(int page) {
        return cache.victims.has(file.slot(), page * apart);
    }

    private static long number(long address) {
        if (Memory.getLong(address + PageLayout.ADDRESS) != Memory.getLong(address + PageLayout.BODY)) {
            throw new AssertionError("not the page that was written");
        }
        return Memory.getLong(address + PageLayout.BODY);
    }

    /**
     * Two threads of two operations, with the memory's bookkeeping left out, and the look at all operations' slots, up to 64 of them, which
     * would be taken for a loop without end.
     */
    static ModelCheckingOptions twoThreads() {
        return new ModelCheckingOptions()
                .threads(2)
                .actorsPerThread(2)
                .actorsAfter(0)
                .addGuarantee(forClasses(MemoryRegions.class.getName(), MemoryPool.class.getName())
                        .allMethods()
                        .ignore())
                .addGuarantee(forClasses(Epochs.class.getName()).methods("oldest").ignore());
    }
}
