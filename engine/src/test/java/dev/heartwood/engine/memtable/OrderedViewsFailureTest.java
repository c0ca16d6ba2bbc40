package dev.heartwood.engine.memtable;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OrderedViewsFailureTest {
    private static final int CHUNK_BYTES = 4096;

    private final MemoryPool pool = MemoryPool.open(1 << 20);
    private final long key = pool.allocate(CHUNK_BYTES);
    private final Lane[] lanes = {new Lane(CHUNK_BYTES), new Lane(CHUNK_BYTES)};
    private final OrderedViews views = new OrderedViews(lanes, new SortArrays());
    private long sequence;

    @AfterEach
    void close() {
        pool.close();
    }

    private long append(Lane lane, int number) {
        Memory.putInt(key, Integer.reverseBytes(number));
        long record = lane.append(++sequence, Entries.PUT, key, Integer.BYTES, key, Integer.BYTES);
        lane.publish();
        return record;
    }

    private void addChunk(Lane lane) {
        lane.addChunk(pool.allocate(CHUNK_BYTES), CHUNK_BYTES, CHUNK_BYTES);
    }

    /** As when the Java heap is full: the first lane was walked into its next chunk by then, and the second is not walked to its end. */
    @Test
    void aWalkThatFailsLeavesNothingBehind() {
        addChunk(lanes[0]);
        addChunk(lanes[1]);
        long[] records = new long[5];
        records[1] = append(lanes[0], 1);
        records[3] = append(lanes[1], 3);
        OrderedViews.View before = views.current();

        records[0] = append(lanes[0], 0);
        addChunk(lanes[0]);
        records[4] = append(lanes[0], 4);
        records[2] = append(lanes[1], 2);
        long next = append(lanes[1], 5);
        long meta = Records.meta(records[2]);
        Memory.putLong(records[2] + Records.META_OFFSET, Records.meta(Entries.PUT, Integer.BYTES, 1 << 30));
        assertThrows(AssertionError.class, views::current);
        assertEquals(2, count(before));

        Memory.putLong(records[2] + Records.META_OFFSET, meta);
        long[] all = Arrays.copyOf(records, 6);
        all[5] = next;
        assertArrayEquals(all, inOrder(views.single()));
    }

    private static int count(OrderedViews.View view) {
        return Arrays.stream(view.runs()).mapToInt(SortedRun::count).sum();
    }

    private static long[] inOrder(OrderedViews.View view) {
        assertEquals(1, view.runs().length);
        SortedRun run = view.runs()[0];
        long[] records = new long[run.count()];
        for (int i = 0; i < records.length; i++) {
            records[i] = run.record(i);
        }
        return records;
    }
}
