package dev.heartwood.engine.base;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** An interrupted thread waited for no time at all, so loops that look again and again spun. */
class ClockTest {
    private static final long NANOS = 2_000_000;

    private static void waitInterrupted() {
        // More than once: keeping the flag must not make the next wait shorter.
        for (int i = 0; i < 3; i++) {
            Thread.currentThread().interrupt();
            long began = Clock.SYSTEM.nanoTime();
            Clock.SYSTEM.parkNanos(NANOS);
            long waited = Clock.SYSTEM.nanoTime() - began;
            assertTrue(Thread.currentThread().isInterrupted(), "the flag is gone");
            assertTrue(waited >= NANOS, "waited for " + waited + " ns");
        }
    }

    private static void run(Thread.Builder kind) throws InterruptedException {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        kind.start(() -> {
            try {
                waitInterrupted();
            } catch (Throwable e) {
                failure.set(e);
            }
        }).join();
        assertNull(failure.get());
    }

    @Test
    void anInterruptedThreadWaitsAndStaysInterrupted() throws InterruptedException {
        run(Thread.ofPlatform());
        run(Thread.ofVirtual());
    }
}
