package dev.heartwood.engine.background;

import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.memtable.Memtable;
import dev.heartwood.engine.trunk.PackedMemtable;
import java.util.Arrays;
import java.util.LinkedList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The memtables of a store: the active one and the sealed ones that the tree does not have yet. Readers take the list with one
 * volatile read; changes are made under the rotation lock ({@code MemtableRotation}) or by the packer, one at a time.
 */
public final class Generations {
    /** A memtable with its generation and a count of who uses it. */
    public static final class Generation {
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

        public Generation(long number, Memtable memtable, SpacePromise space) {
            this.number = number;
            this.memtable = memtable;
            this.space = space;
        }

        public long number() {
            return number;
        }

        public Memtable memtable() {
            return memtable;
        }

        /** When it was seen first by {@code SharedMemtables}, which is {@code now} if it has not been. */
        public long firstSeen(long now) {
            if (firstSeen < 0) {
                firstSeen = now;
            }
            return firstSeen;
        }

        /** The extents that it will take. */
        public SpacePromise space() {
            return space;
        }

        /** What the memtable has become in the tree, as long as a reference is held; null while it is not there yet. */
        public PackedMemtable packed() {
            return packed;
        }

        /** Takes over what the memtable has become; once. */
        public void packed(PackedMemtable memtableInTree) {
            packed = memtableInTree;
            space.end();
        }

        /** Takes a reference, within the epoch in which the generation was seen in the list. */
        public void retain() {
            references.getAndIncrement();
        }

        /** Gives a reference back; the last one frees the memtable's memory. */
        public void release() {
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

    public Generations(Generation active) {
        newestFirst = new Generation[] {active};
    }

    /** All of them, the newest first; the array is never changed. */
    public Generation[] newestFirst() {
        return newestFirst;
    }

    public Generation active() {
        return newestFirst[0];
    }

    /** The oldest sealed generation, or null when there is only the active one. */
    public Generation oldestSealed() {
        Generation[] all = newestFirst;
        return all.length == 1 ? null : all[all.length - 1];
    }

    public int sealedCount() {
        return newestFirst.length - 1;
    }

    public synchronized void add(Generation active) {
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
    public synchronized boolean isAnyLeaving() {
        leaving.removeIf(left -> left.isReleased);
        return !leaving.isEmpty();
    }

    /** Bytes that the largest of them has taken for its records. */
    public long largestBytes() {
        long largest = 0;
        for (Generation generation : newestFirst) {
            largest = Math.max(largest, generation.memtable.chunkBytes());
        }
        return largest;
    }

    /** Bytes of the pool that all of them hold. */
    public long bytesHeld() {
        long bytes = 0;
        for (Generation generation : newestFirst) {
            bytes += generation.memtable.bytesHeld();
        }
        return bytes;
    }
}
