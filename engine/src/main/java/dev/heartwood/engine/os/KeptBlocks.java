package dev.heartwood.engine.os;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongConsumer;

/**
 * Small blocks of a pool that were given back, kept for who wants such next, so that many threads need not queue for the pool's lock. At
 * most one of each size in each of {@value #PLACES} places, of which a thread uses one. Thread-safe; to take or keep one is a single atomic operation.
 */
final class KeptBlocks {
    /** Blocks of one and of two smallest blocks are kept, of the orders 0 and 1. */
    static final int ORDERS = 2;

    private static final int PLACES = 16;
    /** Places lie on cache lines of their own. */
    private static final int STRIDE = 16;

    /** The address of a block, or 0. */
    private final AtomicLongArray blocks = new AtomicLongArray(PLACES * STRIDE);

    /** A block that was kept, which is the caller's now, or 0. */
    long take(int order) {
        int place = ofThread(order);
        return blocks.getPlain(place) == 0 ? 0 : blocks.getAndSet(place, 0);
    }

    /** Keeps a block that nobody uses, if there is room for it. */
    boolean keep(long block, int order) {
        int place = ofThread(order);
        return blocks.getPlain(place) == 0 && blocks.compareAndSet(place, 0, block);
    }

    boolean contains(long block, int order) {
        for (int place = order; place < blocks.length(); place += STRIDE) {
            if (blocks.get(place) == block) {
                return true;
            }
        }
        return false;
    }

    /** Takes all blocks of one size. */
    void takeAll(int order, LongConsumer to) {
        for (int place = order; place < blocks.length(); place += STRIDE) {
            long block = blocks.getAndSet(place, 0);
            if (block != 0) {
                to.accept(block);
            }
        }
    }

    /** How many smallest blocks are kept. */
    int units() {
        int units = 0;
        for (int place = 0; place < blocks.length(); place++) {
            units += blocks.get(place) == 0 ? 0 : 1 << place % STRIDE;
        }
        return units;
    }

    private static int ofThread(int order) {
        return (int) (Thread.currentThread().threadId() & PLACES - 1) * STRIDE + order;
    }
}
