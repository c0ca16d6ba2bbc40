package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class TreeStorageTest {
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

    private static void awaitWaiting(Thread thread) {
        while (thread.isAlive() && thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
    }
}
