package dev.heartwood.engine.store;

import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Workers;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Which memtables are sealed for the sake of other stores: where several share the memory, it would be gone before any of theirs is full, and
 * whoever writes next would wait. So the largest is sealed while there is room for what others take until it is packed. Owns nothing, waits for nobody.
 * Thread-safe.
 */
final class SharedMemtables {
    /*
     * Stores that are written alike would fill at the same moment. Since the largest goes first, and one at a time, they come to be of all sizes,
     * and those that are sealed have twice the bytes of the mean.
     */

    /** Who writes as much pays at least once, so that it is not looked much more often than something changes. */
    private static final long BYTES_PER_CALL = 64 << 10;

    /** For what is not known of it: lanes take more of their memory than what they pay for. */
    private static final int CALLS_SHARE = 4;

    private static final int CALLS_MAX = 64;

    private final Supplier<List<MemoryShare>> stores;
    private final Workers workers;
    private final long bytesMax;
    private final AtomicBoolean looking = new AtomicBoolean();
    /** Calls of {@link #sealAhead} before somebody looks again. */
    private final AtomicInteger callsLeft = new AtomicInteger();

    // Made once, since writers begin it.
    private final Runnable look = this::look;

    /**
     * @param stores those that are open
     * @param bytesMax what they may have, with one more like the largest of them, before that is sealed
     */
    SharedMemtables(Supplier<List<MemoryShare>> stores, Workers workers, long bytesMax) {
        this.stores = stores;
        this.workers = workers;
        this.bytesMax = bytesMax;
    }

    /** Has memtables sealed where all that take writes, and one like the largest of them, would have more than they may. For who writes, now and then. */
    void sealAhead() {
        if (callsLeft.decrementAndGet() <= 0 && !looking.get() && looking.compareAndSet(false, true)) {
            try {
                workers.submit(Priority.SEAL, look);
            } catch (RuntimeException | Error e) {
                // A full Java heap. The write that came here is done, and another comes.
                looking.set(false);
            }
        }
    }

    private void look() {
        callsLeft.set(1);
        looking.set(false);
        List<MemoryShare> all = stores.get();
        long together = 0;
        for (MemoryShare share : all) {
            together += share.sealableBytes();
        }
        MemoryShare largest = largest(all);
        while (largest != null) {
            long bytes = largest.sealableBytes();
            long left = bytesMax - together - bytes;
            if (left >= 0) {
                callsLeft.set((int) Math.clamp(left / (CALLS_SHARE * BYTES_PER_CALL), 1, CALLS_MAX));
                return;
            }
            largest.seal();
            together -= bytes;
            // Who could not be sealed after all has as much as before.
            largest = largest.sealableBytes() < bytes ? largest(all) : null;
        }
    }

    /** Has the store with the largest active memtable seal it. */
    void sealLargest() {
        MemoryShare largest = largest(stores.get());
        if (largest != null) {
            workers.submit(Priority.SEAL, largest::seal);
        }
    }

    private static MemoryShare largest(List<MemoryShare> all) {
        MemoryShare largest = null;
        long most = 0;
        for (MemoryShare share : all) {
            long bytes = share.sealableBytes();
            if (bytes > most) {
                most = bytes;
                largest = share;
            }
        }
        return largest;
    }
}
