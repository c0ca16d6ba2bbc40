package dev.heartwood.engine.store;

import dev.heartwood.ClosedException;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.store.Generations.Generation;
import dev.heartwood.engine.store.ReadPath.Sources;
import dev.heartwood.engine.trunk.TreeCursor;
import dev.heartwood.engine.trunk.TrunkVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A store at one sequence number: references to the memtables and the tree version that hold what it sees. Shared by a snapshot
 * and its cursors; the last reference given back lets go of everything. Thread-safe.
 */
final class SnapshotState {
    private final LiveSnapshots live;
    private final Long sequence;
    private final Sources sources;
    private final AtomicInteger references = new AtomicInteger(1);

    private SnapshotState(LiveSnapshots live, Long sequence, Sources sources) {
        this.live = live;
        this.sequence = sequence;
        this.sources = sources;
    }

    /** Pins the current state; inside an epoch. */
    static SnapshotState open(ReadPath read, WritePath write, LiveSnapshots live) {
        Long sequence = live.open(write::lastSequence);
        try {
            write.drain();
            Sources sources = withoutPacked(read.current());
            SnapshotState state = new SnapshotState(live, sequence, sources);
            // Last, since from here on nothing can fail.
            for (Generation generation : sources.newestFirst()) {
                generation.retain();
            }
            sources.version().retain();
            return state;
        } catch (RuntimeException | Error e) {
            live.close(sequence);
            throw e;
        }
    }

    /** Leaves out the memtables that the tree has already. */
    private static Sources withoutPacked(Sources current) {
        List<Generation> kept = new ArrayList<>();
        for (Generation generation : current.newestFirst()) {
            if (generation.number() > current.version().generation()) {
                kept.add(generation);
            }
        }
        return new Sources(kept.toArray(Generation[]::new), current.version());
    }

    long sequence() {
        return sequence;
    }

    Sources sources() {
        return sources;
    }

    TrunkVersion version() {
        return sources.version();
    }

    /** Entries of all keys in order, every version at or before this state's sequence number. */
    EntryCursor entries(ReadPath read) {
        List<EntryCursor> memtables = new ArrayList<>();
        for (int i = sources.newestFirst().length - 1; i >= 0; i--) {
            memtables.add(sources.newestFirst()[i].memtable().cursor(sequence));
        }
        return new TreeCursor(read.storage(), read.trunk().events(), sources.version(), memtables);
    }

    /** Takes a reference; refused when the store has let go of the state. */
    void retain() {
        int before = references.get();
        while (before > 0 && !references.compareAndSet(before, before + 1)) {
            before = references.get();
        }
        if (before == 0) {
            throw new ClosedException("the snapshot's store");
        }
    }

    void release() {
        if (references.decrementAndGet() == 0) {
            live.close(sequence);
            for (Generation generation : sources.newestFirst()) {
                generation.release();
            }
            // Last, since freeing what only the version reaches may fail.
            sources.version().release();
        }
    }
}
