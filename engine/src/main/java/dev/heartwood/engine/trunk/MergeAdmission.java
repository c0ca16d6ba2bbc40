package dev.heartwood.engine.trunk;

import dev.heartwood.engine.os.MemoryPool;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Admits merges and packing, of all trees that share a pool, as far as the pool's memory goes. Who is admitted takes about as much of it
 * as was said. Thread-safe; what is told to go on is called by the thread that gives memory back, without a lock.
 */
public final class MergeAdmission {
    /*
     * Merges are refused beyond a part of the pool, since memtables are what writers wait for, and whenever a memtable waits: so what
     * holds the memory ends, and nothing new takes it. Packing is admitted in the order of asking. Who is alone is always admitted.
     *
     * Who is not admitted is entered into a queue under the lock under which it was found that there is no memory, so nobody
     * misses that some was given back.
     */
    private static final int MERGES_OF_8 = 5;

    private record Packing(long bytes, Runnable admitted) {}

    private final long bytesMax;
    private final long mergeBytesMax;
    private final ReentrantLock lock = new ReentrantLock();
    // Guarded by the lock.
    private final Queue<Packing> packings = new ArrayDeque<>();
    private final List<Runnable> refusedMerges = new ArrayList<>();
    private long mergeBytes;
    private long packingBytes;

    public MergeAdmission(MemoryPool pool) {
        bytesMax = pool.capacity();
        mergeBytesMax = bytesMax / 8 * MERGES_OF_8;
    }

    /**
     * Admits a merge, if need be one that reads less at once; {@link #releaseMerge} gives its bytes back.
     *
     * @param whenFreed called once, later, when it was not admitted and there may be memory
     * @return how many pages it may read at once, 0 when it is not admitted
     */
    int admitMerge(MergeMemory memory, Runnable whenFreed) {
        lock.lock();
        try {
            long free = Math.min(mergeBytesMax - mergeBytes, bytesMax - mergeBytes - packingBytes);
            int chunkPages = memory.chunkPages(free);
            long bytes = memory.bytes(chunkPages);
            boolean isAlone = mergeBytes + packingBytes == 0;
            if (!isAlone && (!packings.isEmpty() || bytes > free)) {
                refusedMerges.add(whenFreed);
                return 0;
            }
            mergeBytes += bytes;
            return chunkPages;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Admits packing that takes {@code bytes}, all that there is at the most; {@link #releasePacking} gives them back.
     *
     * @param admitted called once, later, when it is admitted then
     * @return whether it is admitted now
     */
    public boolean admitPacking(long bytes, Runnable admitted) {
        lock.lock();
        try {
            Packing packing = new Packing(bytes, admitted);
            boolean fits = packings.isEmpty() && fits(packing);
            if (fits) {
                packingBytes += bytes;
            } else {
                packings.add(packing);
            }
            return fits;
        } finally {
            lock.unlock();
        }
    }

    private boolean fits(Packing packing) {
        return mergeBytes + packingBytes == 0 || mergeBytes + packingBytes + packing.bytes <= bytesMax;
    }

    /** Gives back what a merge was admitted with. */
    void releaseMerge(long bytes) {
        release(bytes, 0);
    }

    /** Gives back what packing was admitted with. */
    public void releasePacking(long bytes) {
        release(0, bytes);
    }

    private void release(long ofMerge, long ofPacking) {
        List<Runnable> due = new ArrayList<>();
        lock.lock();
        try {
            mergeBytes -= ofMerge;
            packingBytes -= ofPacking;
            while (!packings.isEmpty() && fits(packings.peek())) {
                Packing next = packings.remove();
                packingBytes += next.bytes;
                due.add(next.admitted);
            }
            if (packings.isEmpty()) {
                due.addAll(refusedMerges);
                refusedMerges.clear();
            }
        } finally {
            lock.unlock();
        }
        due.forEach(Runnable::run);
    }

    /** How many wait for being admitted to pack. */
    public int packingsWaiting() {
        lock.lock();
        try {
            return packings.size();
        } finally {
            lock.unlock();
        }
    }

    /** What packing asks for that is to have no others beside it. */
    public long all() {
        return bytesMax;
    }
}
