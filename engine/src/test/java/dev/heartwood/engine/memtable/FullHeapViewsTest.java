package dev.heartwood.engine.memtable;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.FullHeap;
import dev.heartwood.engine.os.MemoryPool;
import org.junit.jupiter.api.Test;

/** A memtable is given back while the Java heap is full: who reads it last found no room for views of nothing. */
class FullHeapViewsTest {
    private static final int CHUNK_BYTES = 4096;

    @Test
    void viewsAreGivenBack() {
        FullHeap.run(Process.class);
    }

    /** What runs in the process with the full heap. */
    static final class Process {
        /** No arguments. */
        public static void main(String[] args) {
            try (MemoryPool pool = MemoryPool.open(1 << 20)) {
                newViews(pool).release();
                OrderedViews views = newViews(pool);
                FullHeap.whileFull(views::release);
            }
        }

        private static OrderedViews newViews(MemoryPool pool) {
            Lane lane = new Lane(CHUNK_BYTES);
            lane.addChunk(pool.allocate(CHUNK_BYTES), CHUNK_BYTES, CHUNK_BYTES);
            long key = pool.allocate(CHUNK_BYTES);
            lane.append(1, Entries.PUT, key, Long.BYTES, key, Long.BYTES);
            lane.publish();
            OrderedViews views = new OrderedViews(new Lane[] {lane}, new SortArrays());
            if (views.current().runs().length != 1) {
                throw new AssertionError("the record is seen");
            }
            return views;
        }
    }
}
