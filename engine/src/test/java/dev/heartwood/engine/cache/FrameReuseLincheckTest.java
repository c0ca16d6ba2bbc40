package dev.heartwood.engine.cache;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.os.MemoryRegions;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;

/**
 * A single frame for two pages, so that whatever is loaded reuses it: a shared lock is never one on a frame that has come to
 * hold another page.
 */
@Param(name = "page", gen = IntGen.class, conf = "0:1")
public class FrameReuseLincheckTest {
    private static final MemoryPool POOL = MemoryPool.open(4 << 20);
    private static final MemoryDevice DEVICE = new MemoryDevice(2);
    private static FrameReuseLincheckTest previous;

    static {
        for (int page = 0; page < 2; page++) {
            long address = DEVICE.contents(page);
            Memory.putLong(address + PageLayout.BODY, page);
            PageSeal.seal(address, CacheFixture.TYPE, CacheFixture.STORE, page, 1);
        }
    }

    private final Epochs epochs = new Epochs();
    private final PageCache cache;
    private final CachedFile file;
    private final Clock clock;

    public FrameReuseLincheckTest() {
        if (previous != null) {
            previous.cache.close();
        }
        previous = this;
        cache = new PageCache(POOL, 20L << PageLayout.PAGE_SHIFT, epochs);
        file = cache.attach(DEVICE, CacheFixture.STORE);
        while (cache.supply.available() > 2) {
            cache.supply.poll();
        }
        clock = new Clock(cache.frames, cache.supply, cache.files, cache.cold, cache.counters);
    }

    @Operation
    public long lockAndRead(@Param(name = "page") int page) {
        long address = file.lockShared(page, CacheFixture.TYPE, 1);
        try {
            return number(address);
        } finally {
            file.unlockShared(address);
        }
    }

    @Operation
    public void evict() {
        clock.evictAny();
    }

    private static long number(long address) {
        if (Memory.getLong(address + PageLayout.ADDRESS) != Memory.getLong(address + PageLayout.BODY)) {
            throw new AssertionError("not the page that was written");
        }
        return Memory.getLong(address + PageLayout.BODY);
    }

    @Test
    void modelChecking() {
        new ModelCheckingOptions()
                .iterations(8)
                .invocationsPerIteration(25)
                .threads(2)
                .actorsPerThread(2)
                .actorsBefore(1)
                .actorsAfter(0)
                .addGuarantee(forClasses(MemoryRegions.class.getName(), MemoryPool.class.getName())
                        .allMethods()
                        .ignore())
                .check(getClass());
    }
}
