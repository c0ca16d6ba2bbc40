package dev.heartwood.engine.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Parts of a map come with their first entry and go after their last one. */
class DirectMapTest {
    private static final long PAGE = 3;
    private static final long ELSEWHERE = 5 << 10;
    private static final int ENTRY = 7;
    private static final int CHUNK = 1;
    private static final int OTHER_CHUNK = 2;
    private static final int ROUNDS = 300_000;

    private final MemoryPool pool = MemoryPool.open(1 << 20);
    private final FrameBlocks blocks = new FrameBlocks(pool, 1 << 19, FrameTable.metadataBytesPerFrame(2));
    private final FrameTable frames = new FrameTable(blocks, 2);
    private final DirectMap map = new DirectMap(frames, 0);

    @AfterEach
    void close() {
        blocks.close();
        pool.close();
    }

    @Test
    void aPageIsEnteredWhereThereIsAChunkOrWithOne() {
        assertFalse(map.enter(PAGE, ENTRY));
        assertTrue(map.enter(PAGE, ENTRY, CHUNK));
        assertEquals(FrameTable.MAP, frames.status(CHUNK));
        assertEquals(ENTRY, map.get(PAGE));
        assertFalse(map.enter(PAGE, ENTRY + 1));
        assertFalse(map.enter(PAGE + 1, ENTRY + 1, OTHER_CHUNK));
        assertTrue(map.enter(PAGE + 1, ENTRY + 1));
        assertTrue(map.enter(ELSEWHERE, ENTRY + 2, OTHER_CHUNK));
        assertEquals(ENTRY, map.get(PAGE));
        assertEquals(ENTRY + 1, map.get(PAGE + 1));
        assertEquals(ENTRY + 2, map.get(ELSEWHERE));
        assertEquals(2, map.chunks());
    }

    @Test
    void aChunkGoesWhenNothingIsLeftInIt() {
        assertEquals(0, map.removeEmpty(PAGE));
        map.enter(PAGE, ENTRY, CHUNK);
        map.enter(ELSEWHERE, ENTRY + 1, OTHER_CHUNK);
        map.enter(PAGE + 1, -ENTRY);
        map.set(PAGE, 0);
        assertEquals(0, map.removeEmpty(PAGE));
        map.set(PAGE + 1, 0);
        assertEquals(CHUNK, map.removeEmpty(PAGE));
        assertEquals(0, map.get(PAGE));
        assertFalse(map.covers(PAGE));
        assertEquals(1, map.chunks());
        assertTrue(map.enter(PAGE, ENTRY, CHUNK));
        assertEquals(0, map.get(PAGE + 1));
    }

    /**
     * A frame is a chunk, then something else, then the same chunk again, while a thread looks for a page of it: it finds the page or
     * nothing, never what the frame holds otherwise.
     */
    @Test
    void whoReadsAChunkThatGoesFindsNothing() throws InterruptedException {
        AtomicInteger wrong = new AtomicInteger();
        Thread changes = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < ROUNDS && wrong.get() == 0; i++) {
                map.enter(PAGE, ENTRY, CHUNK);
                map.set(PAGE, 0);
                map.removeEmpty(PAGE);
                Memory.fill(frames.address(CHUNK), PageLayout.PAGE_BYTES, 0x11);
            }
        });
        while (changes.isAlive()) {
            int entry = map.get(PAGE);
            if (entry != 0 && entry != ENTRY) {
                wrong.set(entry);
            }
        }
        changes.join();
        assertEquals(0, wrong.get());
    }
}
