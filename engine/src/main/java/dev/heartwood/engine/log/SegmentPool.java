package dev.heartwood.engine.log;

import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.os.Errno;
import dev.heartwood.engine.page.PageLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/** The segment files that hold nothing needed: some mapped and ready, some to be used again, and new ones. Thread-safe. */
final class SegmentPool {
    /*
     * A file is used again at its own length only, so a header always tells the length of its file. What was written to it is mostly
     * in the memory of the operating system still, so mapping it takes less than the blocks and pages of a new file. What is no longer
     * there has to be read, though nobody wants it, and a file with a page that cannot be is not used again. The fields are guarded by
     * this pool's monitor; files are made, mapped and deleted outside of it.
     */
    /** A file with its mapping. */
    record Mapped(LogScan.Spare place, MappedFile file) {}

    private final Storage storage;
    private final LogOptions options;
    private final LogMemory memory;
    private final List<Mapped> ready = new ArrayList<>();
    private final List<LogScan.Spare> idle = new ArrayList<>();
    /** The numbers of files with a page that cannot be read, until they are deleted. */
    private final Set<Long> unreadable = new HashSet<>();
    private long lastNumber;
    private long bytesKept = Long.MAX_VALUE;
    /** True at first: the entries of files that an earlier life made may not be durable. */
    private final ReentrantLock directorySync = new ReentrantLock();
    private boolean directoryChanged = true;

    /** How many make a segment ready now; nobody begins to once it is closed. */
    private int preparing;

    private boolean closed;

    /** {@code memory} says how much of a new mapping is in memory. */
    SegmentPool(Storage storage, LogOptions options, LogMemory memory, LogScan scan) {
        this.storage = storage;
        this.options = options;
        this.memory = memory;
        this.lastNumber = scan.lastNumber();
        this.idle.addAll(scan.spares());
    }

    /**
     * A mapped segment of at least {@code bytesMin} bytes, preferably of {@code bytes}.
     *
     * @throws NoSpaceException when there is none and none can be made
     */
    Mapped take(long bytes, long bytesMin) {
        Mapped mapped = takeReady(bytes, bytesMin);
        if (mapped != null) {
            return mapped;
        }
        try {
            return make(bytes, bytesMin);
        } catch (NoSpaceException e) {
            Mapped smaller = mapIdle(bytesMin, bytesMin);
            if (smaller != null) {
                return smaller;
            }
            if (bytesMin < bytes) {
                return make(bytesMin, bytesMin);
            }
            throw e;
        }
    }

    /** Makes sure that {@code count} segments of about {@code bytes} are ready, unless the pool closes; may run beside closing. */
    void prepare(int count, long bytes) {
        while (beginPreparing(count, bytes / 2)) {
            try {
                giveBack(make(bytes, LogOptions.SEGMENT_BYTES_LEAST));
            } finally {
                endPreparing();
            }
        }
    }

    private synchronized boolean beginPreparing(int count, long bytes) {
        boolean begins = !closed && readyCount(bytes) < count;
        preparing += begins ? 1 : 0;
        return begins;
    }

    private synchronized void endPreparing() {
        preparing--;
        notifyAll();
    }

    private int readyCount(long bytes) {
        int count = 0;
        for (Mapped mapped : ready) {
            count += mapped.place().bytes() >= bytes ? 1 : 0;
        }
        return count;
    }

    /** One of at least {@code bytes} if there is one, else any of at least {@code bytesMin}; null when there is none. */
    private synchronized Mapped takeReady(long bytes, long bytesMin) {
        int found = -1;
        for (int i = ready.size() - 1; i >= 0; i--) {
            long bytesHere = ready.get(i).place().bytes();
            found = bytesHere >= bytes || found < 0 && bytesHere >= bytesMin ? i : found;
        }
        return found < 0 ? null : ready.remove(found);
    }

    /** As {@link #takeReady} of the used files, the one that came last. */
    private synchronized LogScan.Spare takeIdle(long bytes, long bytesMin) {
        long least = Math.max(bytesMin, LogOptions.SEGMENT_BYTES_LEAST);
        int found = -1;
        for (int i = 0; i < idle.size(); i++) {
            long bytesHere = idle.get(i).bytes();
            boolean isBetter = bytesHere >= bytes || found < 0 || idle.get(found).bytes() < bytes;
            found = bytesHere >= least && isBetter && isUsable(idle.get(i)) ? i : found;
        }
        return found < 0 ? null : idle.remove(found);
    }

    /** Maps a used file of about {@code bytes}, or a new one. */
    private Mapped make(long bytes, long bytesMin) {
        Mapped used = mapIdle(bytes, Math.max(bytesMin, bytes / 2));
        if (used != null) {
            return used;
        }
        long number;
        synchronized (this) {
            number = ++lastNumber;
        }
        Mapped fresh = open(new LogScan.Spare(SegmentName.of(number), number, bytes));
        synchronized (this) {
            directoryChanged = true;
        }
        return fresh;
    }

    /** Maps a used file as {@link #takeIdle} finds it, but for those with a page that cannot be read; null when there is none. */
    private Mapped mapIdle(long bytes, long bytesMin) {
        for (LogScan.Spare used = takeIdle(bytes, bytesMin); used != null; used = takeIdle(bytes, bytesMin)) {
            try {
                return open(used);
            } catch (Throwable e) {
                keep(List.of(used));
                if (!(e instanceof StoreIoException failure && foundUnreadable(used, failure))) {
                    throw e;
                }
                deleteUnreadable(used);
            }
        }
        return null;
    }

