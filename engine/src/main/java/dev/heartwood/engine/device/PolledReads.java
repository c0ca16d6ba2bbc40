package dev.heartwood.engine.device;

import dev.heartwood.StoreIoException;
import dev.heartwood.engine.os.Errno;
import dev.heartwood.engine.os.Ring;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Reads that look whether they are done instead of sleeping until they are: each short one goes through a ring of its own, and its thread
 * gives way to others in between. Falling asleep and waking up again takes a good part of the time in which a fast device answers. Where
 * other threads want the processor, and for what takes long, reads sleep ({@link PollingPatience}). Thread-safe.
 */
final class PolledReads implements TransferLoop.Call {
    /*
     * A read that has begun is waited for whatever happens, since the device writes to its memory; so a ring is given back with nothing in
     * it. A read that could not be begun stays in its ring, which is closed then: the kernel takes nothing from it any more.
     *
     * Completions are posted when the thread that began the read enters the kernel, as every yield does (IORING_SETUP_COOP_TASKRUN). A
     * virtual thread may come back from its yield on another thread, so it blocks.
     */
    /** Longer reads take a multiple of what falling asleep and waking up does. */
    private static final long LENGTH_MAX = 32 << 10;

    private final TransferLoop.Call blocking;
    private final RingPool pool;
    private final PollingPatience patience;
    private final int threadsMax;
    private final AtomicInteger threads = new AtomicInteger();

    /** Reads of up to {@code threadsMax} threads at once poll, all others are {@code blocking}. */
    PolledReads(TransferLoop.Call blocking, RingPool pool, PollingPatience patience, int threadsMax) {
        this.blocking = blocking;
        this.pool = pool;
        this.patience = patience;
        this.threadsMax = threadsMax;
    }

    @Override
    public long transfer(int descriptor, long address, long length, long position) {
        if (length > LENGTH_MAX || !patience.mayPoll() || Thread.currentThread().isVirtual()) {
            return blocking.transfer(descriptor, address, length, position);
        }
        Ring ring = takeRing();
        if (ring == null) {
            return blocking.transfer(descriptor, address, length, position);
        }
        boolean begun;
        try {
            ring.read(descriptor, address, (int) length, position, 0);
            begin(ring);
            begun = ring.isUnderWay();
            if (begun) {
                patience.poll(ring);
                await(ring);
            }
        } catch (RuntimeException | Error e) {
            // The Java heap or the stack may be full.
            ring.drain();
            discard(ring);
            throw e;
        }
        if (!begun) {
            discard(ring);
            patience.exhausted();
            return blocking.transfer(descriptor, address, length, position);
        }
        int result = ring.completedResult();
        ring.next();
        give(ring);
        return result;
    }

    /** A ring, or null when there are too many threads or the kernel has no more. */
    private Ring takeRing() {
        if (threads.incrementAndGet() <= threadsMax) {
            try {
                return pool.take(1);
            } catch (StoreIoException | OutOfMemoryError e) {
                // No ring, or a full Java heap, which a read that blocks asks nothing of.
                patience.exhausted();
            } catch (RuntimeException | Error e) {
                threads.decrementAndGet();
                throw e;
            }
        }
        threads.decrementAndGet();
        return null;
    }

    private void give(Ring ring) {
        try {
            pool.give(ring);
        } finally {
            threads.decrementAndGet();
        }
    }

    private void discard(Ring ring) {
        try {
            ring.close();
        } finally {
            threads.decrementAndGet();
        }
    }

    private static void begin(Ring ring) {
        while (ring.enter(0) == -Errno.EINTR) {
            continue;
        }
    }

    /** Sleeps until the read is done. */
    private static void await(Ring ring) {
        while (!ring.completed()) {
            // It is under way whatever an error here is about, and posted when this thread enters the kernel.
            if (ring.enter(1) < 0) {
                Thread.yield();
            }
        }
    }
}
