package dev.heartwood.engine.store;

import dev.heartwood.engine.background.Generations.Generation;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Workers;
import dev.heartwood.engine.write.WriteThrottle;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Which memtables are sealed for the sake of other stores: where several share the memory, it would be gone before any of theirs is full, and
 * whoever writes next would wait. So one is sealed while there is room for what others take until it is packed. Who asks for that waits for nobody. Thread-safe.
 */
final class SharedMemtables {
    /*
     * The one goes first that has held most memory for longest, in memtables that were sealed meanwhile. Stores that are written alike, which would
     * fill at the same moment, come to be of all sizes so, and those that are sealed have twice the bytes of the mean; one that is written little
     * keeps its memtable for many of the others', and one that is not written any more gives it up.
     *
     * Shared field   read       written    guarded by
     * looking        volatile   CAS        - ; whoever sets it looks, or has a worker do so, until it is cleared
     * callsLeft      volatile   volatile   -
     * sealed,        plain      plain      looking
     * notOwed,
     * firstSeen
     * bytesNotOwed   volatile   volatile   looking, for writing
     */

    /** Memtables are sealed until such a part of what they may have is free again, so that it is not looked for each. */
    private static final int FREE_SHARE = 32;

    /** For what is not known of it: lanes take more of their memory than what they pay for. */
    private static final int CALLS_SHARE = 2;

    private static final int CALLS_MAX = 64;

    private final LongSupplier heldBytes;
    private final Supplier<List<MemoryShare>> stores;
    private final Workers workers;
    private final long bytesMax;
    private final LongSupplier bytesPerCall;
    private final AtomicBoolean looking = new AtomicBoolean();
    /** Calls of {@link #sealAhead} before somebody looks again. */
    private final AtomicInteger callsLeft = new AtomicInteger();

    // Made once, since writers begin it.
    private final Runnable look = this::look;
    private long sealed;
    private long notOwed;
    private volatile long bytesNotOwed;

    /**
     * @param heldBytes what memtables have of their memory
     * @param stores those that are open
     * @param bytesMax what memtables that take writes may have, with one more like the largest of them, before one is sealed
     * @param bytesPerCall the most that a lane writes between two calls of {@link #sealAhead}; payments are no larger than {@link WriteThrottle} has them either
     */
    SharedMemtables(
            LongSupplier heldBytes, Supplier<List<MemoryShare>> stores, Workers workers, long bytesMax, LongSupplier bytesPerCall) {
        this.heldBytes = heldBytes;
        this.stores = stores;
        this.workers = workers;
        this.bytesMax = bytesMax;
        this.bytesPerCall = bytesPerCall;
    }

    /**
     * What memtables of all stores have of their memory that take writes or will be packed, in bytes. All is known at once but for what others
     * have, for whom nobody waits who pays: views of what was packed, stores that have failed, are being opened, or close. That is as it was when somebody looked.
     */
    long owedBytes() {
        return Math.max(0, heldBytes.getAsLong() - bytesNotOwed);
    }

    /** Has memtables sealed where all that take writes would have more than they may. For who writes, now and then. */
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
        try {
            callsLeft.set(1);
            List<MemoryShare> all = stores.get();
            long owed = 0;
            Generation[] active = new Generation[all.size()];
            long[] bytes = new long[active.length];
            for (int i = 0; i < bytes.length; i++) {
                // In this order: one that takes its place meanwhile is not sealed for what this one has.
                active[i] = all.get(i).active();
                bytes[i] = all.get(i).sealableBytes();
                owed += all.get(i).owedBytes();
            }
            long others = Math.max(0, heldBytes.getAsLong() - owed);
            // What was packed just now goes as soon as its readers do.
            bytesNotOwed = Math.min(others, notOwed);
            notOwed = others;
            long left = left(bytes);
            if (left < 0) {
                sealSome(all, active, bytes);
                left = left(bytes);
            }
            long perCall = Math.clamp(bytesPerCall.getAsLong(), 1, WriteThrottle.PAYMENT_BYTES_MOST);
            callsLeft.set((int) Math.clamp(left / (CALLS_SHARE * perCall), 1, CALLS_MAX));
        } catch (OutOfMemoryError heapIsFull) {
            // Who writes next has somebody look again. Where a store was to be sealed meanwhile, that has stopped it and says so.
        } finally {
            // At the end: a second worker would seal what has just taken the place of what the first one did, or wait for the same writer.
            looking.set(false);
        }
    }

    /** What memtables of so many bytes may grow by before one is sealed. */
    private long left(long[] bytes) {
        long together = 0;
        long largest = 0;
        for (long each : bytes) {
            together += each;
            largest = Math.max(largest, each);
        }
        return bytesMax - together - largest;
    }

    /** Takes what was sealed out of {@code bytes}, and what could not be. */
    private void sealSome(List<MemoryShare> all, Generation[] active, long[] bytes) {
        do {
            int next = next(active, bytes);
            all.get(next).seal(active[next]);
            bytes[next] = 0;
            sealed++;
        } while (left(bytes) < bytesMax / FREE_SHARE);
    }

    private int next(Generation[] active, long[] bytes) {
        int next = 0;
        double most = 0;
        for (int i = 0; i < bytes.length; i++) {
            // One without memory has not begun to hold any.
            double held = bytes[i] == 0 ? 0 : bytes[i] * (1.0 + sealed - active[i].firstSeen(sealed));
            if (held > most) {
                most = held;
                next = i;
            }
        }
        return next;
    }

    /** Has the store with the largest active memtable seal it. */
    void sealLargest() {
        MemoryShare largest = null;
        long most = 0;
        for (MemoryShare share : stores.get()) {
            long bytes = share.sealableBytes();
            if (bytes > most) {
                most = bytes;
                largest = share;
            }
        }
        if (largest != null) {
            MemoryShare found = largest;
            Generation active = found.active();
            workers.submit(Priority.SEAL, () -> found.seal(active));
        }
    }
}
