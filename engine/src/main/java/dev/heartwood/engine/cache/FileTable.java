package dev.heartwood.engine.cache;

import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;

/** The files attached to a cache, by a small number that frames carry. Thread-safe. */
final class FileTable {
    private final ReentrantLock lock = new ReentrantLock();
    // Copied on write under lock; elements change only before a file's first and after its last frame.
    private volatile CachedFile[] files = new CachedFile[0];

    /** Attaches the file that {@code make} makes for a free slot; returns the slot. */
    int add(IntFunction<CachedFile> make) {
        lock.lock();
        try {
            CachedFile[] old = files;
            int slot = 0;
            while (slot < old.length && old[slot] != null) {
                slot++;
            }
            CachedFile[] copy = Arrays.copyOf(old, Math.max(old.length, slot + 1));
            copy[slot] = make.apply(slot);
            files = copy;
            return slot;
        } finally {
            lock.unlock();
        }
    }

    void remove(int slot) {
        lock.lock();
        try {
            CachedFile[] copy = files.clone();
            copy[slot] = null;
            files = copy;
        } finally {
            lock.unlock();
        }
    }

    CachedFile file(int slot) {
        return files[slot];
    }

    DirectMap map(int slot) {
        return files[slot].map();
    }

    /** The files, some null. Not to be changed. */
    CachedFile[] all() {
        return files;
    }
}
