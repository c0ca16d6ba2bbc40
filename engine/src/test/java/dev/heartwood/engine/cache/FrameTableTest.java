package dev.heartwood.engine.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FrameTableTest {
    private final MemoryPool pool = MemoryPool.open(1 << 20);
    private final FrameBlocks blocks = new FrameBlocks(pool, 1 << 19, FrameTable.metadataBytesPerFrame(2));
    private final FrameTable frames = new FrameTable(blocks, 2);

    @AfterEach
    void close() {
        blocks.close();
        pool.close();
    }

    /**
     * A thread that waits for a page asks which lane loads the frame, and by then the frame may be free and linked to another.
     * The lane was once kept in the link, and the waiter took the other frame's number for a lane.
     */
    @Test
    void aFreeFrameIsLoadedByNoLaneWhateverItsLink() {
        frames.setLane(5, 2);
        assertEquals(2, frames.lane(5));
        frames.setStatus(5, FrameTable.FREE);
        frames.setLink(5, 40);
        assertEquals(0, frames.lane(5));
        frames.setStatus(5, FrameTable.MAP);
        assertEquals(0, frames.lane(5));
    }

    @Test
    void anIndexPageSurvivesMoreHandsThanALeaf() {
        frames.load(3, PageType.BRANCH_LEAF);
        assertFalse(frames.isAccessed(3));
        frames.load(4, PageType.FILTER);
        frames.touch(3, PageType.BRANCH_LEAF);
        frames.age(3);
        frames.age(4);
        assertFalse(frames.isAccessed(3));
        assertTrue(frames.isAccessed(4));
        for (int hand = 0; hand < 8; hand++) {
            frames.age(4);
        }
        assertFalse(frames.isAccessed(4));
    }

    @Test
    void aPageReadAheadIsHotFromItsSecondAccess() {
        frames.markAhead(3);
        assertFalse(frames.isAccessed(3));
        frames.touch(3, PageType.BRANCH_LEAF);
        assertFalse(frames.isAccessed(3));
        frames.touch(3, PageType.BRANCH_LEAF);
        assertTrue(frames.isAccessed(3));
        frames.clearAccessed(3);
        frames.touch(3, PageType.BRANCH_LEAF);
        assertTrue(frames.isAccessed(3));
    }

    @Test
    void addressesAndNumbersAgree() {
        for (int frame = 1; frame <= frames.last(); frame++) {
            assertEquals(frame, frames.frameAt(frames.address(frame)));
            assertTrue(blocks.contains(frames.address(frame)));
        }
        assertEquals(0, frames.frameAt(frames.address(1) - 4096));
        assertEquals(0, frames.frameAt(frames.address(frames.last()) + 4096));
        frames.setOwner(7, 1000, (1L << 40) - 1);
        assertEquals(1000, frames.ownerSlot(7));
        assertEquals((1L << 40) - 1, frames.ownerPage(7));
    }

    /** From 25 million frames of 86 bytes on, some 95 GiB, the size was once reckoned in an int, and the smallest block taken. */
    @Test
    void metadataOfManyFramesIsAsLargeAsTheyNeed() {
        assertEquals(4L << 30, FrameBlocks.metadataBytes(30_000_000, FrameTable.metadataBytesPerFrame(16)));
        assertEquals(64L << 30, FrameBlocks.metadataBytes(1 << 29, FrameTable.metadataBytesPerFrame(16)));
    }
}
