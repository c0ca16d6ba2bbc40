package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.cache.PageCache;
import dev.heartwood.engine.device.ArrayDevice;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Timer;
import dev.heartwood.engine.task.Workers;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class WriteBackTurnsTest {
    private static final long STORE_ID = 5;
    private static final long GENERATION = 1;
    private static final int EXTENTS = 32;
    private static final Runnable NOTHING = () -> {};

    private final MemoryPool pool = MemoryPool.open(16L << 20);
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final ArrayDevice device = new ArrayDevice();
    /** What happens while something is written to the device, once. */
    private Runnable whileWriting = NOTHING;

    /** Whether the next task finds no room. */
    private boolean isHeapFull;

    private long nextExtent;

    private final class Queued implements Workers {
        @Override
        public void submit(Priority priority, Runnable task) {
            if (isHeapFull) {
                isHeapFull = false;
                throw new OutOfMemoryError("for a test");
            }
            tasks.add(task);
        }

        @Override
        public Timer timer(Priority priority, Runnable task) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int count() {
            return 1;
        }

        @Override
        public void close() {}
    }

    private BlockDevice watched() {
        return (BlockDevice) Proxy.newProxyInstance(
                BlockDevice.class.getClassLoader(), new Class<?>[] {BlockDevice.class}, (proxy, method, arguments) -> {
                    if (method.getName().startsWith("write") || method.getName().equals("newQueue")) {
                        Runnable now = whileWriting;
                        whileWriting = NOTHING;
                        now.run();
                    }
                    try {
                        return method.invoke(device, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /** Inserts the first pages of an extent that has none yet. */
    private void insert(CachedFile file, int count) {
        long first = nextExtent++ * PageLayout.EXTENT_PAGES;
        long buffer = pool.allocate(PageLayout.EXTENT_BYTES);
        for (int i = 0; i < count; i++) {
            long page = buffer + ((long) i << PageLayout.PAGE_SHIFT);
            PageSeal.seal(page, PageType.BRANCH_LEAF, STORE_ID, first + i, GENERATION);
        }
        file.insertDirty(first, count, buffer);
        pool.free(buffer, PageLayout.EXTENT_BYTES);
    }

    /** The cache asks while a task is about to end that has written all it set out to write. */
    @Test
    void whatIsAskedForWhileATaskRunsIsDone() {
        try (PageCache cache = new PageCache(pool, (long) EXTENTS * PageLayout.EXTENT_BYTES, new Epochs());
                CachedFile file = cache.attach(watched(), STORE_ID)) {
            device.allocate(16L * EXTENTS * PageLayout.EXTENT_BYTES);
            cache.onWriteBackDue(new WriteBackTurns(cache, new Queued())::runSoon);
            for (int round = 0; round < 3; round++) {
                // One page too many, so that one extent is written, which leaves room for what comes meanwhile.
                while (cache.stats().framesDirty() + PageLayout.EXTENT_PAGES <= file.unwrittenBytesMax() / PageLayout.PAGE_BYTES) {
                    insert(file, PageLayout.EXTENT_PAGES);
                }
                while (tasks.isEmpty()) {
                    insert(file, 1);
                }
                whileWriting = () -> insert(file, 1);
                while (!tasks.isEmpty()) {
                    tasks.remove().run();
                    assertTrue(tasks.size() <= 1, "one at a time");
                }
                assertSame(NOTHING, whileWriting, "written");
                assertFalse(cache.isWriteBackAsked(), "asked for, and nobody comes");
            }
            assertEquals(0, tasks.size());
        }
        pool.close();
    }

    /** Who inserts next asks anew: what was asked while a task ran once counted as asked for ever, though no task came. */
    @Test
    void whatCouldNotBeBegunIsAskedForAgain() {
        try (PageCache cache = new PageCache(pool, (long) EXTENTS * PageLayout.EXTENT_BYTES, new Epochs());
                CachedFile file = cache.attach(watched(), STORE_ID)) {
            device.allocate(16L * EXTENTS * PageLayout.EXTENT_BYTES);
            cache.onWriteBackDue(new WriteBackTurns(cache, new Queued())::runSoon);
            while (tasks.isEmpty()) {
                insert(file, PageLayout.EXTENT_PAGES);
            }
            whileWriting = () -> {
                insert(file, PageLayout.EXTENT_PAGES);
                isHeapFull = true;
            };
            assertThrows(OutOfMemoryError.class, tasks.remove()::run);
            insert(file, PageLayout.EXTENT_PAGES);
            assertEquals(1, tasks.size());
            tasks.remove().run();
        }
        pool.close();
    }
}
