package dev.heartwood.engine.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.heartwood.engine.extent.Purpose;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.trunk.TreeCursor;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

class TreeStorageTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    /** The first ones load and link what they use. */
    private static final int ROUNDS = 8;

    /** Extents that are in use: of small numbers Java has objects at hand. */
    private static final int OTHERS = 200;

    private static final TreeShape SHAPE = new TreeShape(8, 4, 4096, 8192, 16384);

    /** Any thread of an environment frees what a store has put off, and the cache is about to let go of the store's file. */
    @Test
    void whoClosesWaitsForWhoFrees() throws InterruptedException {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            tree.put("key", "value");
            tree.pack();
            int extent = tree.trunk.version().root().bundle(0).runs()[0].branch().extents()[0];
            Thread freeing = new Thread(() -> tree.storage.free(extent));
            Thread closing = new Thread(tree.storage::close);
            boolean waits;
            try (TreeCursor cursor = tree.cursor(tree.trunk.version())) {
                cursor.seekFirst();
                assertTrue(cursor.valid(), "it has its page locked");
                freeing.start();
                awaitWaiting(freeing);
                closing.start();
                awaitWaiting(closing);
                waits = closing.isAlive();
            }
            freeing.join();
            closing.join();
            assertTrue(waits, "closed while an extent was being freed");
            tree.extents.markUsed(extent); // the tree refers to it still
            tree.releaseAll();
        }
    }

    /** A full Java heap once kept some extents in use until the store was opened again. */
    @Test
    void lettingGoOfATreeTakesNothingOfTheHeap() {
        long least = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++) {
            try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
                for (int i = 0; i < OTHERS; i++) {
                    tree.extents.allocate(Purpose.COMPACTION);
                }
                tree.put("key", "value");
                tree.put("large", "value".repeat(1000));
                tree.pack();
                // As a checkpoint does: from now on the nodes have places in the file.
                tree.images.write(tree.trunk.version(), 1, tree.page);
                tree.epochs.reclaim();
                long before = THREADS.getCurrentThreadAllocatedBytes();
                tree.trunk.close();
                least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
                assertTrue(tree.extents.allocatedCount() > OTHERS + 1);
                tree.epochs.reclaim();
                assertEquals(OTHERS + 1, tree.extents.allocatedCount(), "beside them, the one that nodes' images are written to");
            }
        }
        assertEquals(0, least);
    }

    private static void awaitWaiting(Thread thread) {
        while (thread.isAlive() && thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
    }
}
