package dev.heartwood.engine.read;

import dev.heartwood.engine.background.Generations.Generation;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.node.TrunkVersion;
import dev.heartwood.engine.trunk.PackedMemtable;
import dev.heartwood.engine.trunk.TreeCursor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What a view reads: memtables, and a version of the tree below them. The last reference given back lets go of all of it. Thread-safe. */
public final class ViewSources {
    private final Generation[] newestFirst;
    private final TrunkVersion version;
    private final References references = new References();

    private ViewSources(Generation[] newestFirst, TrunkVersion version) {
        this.newestFirst = newestFirst;
        this.version = version;
    }

    /** Takes a reference to a version and to those memtables that it does not have; within the epoch in which both were current. */
    static ViewSources pin(Generation[] newestFirst, TrunkVersion version) {
        int kept = 0;
        while (kept < newestFirst.length && newestFirst[kept].number() > version.generation()) {
            kept++;
        }
        ViewSources pinned = new ViewSources(Arrays.copyOf(newestFirst, kept), version);
        // Last, since from here on nothing can fail.
        pinned.retainMemtables();
        version.retain();
        return pinned;
    }

    private void retainMemtables() {
        for (Generation generation : newestFirst) {
            generation.retain();
        }
    }

    /**
     * The same entries, of which those are read from the tree that it has by now; null when there are none, or it has none of them. The
     * caller holds a reference to this, and owns the first one to the result.
     */
    ViewSources advanced() {
        int kept = newestFirst.length;
        if (kept == 0 || newestFirst[kept - 1].packed() == null) {
            return null;
        }
        List<PackedMemtable> oldestFirst = new ArrayList<>();
        while (kept > 0 && newestFirst[kept - 1].packed() != null) {
            kept--;
            oldestFirst.add(newestFirst[kept].packed());
        }
        TrunkVersion above = PackedMemtable.above(version, oldestFirst);
        try {
            ViewSources advanced = new ViewSources(Arrays.copyOf(newestFirst, kept), above);
            advanced.retainMemtables();
            return advanced;
        } catch (Error full) {
            above.release();
            throw full;
        }
    }

    /** The memtables, the newest first; the array is never changed. */
    Generation[] newestFirst() {
        return newestFirst;
    }

    TrunkVersion version() {
        return version;
    }

    /** Cursors over the memtables, the oldest first, that see what {@code sequence} does; whoever uses them holds a reference to this. */
    List<EntryCursor> memtableCursors(long sequence) {
        List<EntryCursor> oldestFirst = new ArrayList<>(newestFirst.length);
        for (int i = newestFirst.length - 1; i >= 0; i--) {
            oldestFirst.add(newestFirst[i].memtable().cursor(sequence));
        }
        return oldestFirst;
    }

    /** Entries of all keys in order, every version at or before a sequence number; whoever uses them holds a reference to this. */
    public TreeCursor entries(ReadPath read, long sequence) {
        return new TreeCursor(read.storage(), read.trunk().events(), version, memtableCursors(sequence));
    }

    /** Takes a reference, unless the last one was given back. */
    boolean tryRetain() {
        return references.tryAdd();
    }

    public void release() {
        if (references.drop()) {
            releaseFrom(0);
        }
    }

    /** Whatever giving one part back throws, the others are given back. */
    private void releaseFrom(int index) {
        if (index == newestFirst.length) {
            version.release();
            return;
        }
        try {
            newestFirst[index].release();
        } finally {
            releaseFrom(index + 1);
        }
    }
}
