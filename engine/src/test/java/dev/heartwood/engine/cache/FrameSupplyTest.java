package dev.heartwood.engine.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.sun.management.ThreadMXBean;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.os.MemoryPool;
import java.lang.management.ManagementFactory;
import java.util.BitSet;
import org.junit.jupiter.api.Test;

class FrameSupplyTest {
    private static final int STRIPES = 2;

    /** A supply all of whose frames are taken; there are no gaps between them. */
    private static final class Taken implements AutoCloseable {
        private final Epochs epochs = new Epochs();
        private final MemoryPool pool = MemoryPool.open(16 << 20);
        private final FrameBlocks blocks = new FrameBlocks(pool, 8 << 20, FrameTable.metadataBytesPerFrame(STRIPES));
        private final FrameTable frames = new FrameTable(blocks, STRIPES);
        private final FrameSupply supply = new FrameSupply(frames, blocks, epochs);

        Taken() {
            assertEquals(frames.last(), frames.size());
            assertEquals(frames.size(), take().cardinality());
        }

        BitSet take() {
            BitSet taken = new BitSet();
            for (int frame = supply.poll(); frame != 0; frame = supply.poll()) {
                assertFalse(taken.get(frame), "taken twice");
                taken.set(frame);
            }
            return taken;
        }

        /** Retires the frames before {@code end}, so many at a time. */
        void retire(int end, int batch) {
            int count = 0;
            int head = 0;
            for (int frame = 1; frame < end; frame++) {
                frames.setLink(frame, head);
                head = frame;
                count++;
                if (count == batch || frame + 1 == end) {
                    supply.retire(head, count);
                    head = 0;
                    count = 0;
                }
            }
        }

        @Override
        public void close() {
            blocks.close();
            pool.close();
        }
    }

    /** Where the Java heap had no room for more batches, those who had evicted pages lost their frames for good. */
    @Test
    void howeverManyBatchesAreStillReadTheyTakeNothingOfTheHeap() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int batch = 1; batch <= 3; batch++) {
            try (Taken taken = new Taken()) {
                int reader = taken.epochs.enter();
                long before = threads.getCurrentThreadAllocatedBytes();
                taken.retire(taken.frames.size() + 1, batch);
                // What was never called before may take something.
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
                assertEquals(taken.frames.size(), taken.supply.inLimbo());
                assertEquals(0, taken.take().cardinality(), "somebody reads them");
                taken.epochs.exit(reader);
                assertEquals(taken.frames.size(), taken.take().cardinality());
                assertEquals(0, taken.supply.available());
            }
        }
        assertEquals(0, least);
    }

    @Test
    void aBatchThatThereIsNoRoomForIsKeptAsLongAsItIsRead() {
        try (Taken taken = new Taken()) {
            int last = taken.frames.size();
            int first = taken.epochs.enter();
            taken.retire(last, 1);
            int second = taken.epochs.enter();
            taken.frames.setLink(last, 0);
            taken.supply.retire(last, 1);
            taken.epochs.exit(first);
            BitSet early = taken.take();
            assertFalse(early.isEmpty());
            assertFalse(early.get(last));
            taken.epochs.exit(second);
            assertEquals(last - early.cardinality(), taken.take().cardinality());
        }
    }
}
