package dev.heartwood.engine.node;

import dev.heartwood.engine.base.Epochs;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The tree at one moment: a root and the last memtable generation that is in it. Immutable but for its reference count; holding a
 * reference keeps every page that it reaches.
 */
public final class TrunkVersion {
    private final TrunkNode root;
    private final long generation;
    private final AtomicInteger references = new AtomicInteger(1);
    /** For who publishes another one: then nothing may fail any more, as on a full Java heap. */
    private final Epochs.Deferred release = new Epochs.Deferred(this::release);

    /** Claims {@code root}; the caller owns the first reference. */
    public TrunkVersion(TrunkNode root, long generation) {
        this.root = root;
        this.generation = generation;
        root.retain();
    }

    public TrunkNode root() {
        return root;
    }

    /** Memtables up to this generation are in the tree. */
    public long generation() {
        return generation;
    }

    /** Takes a reference; only while another one is known to be held, or within the epoch in which this was current. */
    public void retain() {
        int before = references.getAndIncrement();
        assert before > 0 : "trunk version revived";
    }

    /** Gives a reference back once every operation that is active now has ended; once. */
    public void releaseLater(Epochs epochs) {
        epochs.deferPrepared(release);
    }

    /** Gives a reference back. */
    public void release() {
        int left = references.decrementAndGet();
        assert left >= 0 : "trunk version released too often";
        if (left == 0) {
            root.release();
        }
    }
}
