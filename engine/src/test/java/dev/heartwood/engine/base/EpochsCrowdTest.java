package dev.heartwood.engine.base;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * More operations than slots: those that found none looked through all slots again and again, and thousands of virtual threads that
 * did so left hardly any time to those they waited for. Now they sleep, and each gets its turn.
 */
class EpochsCrowdTest {
    private static final int THREADS = Epochs.SLOTS + 600;

    /** All slots but those of who may be waited for. */
    private static final int BRIEF_SLOTS_END = Epochs.SLOTS + 32;

    @Test
    void whoFindsNoSlotGetsOneLater() throws InterruptedException {
        Epochs epochs = new Epochs();
        CountDownLatch full = new CountDownLatch(Epochs.SLOTS);
        CountDownLatch leave = new CountDownLatch(1);
        AtomicInteger entered = new AtomicInteger();
        AtomicInteger inside = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            threads.add(Thread.ofVirtual().start(() -> {
                int slot = epochs.enter();
                entered.incrementAndGet();
                assertFalse(inside.incrementAndGet() > Epochs.SLOTS, "two operations have one slot");
                full.countDown();
                try {
                    leave.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                inside.decrementAndGet();
                epochs.exit(slot);
            }));
        }
        full.await();
        assertEquals(Epochs.SLOTS, entered.get());
        leave.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(THREADS, entered.get());
        assertFalse(epochs.isOccupied());
    }

    /** Those who waited for one of the slots that are held briefly kept all carriers from who had it and was woken from outside. */
    @Test
    void whoWaitsForABriefSlotLeavesTheCarriersToOthers() throws InterruptedException {
        Epochs epochs = new Epochs();
        List<Integer> slots = new ArrayList<>();
        for (int i = 1; i < BRIEF_SLOTS_END; i++) {
            slots.add(epochs.enterBriefly());
        }
        Starving starving = new Starving();
        starving.run(
                () -> {
                    int slot = epochs.enterBriefly();
                    starving.awaitWake();
                    epochs.exit(slot);
                },
                () -> epochs.exit(epochs.enterBriefly()));
        slots.forEach(epochs::exit);
        assertFalse(epochs.isOccupied());
    }
}
