package dev.heartwood.engine.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.heartwood.engine.base.Clock;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/** Pages are dropped that nobody needs any more, as whoever drops them says. */
class PageDropperTest {
    private static final long GENERATION = 1;
    private static final int POLLS = 2 * PageDropper.POLLS_UNTOLD;
    private static final long SPUN_NANOS = 2_000_000_000L;

    private final CacheFixture cache = new CacheFixture(64, 64);
    private final AtomicBoolean isLocked = new AtomicBoolean();
    private long address;
    private int polls;

    /** Counts who sleeps, and lets the page go in the end. */
    private final Clock clock = new Clock() {
        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public void parkNanos(long nanos) {
            if (++polls == POLLS) {
                unlock();
            }
        }
    };

    private void unlock() {
        if (isLocked.getAndSet(false)) {
            cache.file.unlockShared(address);
        }
    }

    /** A lock that was left behind was waited for by yielding, at the cost of a whole processor and without a word. */
    @Test
    void aLockThatIsLeftBehindIsSleptForAndNamed() throws InterruptedException {
        cache.format(0, 1, GENERATION);
        address = cache.file.lockShared(0, CacheFixture.TYPE, GENERATION);
        isLocked.set(true);
        PageCache parts = cache.cache;
        PageDropper dropper = new PageDropper(
                parts.frames, parts.supply, parts.loader, parts.dirtyQueue, parts.victims, parts.counters, clock);
        List<String> told = new ArrayList<>();
        Thread spinning = unlockWhenSpinning(Thread.currentThread());
        listen(told, () -> dropper.drop(cache.file, 0, 1));
        spinning.join();
        assertEquals(POLLS, polls);
        assertEquals(1, told.size(), told::toString);
        assertFalse(cache.isCached(0));
        cache.close();
    }

    /** Lets the page go also if {@code dropping} uses a processor up for it, so that this test ends. */
    private Thread unlockWhenSpinning(Thread dropping) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long begun = threads.getThreadCpuTime(dropping.threadId());
        return Thread.ofPlatform().start(() -> {
            while (isLocked.get()) {
                if (threads.getThreadCpuTime(dropping.threadId()) - begun > SPUN_NANOS) {
                    unlock();
                }
                Thread.yield();
            }
        });
    }

    private static void listen(List<String> told, Runnable action) {
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord logged) {
                told.add(logged.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("dev.heartwood");
        logger.addHandler(handler);
        logger.setUseParentHandlers(false);
        try {
            action.run();
        } finally {
            logger.removeHandler(handler);
            logger.setUseParentHandlers(true);
        }
    }
}