    /** At once: recovery could not read in its header that it holds nothing. */
    private void deleteUnreadable(LogScan.Spare place) {
        try {
            storage.delete(place.file());
        } catch (StoreException e) {
            // It stays here, and nobody maps it: whoever wants files deleted next is told if it still cannot be.
            return;
        }
        synchronized (this) {
            directoryChanged = true;
            if (idle.remove(place)) {
                unreadable.remove(place.number());
            }
        }
    }

    /** Whether that is why a mapping failed; then the file is not used again, and deleted when files are at the latest. */
    synchronized boolean foundUnreadable(LogScan.Spare place, StoreIoException failure) {
        boolean isUnreadable = failure.errno() == Errno.EIO;
        if (isUnreadable) {
            unreadable.add(place.number());
        }
        return isUnreadable;
    }

    /** Not where a page cannot be read, nor where something has cut the file within one: it cannot be mapped as a segment. */
    private boolean isUsable(LogScan.Spare place) {
        return !unreadable.contains(place.number()) && place.bytes() % PageLayout.PAGE_BYTES == 0;
    }

    private Mapped open(LogScan.Spare place) {
        long window = Math.min(place.bytes(), memory.readyBytes());
        MappedFile file = storage.openMapped(place.file(), place.bytes(), window);
        try {
            return new Mapped(place, memory.counted(file));
        } catch (Throwable e) {
            file.close();
            throw e;
        }
    }

    /** Takes back a mapped segment that was not used; once the pool has closed nobody will use it. */
    synchronized void giveBack(Mapped mapped) {
        if (closed) {
            mapped.file().close();
            return;
        }
        try {
            ready.add(mapped);
        } catch (Throwable e) {
            mapped.file().close();
            throw e;
        }
    }

    /**
     * Takes files whose contents are no longer needed, to use them again or to delete them. As much is kept as came last, at least one
     * of a size that is {@code wanted}: what was let go of for one checkpoint will be written again until the next.
     */
    void recycle(List<LogScan.Spare> spares, SegmentSizes wanted) {
        long bytes = 0;
        for (LogScan.Spare spare : spares) {
            bytes += spare.bytes();
        }
        synchronized (this) {
            bytesKept = bytes;
        }
        keepOrDelete(spares, wanted);
    }

    /** Those that could not be deleted stay here. */
    private void keepOrDelete(List<LogScan.Spare> spares, SegmentSizes wanted) {
        for (int i = 0; i < spares.size(); i++) {
            try {
                keepOrDelete(spares.get(i), wanted);
            } catch (NoSpaceException full) {
                // A file system may need a block of its own to let go of a file. It is wanted later again.
                keep(spares.subList(i, i + 1));
            } catch (Throwable e) {
                keep(spares.subList(i, spares.size()));
                throw e;
            }
        }
    }

    private synchronized void keep(List<LogScan.Spare> spares) {
        idle.addAll(spares);
    }

    private void keepOrDelete(LogScan.Spare spare, SegmentSizes wanted) {
        synchronized (this) {
            boolean fits = wanted.suit(spare.bytes(), options.segmentBytesMax()) && isUsable(spare);
            if (fits && (idle.isEmpty() || idleBytes() + spare.bytes() <= bytesKept)) {
                idle.add(spare);
                return;
            }
        }
        storage.delete(spare.file());
        synchronized (this) {
            unreadable.remove(spare.number());
        }
    }

    private synchronized long idleBytes() {
        long bytes = 0;
        for (LogScan.Spare spare : idle) {
            bytes += spare.bytes();
        }
        return bytes;
    }

    /** Deletes all that is kept but for one file. */
    void returnSpace(SegmentSizes wanted) {
        synchronized (this) {
            bytesKept = 0;
        }
        trim(wanted);
    }

    /** Deletes what is beyond the pool's size, or too small; see {@link #recycle}. */
    void trim(SegmentSizes wanted) {
        List<LogScan.Spare> all;
        synchronized (this) {
            all = new ArrayList<>(idle);
            idle.clear();
        }
        keepOrDelete(all, wanted);
    }

    /**
     * Makes new files, and that those which cannot be read are gone, survive the loss of power. A failure is latched as by {@link
     * LogSegment#sync}.
     */
    void syncDirectory(GroupCommit commit) {
        // Who finds nothing to do must not return before whoever has begun to.
        directorySync.lock();
        try {
            commit.throwFailure();
            synchronized (this) {
                if (!directoryChanged) {
                    return;
                }
                directoryChanged = false;
            }
            storage.syncDirectory();
        } catch (Throwable e) {
            commit.fail(e);
            throw e;
        } finally {
            directorySync.unlock();
        }
    }

    /** The bytes of the files here. */
    synchronized long bytes() {
        long bytes = idleBytes();
        for (Mapped mapped : ready) {
            bytes += mapped.place().bytes();
        }
        return bytes;
    }

    /** Waits for whoever makes a segment ready: until then the storage is in use, and what is made would stay mapped. */
    synchronized void close() {
        closed = true;
        awaitPreparing();
        for (Mapped mapped : ready) {
            mapped.file().close();
        }
        ready.clear();
    }

    private synchronized void awaitPreparing() {
        boolean interrupted = false;
        while (preparing > 0) {
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
