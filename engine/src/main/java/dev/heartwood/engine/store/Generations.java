package dev.heartwood.engine.store;

import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.memtable.Memtable;
import dev.heartwood.engine.trunk.PackedMemtable;
import java.util.Arrays;
import java.util.LinkedList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The memtables of a store: the active one and the sealed ones that the tree does not have yet. Readers take the list with one
 * volatile read; changes are made under the rotation lock ({@link MemtableRotation}) or by the packer, one at a time.
 */
final class Generations {
    /** A memtable with its generation and a count of who uses it. */
    static final class Generation {
        private final long number;
        private final Memtable memtable;
        private final SpacePromise space;
        private final AtomicInteger references = new AtomicInteger(1);
        // Made once, since a full Java heap must not keep it from being deferred.
        private final Runnable releaseTask = this::release;
        /** Set by the packer, which holds a reference. */
        private volatile PackedMemtable packed;

        private volatile boolean isReleased;
        /** Guarded by who looks at the memtables of all stores. */
        private long firstSeen = -1;

        Generation(long number, Memtable memtable, SpacePromise space) {
            this.number = number;
            this.memtable = memtable;
            this.space = space;
        }

        long number() {
            return number;
        }

        Memtable memtable() {
            return memtable;
        }

        /** When it was seen first by {@link SharedMemtables}, which is {@code now} if it has not been. */
        long firstSeen(long now) {
            if (firstSeen < 0) {
                firstSeen = now;
            }
            return firstSeen;
        }

        /** The extents that it will take. */
        SpacePromise space() {
            return space;
        }

        /** What the memtable has become in the tree, as long as a reference is held; null while it is not there yet. */
        PackedMemtable packed() {
            return packed;
        }

        /** Takes over what the memtable has become; once. */
        void packed(PackedMemtable memtableInTree) {
            packed = memtableInTree;
            space.end();
        }

        /** Takes a reference, within the epoch in which the generation was seen in the list. */
        void retain() {
            references.getAndIncrement();
        }

        /** Gives a reference back; the last one frees the memtable's memory. */
        void release() {
            if (references.decrementAndGet() == 0) {
                try {
                    memtable.release();
                } finally {
                    isReleased = true;
                    if (packed != null) {
                        packed.release();
                    }
                }
            }
        }
    }

    private volatile Generation[] newestFirst;
    /** Those that the tree has, and somebody may still read. Guarded by this. */
    private final List<Generation> leaving = new LinkedList<>();

    Generations(Generation active) {
        newestFirst = new Generation[] {active};
    }

    /** All of them, the newest first; the array is never changed. */
    Generation[] newestFirst() {
        return newestFirst;
    }

    Generation active() {
        return newestFirst[0];
    }

    /** The oldest sealed generation, or null when there is only the active one. */
    Generation oldestSealed() {
        Generation[] all = newestFirst;
        return all.length == 1 ? null : all[all.length - 1];
    }

    int sealedCount() {
        return newestFirst.length - 1;
    }

    synchronized void add(Generation active) {
        Generation[] all = newestFirst;
        Generation[] more = new Generation[all.length + 1];
        more[0] = active;
        System.arraycopy(all, 0, more, 1, all.length);
        newestFirst = more;
    }

    /**
     * Takes the oldest sealed generation, which the tree has now, out of the list, and has the list's reference given back once nobody can be
     * taking one. Where that cannot be deferred, on a full Java heap, the list keeps it: whoever closes the store gives it back.
     */
    synchronized void removeOldest(Generation oldest, Epochs epochs) {
        Generation[] all = newestFirst;
        assert all[all.length - 1] == oldest;
        Generation[] fewer = Arrays.copyOf(all, all.length - 1);
        leaving.removeIf(left -> left.isReleased);
        leaving.addLast(oldest);
        newestFirst = fewer;
        try {
            epochs.defer(oldest.releaseTask);
        } catch (RuntimeException | Error e) {
            newestFirst = all;
            leaving.removeLast();
            throw e;
        }
    }

    /** Whether somebody may still read a memtable that is out of the list, and so has its memory. */
    synchronized boolean isAnyLeaving() {
        leaving.removeIf(left -> left.isReleased);
        return !leaving.isEmpty();
    }

    /** Bytes that the largest of them has taken for its records. */
    long largestBytes() {
        long largest = 0;
        for (Generation generation : newestFirst) {
            largest = Math.max(largest, generation.memtable.chunkBytes());
        }
        return largest;
    }

    /** Bytes of the pool that all of them hold. */
    long bytesHeld() {
        long bytes = 0;
        for (Generation generation : newestFirst) {
            bytes += generation.memtable.bytesHeld();
        }
        return bytes;
    }
}
