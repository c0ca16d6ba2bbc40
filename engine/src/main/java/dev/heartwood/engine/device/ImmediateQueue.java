package dev.heartwood.engine.device;

import dev.heartwood.StoreException;

/**
 * A queue for devices without asynchronous I/O: {@link #submit} performs what is queued, one operation after another,
 * on the calling thread.
 */
final class ImmediateQueue implements IoQueue {
    /*
     * A ring of operations: [head, performed) are done, [performed, tail) are queued. Counters run on; an index is a
     * counter modulo the depth.
     */
    private final BlockDevice device;
    private final long[] positions;
    private final long[] addresses;
    private final long[] tags;
    private final int[] lengths;
    private final boolean[] writes;
    private final StoreException[] failures;
    private long head;
    private long performed;
    private long tail;
    private long failedTag;

    ImmediateQueue(BlockDevice device, int depth) {
        this.device = device;
        positions = new long[depth];
        addresses = new long[depth];
        tags = new long[depth];
        lengths = new int[depth];
        writes = new boolean[depth];
        failures = new StoreException[depth];
    }

    @Override
    public int depth() {
        return tags.length;
    }

    @Override
    public int pending() {
        return (int) (tail - head);
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
        if (pending() == depth()) {
            throw new IllegalStateException("the queue is full");
        }
        int slot = slot(tail);
        positions[slot] = position;
        addresses[slot] = address;
        lengths[slot] = length;
        tags[slot] = tag;
        writes[slot] = write;
        tail++;
    }

    @Override
    public void submit() {
        for (; performed < tail; performed++) {
            int slot = slot(performed);
            try {
                if (writes[slot]) {
                    device.write(positions[slot], addresses[slot], lengths[slot]);
                } else {
                    device.read(positions[slot], addresses[slot], lengths[slot]);
                }
            } catch (StoreException e) {
                failures[slot] = e;
            }
        }
    }

    @Override
    public long await() {
        if (pending() == 0) {
            throw new IllegalStateException("nothing is pending");
        }
        submit();
        int slot = slot(head++);
        StoreException failure = failures[slot];
        if (failure != null) {
            failures[slot] = null;
            failedTag = tags[slot];
            throw failure;
        }
        return tags[slot];
    }

    @Override
    public long failedTag() {
        return failedTag;
    }

    @Override
    public void close() {
        try {
            submit();
        } finally {
            performed = tail;
            head = tail;
        }
    }

    private int slot(long counter) {
        return (int) (counter % tags.length);
    }
}
