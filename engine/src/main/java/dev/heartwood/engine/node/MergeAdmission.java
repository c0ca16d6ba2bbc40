package dev.heartwood.engine.node;

import dev.heartwood.engine.os.MemoryPool;
import java.util.Deque;
import java.util.LinkedList;
import java.util.Queue;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Who may use a pool for merges and for packing memtables, of all trees that share it. Thread-safe; what is told to go on is called by
 * the thread that ends, without a lock.
 */
public class MergeAdmission {
    /*
     * Merges say how much memory they take, about, and get a part of the pool together. The rest is for packing, since memtables are
     * what writers wait for. Packing says nothing and tries; when it finds no memory it asks to be alone. Whoever asks for that waits
     * until all others have ended, and whoever comes after waits for him, so that nothing new takes what is given back.
     *
     * Who is not admitted is entered into a queue under the lock under which that was found, so nobody misses that another ended.
     *
     * A merge that does not fit beside those of other trees would wait for as long as these go on. Once some have passed it, others are
     * admitted only beside none, and it is the first to be told when one ends. It may not come, since its tree is closed or has changed: after
     * as many again it is forgotten.
     */
    private static final int MERGES_OF_8 = 5;

    /** Merges that pass one that does not fit, before others make way for it. */
    private static final int PASSES_MAX = 16;

    /**
     * In a pool of fewer bytes merges are done one after the other: their cursors, once it is used up, take memory from calls, for a long key
     * up to 64 KiB for each run.
     */
    private static final long SEVERAL_MERGES_BYTES_MIN = 4 << 20;

    private record Packing(boolean alone, Runnable admitted) {}

    private final long mergeBytesMax;
    private final boolean admitsSeveral;
    private final ReentrantLock lock = new ReentrantLock();
    // Guarded by the lock.
    // Linked: an ArrayDeque that finds no room to grow on the Java heap keeps what it refuses, and takes itself for empty.
    private final Queue<Packing> waiting = new LinkedList<>();
    private final Deque<Runnable> refusedMerges = new LinkedList<>();
    /** The first tree, by what it is told by, that was refused a merge which did not fit, and was admitted to none since; or null. */
    private Runnable passed;
    /** Merges of others that were admitted since. */
    private int passes;
    private long mergeBytes;
    private int packings;
    private boolean isOneAlone;

    public MergeAdmission(MemoryPool pool) {
        mergeBytesMax = mergeBytesMax(pool);
        admitsSeveral = pool.capacity() >= SEVERAL_MERGES_BYTES_MIN;
    }

    /** What all merges together take of a pool; one that has to take more is alone. */
    public static long mergeBytesMax(MemoryPool pool) {
        return pool.capacity() / 8 * MERGES_OF_8;
    }

    /**
     * Admits a merge, if need be one that reads less at once; one beside no others is admitted whatever it takes. {@link #releaseMerge}
     * gives its bytes back.
     *
     * @param whenFreed called once, later, when it was not admitted and may be then
     * @return how many pages it may read at once, 0 when it is not admitted
     */
    public int admitMerge(MergeMemory memory, Runnable whenFreed) {
        lock.lock();
        try {
            int chunkPages = memory.chunkPages(mergeBytesMax - mergeBytes);
            long bytes = memory.bytes(chunkPages);
            boolean fits = mergeBytes == 0 || admitsSeveral && mergeBytes + bytes <= mergeBytesMax;
            if (!fits || isOneAlone || !waiting.isEmpty() || makesWay(whenFreed)) {
                refuse(fits, whenFreed);
                return 0;
            }
            pass(whenFreed);
            mergeBytes += bytes;
            return chunkPages;
        } finally {
            lock.unlock();
        }
    }

    /** Whether one that fits beside others waits for that of another tree that does not. */
    private boolean makesWay(Runnable comer) {
        return mergeBytes > 0 && passes >= PASSES_MAX && passed != comer;
    }

    private void refuse(boolean fits, Runnable comer) {
        if (passed == null && !fits) {
            passed = comer;
            passes = 0;
        }
        if (passed == comer) {
            refusedMerges.addFirst(comer);
        } else {
            refusedMerges.add(comer);
        }
    }

    private void pass(Runnable comer) {
        passes += passed == null ? 0 : 1;
        if (passed == comer || passes >= 2 * PASSES_MAX) {
            passed = null;
            passes = 0;
        }
    }

    /**
     * Admits the packing of a memtable; {@link #releasePacking} ends it.
     *
     * @param alone beside no merge and no other packing
     * @param admitted called once, later, when it is admitted only then
     * @return whether it is admitted now
     */
    public boolean admitPacking(boolean alone, Runnable admitted) {
        lock.lock();
        try {
            boolean fits = waiting.isEmpty() && fits(alone);
            if (fits) {
                begin(alone);
            } else {
                waiting.add(new Packing(alone, admitted));
            }
            return fits;
        } finally {
            lock.unlock();
        }
    }

    private boolean fits(boolean alone) {
        return alone ? mergeBytes == 0 && packings == 0 : !isOneAlone;
    }

    private void begin(boolean alone) {
        packings++;
        isOneAlone = alone;
    }

    /** Ends a merge that was admitted with so many bytes. */
    public void releaseMerge(long bytes) {
        release(bytes, 0);
    }

    /** Ends a packing that was admitted. */
    public void releasePacking() {
        release(0, 1);
    }

    /** Allocates nothing: who ends for want of Java heap has to be able to give its memory back. */
    private void release(long bytes, int packing) {
        boolean mayAdmit;
        lock.lock();
        try {
            boolean wereHeldBack = isOneAlone || !waiting.isEmpty();
            mergeBytes -= bytes;
            packings -= packing;
            isOneAlone &= packings > 0;
            mayAdmit = bytes > 0 || wereHeldBack;
        } finally {
            lock.unlock();
        }
        for (Runnable next = nextPacking(); next != null; next = nextPacking()) {
            next.run();
        }
        // Counted now, since merges were refused while packings waited; and not until none is left, since some may be refused again meanwhile.
        int refused = mayAdmit ? refusedMerges() : 0;
        for (Runnable next; refused > 0 && (next = nextMerge()) != null; refused--) {
            next.run();
        }
    }

    /** Admits the packing that has waited longest and returns what it is to be told by; null when it has to wait on. */
    private Runnable nextPacking() {
        lock.lock();
        try {
            if (waiting.isEmpty() || !fits(waiting.peek().alone)) {
                return null;
            }
            Packing next = waiting.remove();
            begin(next.alone);
            return next.admitted;
        } finally {
            lock.unlock();
        }
    }

    private int refusedMerges() {
        lock.lock();
        try {
            return refusedMerges.size();
        } finally {
            lock.unlock();
        }
    }

    /** What a refused merge is to be told by; null when there is none, or merges are held back. */
    private Runnable nextMerge() {
        lock.lock();
        try {
            return isOneAlone || !waiting.isEmpty() ? null : refusedMerges.poll();
        } finally {
            lock.unlock();
        }
    }

    /** How many wait for being admitted to pack. */
    public int packingsWaiting() {
        lock.lock();
        try {
            return waiting.size();
        } finally {
            lock.unlock();
        }
    }
}
