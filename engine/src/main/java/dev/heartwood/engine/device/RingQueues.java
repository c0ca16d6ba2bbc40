package dev.heartwood.engine.device;

import dev.heartwood.StoreIoException;

/** Queues over the rings of a pool; where there is no ring to be had, those that come instead, if any do. Thread-safe. */
record RingQueues(RingPool pool, FileDevice.Queues instead) implements FileDevice.Queues {
    RingQueues(RingPool pool) {
        this(pool, null);
    }

    @Override
    public IoQueue open(FileDevice device, int depth) {
        try {
            return new RingQueue(device, pool, depth);
        } catch (StoreIoException e) {
            if (instead == null) {
                throw e;
            }
            return instead.open(device, depth);
        }
    }

    @Override
    public boolean overlap() {
        return true;
    }
}
