package dev.heartwood.engine.memtable;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Starving;
import dev.heartwood.engine.os.MemoryPool;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HashIndexTest {
    private static final int KEYS = 1 << 16;

    /** Those who waited for a table that another batch has grow kept all carriers from that one, which had waited for a lock. */
    @Test
    void whoWaitsForAGrowthLeavesTheCarriersToWhoGrows() throws InterruptedException {
        try (MemoryPool pool = MemoryPool.open(16 << 20)) {
            PoolBlocks blocks = new PoolBlocks(pool);
            HashIndex index = new HashIndex(blocks, 4);
            assertTrue(index.prepare());
            List<Thread> threads = new ArrayList<>();
            // A table is allocated under this lock.
            synchronized (index) {
                Thread grower = Thread.ofVirtual().start(() -> index.reserve(KEYS));
                Starving.awaitSleep(grower);
                threads.add(grower);
                threads.addAll(Starving.beginWaiting(() -> index.reserve(KEYS)));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            long held = blocks.bytesHeld();
            assertTrue(index.reserve(KEYS));
            assertTrue(held > 0 && held == blocks.bytesHeld(), "each table has grown");
            blocks.release();
        }
    }
}
