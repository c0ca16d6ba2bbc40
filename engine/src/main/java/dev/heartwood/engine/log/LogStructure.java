package dev.heartwood.engine.log;

import dev.heartwood.ClosedException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Which segments a log has, which of them no sync has covered, which its lanes write and of which generation: what changes when a
 * segment begins, ends, is synced or let go of. Thread-safe.
 */
final class LogStructure {
    /*
     * All of it changes under one lock, for a moment: nobody makes, maps, syncs, unmaps or deletes a file under it.
     *
     * Invariants:
     *   a segment is live from its header's first byte until a durable checkpoint holds its generation;
     *   a live segment is unsynced until a sync has covered it whole after it was finished, or was recovered as durable;
     *   every segment that a lane writes is live, unsynced and not finished;
     *   once closed no lane has a segment, and nothing becomes live.
     *
     * Shared field             read       written                   guarded by
     * live, unsynced           -          -                         structure
     * lanes                    -          -                         structure, as LogLane says
     * generation               -          with the lanes at rest    structure; who owns a lane reads it without
     * lastNumber, lastLogged   -          -                         structure
     * closed                   volatile   volatile                  structure
     */
    private final LogLane[] lanes;
    private final LogOptions options;
    private final ReentrantLock structure = new ReentrantLock();
    private final List<LogSegment> live = new ArrayList<>();
    private final List<LogSegment> unsynced = new ArrayList<>();
    private LogGeneration generation;
    /** The greatest generation there ever was, and the last one in which anything was appended. */
    private long lastNumber;

    private long lastLogged;
    private volatile boolean closed;

    LogStructure(LogLane[] lanes, LogOptions options) {
        this.lanes = lanes;
        this.options = options;
    }

    /** Takes over a segment that an earlier life left; before anything else. */
    void recover(LogSegment segment) {
        structure.lock();
        try {
            live.add(segment);
        } finally {
            structure.unlock();
        }
    }

    /** Says whether what was taken over is durable, and where the generations stand; before the first one begins. */
    void beginLife(boolean areDurable, long lastGeneration, long lastGenerationLogged) {
        if (areDurable) {
            finished().forEach(LogSegment::beDurable);
        } else {
            structure.lock();
            try {
                unsynced.addAll(live);
            } finally {
                structure.unlock();
            }
        }
        lastNumber = lastGeneration;
        lastLogged = lastGenerationLogged;
    }

    /** To be held while a segment becomes a lane's; see {@link #add}. */
    ReentrantLock lock() {
        return structure;
    }

    /** Whether a lane may begin a segment. */
    boolean isClosed() {
        return closed;
    }

    void throwClosed() {
        if (closed) {
            throw new ClosedException("the log");
        }
    }

    /** Whether anything may have been appended. */
    boolean hasGeneration() {
        return generation != null;
    }

    /** The generation to which appends belong. */
    LogGeneration generation() {
        if (generation == null) {
            throw new IllegalStateException("rotate first");
        }
        return generation;
    }

    /** Ends all lanes' segments and begins the next generation, with the lanes at rest. */
    void beginGeneration(long number, long firstLsn, long firstSequence, LogLife life) {
        structure.lock();
        try {
            throwClosed();
            if (number <= lastNumber) {
                throw new IllegalStateException("generation " + number + " is not next");
            }
            if (generation != null && firstLsn > generation.firstLsn()) {
                lastLogged = generation.number();
            }
            lastNumber = number;
            generation = new LogGeneration(number, firstLsn, firstSequence, lastLogged, life);
            for (LogLane lane : lanes) {
                lane.fitSegments(options);
                lane.endSegment();
                lane.index = 0;
            }
        } finally {
            structure.unlock();
        }
    }

    /** Notes a segment that its lane has begun. Under the lock. */
    void add(LogSegment segment) {
        live.add(segment);
        unsynced.add(segment);
    }

    /** How many lanes have ever had a segment. Under the lock. */
    int lanesUsed() {
        int used = 0;
        for (LogLane lane : lanes) {
            used += lane.isUsed ? 1 : 0;
        }
        return used;
    }

