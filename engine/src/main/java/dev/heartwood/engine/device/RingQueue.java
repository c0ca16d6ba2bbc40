package dev.heartwood.engine.device;

import dev.heartwood.StoreException;
import dev.heartwood.engine.os.Errno;
import dev.heartwood.engine.os.Ring;

/** A queue over one {@link Ring}, which comes from a pool and goes back there. */
final class RingQueue implements IoQueue {
    /*
     * Every operation has a slot below the depth, which is its user data in the ring. A short transfer goes in again
     * for the rest, under the same slot, so its buffer is complete when its tag is returned. Unused slots form a stack.
     *
     * A ring that could not be entered for good is not given back: what the kernel holds of it is unknown. Nor is one that was
     * closed with the Java heap full: what could not be submitted is still in it.
     */
    private static final int STALLS_MAX = 8;

    private final FileDevice device;
    private final RingPool pool;
    private final Ring ring;
    private final int file;
    private final long[] positions;
    private final long[] addresses;
    private final long[] tags;
    private final int[] lengths;
    private final int[] done;
    private final byte[] stalls;
    private final boolean[] writes;
    private final int[] unused;
    private int unusedCount;
    private long failedTag;
    private boolean broken;
    private boolean closed;

    RingQueue(FileDevice device, RingPool pool, int depth) {
        this.device = device;
        this.pool = pool;
        positions = new long[depth];
        addresses = new long[depth];
        tags = new long[depth];
        lengths = new int[depth];
        done = new int[depth];
        stalls = new byte[depth];
        writes = new boolean[depth];
        unused = new int[depth];
        for (int i = 0; i < depth; i++) {
            unused[i] = i;
        }
        unusedCount = depth;
        file = device.retain();
        try {
            ring = pool.take(depth);
        } catch (Throwable e) {
            device.release();
            throw e;
        }
    }

    @Override
    public int depth() {
        return tags.length;
    }

    @Override
    public int pending() {
        return tags.length - unusedCount;
    }

    @Override
    public void read(long position, long address, int length, long tag) {
        add(position, address, length, tag, false);
    }

    @Override
    public void write(long position, long address, int length, long tag) {
        add(position, address, length, tag, true);
    }

    private void add(long position, long address, int length, long tag, boolean write) {
        FileDevice.checkAligned(position, address, length);
        if (unusedCount == 0 || closed) {
            throw new IllegalStateException(closed ? "the queue is closed" : "the queue is full");
        }
        device.open();
        int slot = unused[--unusedCount];
        positions[slot] = position;
        addresses[slot] = address;
        lengths[slot] = length;
        tags[slot] = tag;
        writes[slot] = write;
        done[slot] = 0;
        stalls[slot] = 0;
        prepare(slot);
    }

    /** Puts the rest of an operation into the ring. */
    private void prepare(int slot) {
        int already = done[slot];
        int rest = lengths[slot] - already;
        ring.prepare(writes[slot], file, addresses[slot] + already, rest, positions[slot] + already, slot);
    }

    @Override
    public void submit() {
        while (ring.unsubmitted() > 0) {
            int result = ring.enter(0);
            if (result == 0 || result == -Errno.EAGAIN || result == -Errno.EBUSY) {
                return; // The kernel is short of memory for now; await tries again, with room made by completions.
            }
            checkEntered(result);
        }
    }

    @Override
    public long await() {
        if (pending() == 0) {
            throw new IllegalStateException("nothing is pending");
        }
        submit();
        while (true) {
            while (!ring.completed()) {
                checkEntered(ring.enter(1));
            }
            int slot = (int) ring.completedUserData();
            int result = ring.completedResult();
            ring.next();
            if (finished(slot, result)) {
                return tags[slot];
            }
            submit();
        }
    }

    /**
     * Whether the operation is done, and its slot free; puts it in again when it is not, and throws, with the slot freed, when it
     * failed.
     */
    private boolean finished(int slot, int result) {
        long position = positions[slot] + done[slot];
        if (result < 0) {
            if (!Failures.transientError(result)) {
                free(slot);
                throw writes[slot]
                        ? Failures.of(result, "write", device.name(), position)
                        : Failures.ofRead(result, "read", device.name(), position);
            }
        } else {
            int rest = lengths[slot] - done[slot];
            int progress = TransferLoop.progress(result, rest);
            done[slot] += progress;
            if (done[slot] == lengths[slot]) {
                // First of all: a counter may find the Java heap full, and nobody would hear of the operation again.
                free(slot);
                count(slot);
                return true;
            }
            stalls[slot] = progress == 0 ? (byte) (stalls[slot] + 1) : 0;
            if (stalls[slot] == STALLS_MAX) {
                free(slot);
                throw writes[slot]
                        ? Failures.of(-Errno.EIO, "write (nothing written)", device.name(), position)
                        : Failures.endOfFile(device.name(), position, rest);
            }
        }
        prepare(slot);
        return false;
    }

    private void count(int slot) {
        if (writes[slot]) {
            device.countWritten(lengths[slot]);
        } else {
            device.countRead(lengths[slot]);
        }
    }

    /** Frees the slot of an operation that has ended; an exception, for which the Java heap may have no room, comes after. */
    private void free(int slot) {
        unused[unusedCount++] = slot;
        failedTag = tags[slot];
    }

    private void checkEntered(int result) {
        if (result == -Errno.EAGAIN || result == -Errno.EBUSY) {
            Thread.yield();
        } else if (result < 0 && result != -Errno.EINTR) {
            broken = true;
            throw Failures.of(result, ring.enterCall(), device.name(), -1);
        }
    }

    @Override
    public long failedTag() {
        return failedTag;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        while (pending() > 0 && !broken) {
            try {
                await();
            } catch (StoreException e) {
                // The caller gave up on these operations; only their use of memory matters.
                continue;
            } catch (OutOfMemoryError | StackOverflowError e) {
                broken = true;
            }
        }
        closed = true;
        try {
            if (broken) {
                ring.drain();
                unusedCount = tags.length;
                ring.close();
            } else {
                pool.give(ring);
            }
        } finally {
            device.release();
        }
    }
}
