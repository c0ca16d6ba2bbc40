package dev.heartwood.engine.os;

import dev.heartwood.engine.base.FullHeap;
import org.junit.jupiter.api.Test;

/** Memory is given back to the system while the Java heap is full, though what knows of it can be told of less only by more of the heap. */
class FullHeapPoolTest {
    private static final int POOL_BYTES = 1 << 20;

    @Test
    void aPoolIsUnmapped() {
        FullHeap.run(Process.class);
    }

    /** What runs in the process with the full heap. */
    static final class Process {
        /** No arguments. */
        public static void main(String[] args) {
            MemoryPool.open(POOL_BYTES).close();
            int regions = MemoryRegions.count();
            MemoryPool low = MemoryPool.open(POOL_BYTES);
            MemoryPool middle = MemoryPool.open(POOL_BYTES);
            MemoryPool high = MemoryPool.open(POOL_BYTES);
            long address = middle.allocate(POOL_BYTES);
            long last = high.allocate(POOL_BYTES);
            FullHeap.whileFull(middle::close);
            check(MemoryRegions.count() == regions + 2, "a pool that was closed is known");
            // The call that unmaps it takes some of the heap until it is compiled.
            LeftMappings.unmapLeft();
            check(NativeMemory.advise(address, POOL_BYTES, NativeMemory.MADV_POPULATE_READ) == -Errno.ENOMEM, "it is mapped");
            // The system may map another where it was.
            MemoryRegions.add(address, POOL_BYTES / 2);
            check(MemoryRegions.count() == regions + 3, "what comes there is not known");
            MemoryRegions.contains(address + POOL_BYTES / 2 - 1, 1);
            MemoryRegions.remove(address);
            FullHeap.whileFull(high::close);
            MemoryPool.open(POOL_BYTES).close();
            check(NativeMemory.advise(last, POOL_BYTES, NativeMemory.MADV_POPULATE_READ) == -Errno.ENOMEM, "the last one is mapped");
            low.close();
            check(MemoryRegions.count() == regions, "something is still known");
        }

        private static void check(boolean holds, String otherwise) {
            if (!holds) {
                throw new AssertionError(otherwise);
            }
        }
    }
}