    /** What a sync has to cover. */
    LogSegment[] unsynced() {
        structure.lock();
        try {
            throwClosed();
            return unsynced.toArray(new LogSegment[0]);
        } finally {
            structure.unlock();
        }
    }

    /** A sync has covered segments: takes out of the unsynced ones those that are finished, which need no other. */
    List<LogSegment> removeSynced() {
        List<LogSegment> removed = new ArrayList<>();
        structure.lock();
        try {
            for (LogSegment segment : unsynced) {
                if (segment.finished && segment.isSynced()) {
                    removed.add(segment);
                }
            }
            unsynced.removeAll(removed);
        } finally {
            structure.unlock();
        }
        return removed;
    }

    /** Takes out the segments of this generation and older ones. */
    List<LogSegment> removeUpTo(long number) {
        List<LogSegment> removed = new ArrayList<>();
        structure.lock();
        try {
            throwClosed();
            if (generation != null && number >= generation.number()) {
                throw new IllegalStateException("generation " + number + " is still written");
            }
            for (LogSegment segment : live) {
                if (segment.generation <= number) {
                    removed.add(segment);
                }
            }
            live.removeAll(removed);
            unsynced.removeAll(removed);
        } finally {
            structure.unlock();
        }
        return removed;
    }

    /** The segments that no lane writes any more and that no sync has covered yet, in the order in which they began. */
    List<LogSegment> finishedUnsynced() {
        List<LogSegment> finished = new ArrayList<>();
        structure.lock();
        try {
            for (LogSegment segment : unsynced) {
                if (segment.finished && !segment.isSynced()) {
                    finished.add(segment);
                }
            }
        } finally {
            structure.unlock();
        }
        return finished;
    }

    /** The segments that no lane writes any more. */
    List<LogSegment> finished() {
        List<LogSegment> finished = new ArrayList<>();
        structure.lock();
        try {
            for (LogSegment segment : live) {
                if (segment.finished) {
                    finished.add(segment);
                }
            }
        } finally {
            structure.unlock();
        }
        return finished;
    }

    /** How many lanes want a spare, and the size that suits all of them. */
    SparesWanted sparesWanted() {
        int count = 0;
        long bytes = 0;
        structure.lock();
        try {
            for (LogLane lane : lanes) {
                count += lane.isSpareWanted ? 1 : 0;
                bytes = Math.max(bytes, lane.isSpareWanted ? lane.nextSegmentBytes(options.segmentBytesMax()) : 0);
            }
        } finally {
            structure.unlock();
        }
        return new SparesWanted(count, bytes);
    }

    /** Segments to be made ready, so many of so many bytes. */
    record SparesWanted(int count, long bytes) {}

    /** Which segments suit lanes as the first of their next generations. */
    SegmentSizes sizesWanted() {
        long least = options.segmentBytesMax();
        long most = options.segmentBytesMin();
        boolean isFitted = false;
        structure.lock();
        try {
            for (LogLane lane : lanes) {
                least = Math.min(least, lane.isUsed ? lane.segmentBytesNext : least);
                most = Math.max(most, lane.segmentBytesNext);
                isFitted |= lane.isFitted;
            }
        } finally {
            structure.unlock();
        }
        return new SegmentSizes(Math.min(least, most), isFitted ? most : options.segmentBytesMax());
    }

    /** The bytes of all records that lanes have appended. */
    long bytesAppended() {
        long bytes = 0;
        structure.lock();
        try {
            for (LogLane lane : lanes) {
                bytes += lane.bytesAppended();
            }
        } finally {
            structure.unlock();
        }
        return bytes;
    }

    /** The bytes of the files of all live segments. */
    long bytesLive() {
        long bytes = 0;
        structure.lock();
        try {
            for (LogSegment segment : live) {
                bytes += segment.place.bytes();
            }
        } finally {
            structure.unlock();
        }
        return bytes;
    }

    /** Ends all lanes' segments, for good; returns the segments that are live still. */
    List<LogSegment> close() {
        structure.lock();
        try {
            closed = true;
            for (LogLane lane : lanes) {
                lane.endSegment();
            }
            return new ArrayList<>(live);
        } finally {
            structure.unlock();
        }
    }
}
