package dev.heartwood.engine.read;

import dev.heartwood.ClosedException;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.write.DeadRanges;
import dev.heartwood.engine.write.WritePath;

/**
 * A store at one sequence number: references to the memtables and the tree version that hold what it sees. Shared by a snapshot
 * and its cursors; the last reference given back lets go of everything. Thread-safe.
 */
public final class SnapshotState {
    /*
     * A memtable is needed no longer once the tree has it: what was packed from it keeps every version that an open view sees, and goes on
     * top of the version that the view holds. So the sources advance when that memory is wanted, however long the view is open.
     * Point reads take them within an epoch, and whoever goes on beyond takes a reference.
     *
     * Shared field   read       written    guarded by
     * sources        volatile   volatile   this monitor, for writing, and a reference to this state
     * left           plain      plain      this monitor, or the last reference
     */
    private final LiveSnapshots live;
    private final Long sequence;
    private final DeadRanges.View view;
    private final References references = new References();
    private volatile ViewSources sources;
    /** What was read before, when it could not be given back for want of Java heap. */
    private ViewSources left;

    private SnapshotState(LiveSnapshots live, Long sequence, long generation) {
        this.live = live;
        this.sequence = sequence;
        this.view = new DeadRanges.View(sequence, generation);
    }

    /** Pins the current state; inside an epoch. */
    public static SnapshotState open(ReadPath read, WritePath write, LiveSnapshots live) {
        Long sequence = live.open(write::lastSequence);
        try {
            write.drain();
            SnapshotState state = new SnapshotState(live, sequence, write.dead().generation());
            state.sources = read.pin();
            return state;
        } catch (RuntimeException | Error e) {
            live.close(sequence);
            throw e;
        }
    }

    public long sequence() {
        return sequence;
    }

    /** What {@link DeadRanges} knows it by. */
    public DeadRanges.View view() {
        return view;
    }

    /** What to read within an epoch, and whether that is what was read before. */
    ViewSources sources() {
        return sources;
    }

    /** What to read, with a reference. */
    public ViewSources retainSources() {
        ViewSources now = sources;
        while (!now.tryRetain()) {
            now = sources;
        }
        return now;
    }

    /** Reads from the tree from now on what it has by now. */
    public synchronized void advance(Epochs epochs) {
        giveBackLeft(epochs);
        ViewSources before = sources;
        ViewSources advanced = before.advanced();
        if (advanced != null) {
            left = before;
            sources = advanced;
            giveBackLeft(epochs);
        }
    }

    /** Once those point reads have ended that may be within it. */
    private void giveBackLeft(Epochs epochs) {
        if (left != null) {
            epochs.defer(left::release);
            left = null;
        }
    }

    /** Takes a reference; refused when the store has let go of the state. */
    void retain() {
        if (!tryRetain()) {
            throw new ClosedException("the snapshot's store");
        }
    }

    /** Takes a reference, unless the last one was given back. */
    public boolean tryRetain() {
        return references.tryAdd();
    }

    public void release() {
        if (references.drop()) {
            try {
                releaseSources();
            } finally {
                live.close(sequence);
            }
        }
    }

    private synchronized void releaseSources() {
        try {
            sources.release();
        } finally {
            if (left != null) {
                left.release();
            }
        }
    }
}
