package dev.heartwood.engine.node;

import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.branch.BranchStorage;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.filter.MapletStorage;
import dev.heartwood.engine.os.KeyHasher;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import java.util.concurrent.atomic.AtomicInteger;

/** What a tree stores its pages with: the data file, its cache, its extents, and memory for merges. Thread-safe. */
public final class TreeStorage {
    /** What becomes of the blocks of free extents in quiet moments. */
    public enum FreedExtents {
        KEPT,
        DISCARDED
    }

    private static final long WAIT_NANOS = 100_000;

    private final long storeId;
    private final BlockDevice device;
    private final CachedFile file;
    private final ExtentAllocator extents;
    private final MemoryPool buffers;
    private final MemoryPool mergeBuffers;
    private final Epochs epochs;
    private final FreedExtents freedExtents;
    private final int groupSuffixBytes;
    private final long fingerprintBufferBytes;
    private final BranchStorage branches;
    private final MapletStorage maplets;
    private final MapletStorage briefMaplets;
    /** Threads that are freeing an extent. */
    private final AtomicInteger freeing = new AtomicInteger();

    private volatile boolean closed;

    /** Storage of a tree without groups of keys. */
    public TreeStorage(
            CachedFile file,
            ExtentAllocator extents,
            MemoryPool buffers,
            MemoryPool mergeBuffers,
            Epochs epochs,
            FreedExtents freedExtents) {
        this(file, extents, buffers, mergeBuffers, epochs, freedExtents, 0);
    }

    /** @param groupSuffixBytes {@link dev.heartwood.StoreOptions#groupSuffixBytes} */
    public TreeStorage(
            CachedFile file,
            ExtentAllocator extents,
            MemoryPool buffers,
            MemoryPool mergeBuffers,
            Epochs epochs,
            FreedExtents freedExtents,
            int groupSuffixBytes) {
        this(
                file,
                extents,
                buffers,
                mergeBuffers,
                epochs,
                freedExtents,
                groupSuffixBytes,
                FingerprintPieces.bufferBytesMax(mergeBuffers));
    }

    /** @param fingerprintBufferBytes what a merge takes for fingerprints at most before it holds them in pieces */
    public TreeStorage(
            CachedFile file,
            ExtentAllocator extents,
            MemoryPool buffers,
            MemoryPool mergeBuffers,
            Epochs epochs,
            FreedExtents freedExtents,
            int groupSuffixBytes,
            long fingerprintBufferBytes) {
        this.fingerprintBufferBytes = fingerprintBufferBytes;
        this.storeId = file.storeId();
        this.device = file.device();
        this.file = file;
        this.extents = extents;
        this.buffers = buffers;
        this.mergeBuffers = mergeBuffers;
        this.epochs = epochs;
        this.freedExtents = freedExtents;
        this.groupSuffixBytes = groupSuffixBytes;
        this.branches = new BranchStorage(file, extents, buffers, mergeBuffers, storeId, Releasing::new);
        this.maplets = new MapletStorage(file, extents, mergeBuffers, storeId, Releasing::new);
        this.briefMaplets = new MapletStorage(file, extents, mergeBuffers, storeId, released -> () -> freeAtOnce(released));
    }

    public long storeId() {
        return storeId;
    }

    public BlockDevice device() {
        return device;
    }

    public CachedFile file() {
        return file;
    }

    public ExtentAllocator extents() {
        return extents;
    }

    /** Whether the filters know groups of keys instead of keys. */
    public boolean hasGroups() {
        return groupSuffixBytes > 0;
    }

    /** The bytes of a key by which filters know it: all of it, or those of its group. */
    private int filterKeyLength(int keyLength) {
        return keyLength > groupSuffixBytes ? keyLength - groupSuffixBytes : keyLength;
    }

    /** The hash by which filters know a key. */
    public long filterHash(long keyAddress, int keyLength) {
        return KeyHasher.hash(keyAddress, filterKeyLength(keyLength));
    }

    /** Memory of calls and cursors. */
    public MemoryPool buffers() {
        return buffers;
    }

    /** Memory of merges. */
    public MemoryPool mergeBuffers() {
        return mergeBuffers;
    }

    /** What a merge takes for fingerprints at most before it holds them in pieces, in bytes. */
    public long fingerprintBufferBytes() {
        return fingerprintBufferBytes;
    }

    public BranchStorage branches() {
        return branches;
    }

    public MapletStorage maplets() {
        return maplets;
    }

    /** For maplets that nobody knows but who builds them: their extents are free as soon as they are released. */
    public MapletStorage briefMaplets() {
        return briefMaplets;
    }

    private void freeAtOnce(int[] released) {
        for (int extent : released) {
            free(extent);
        }
    }

    /** Gives extents back for reuse once no operation that is active when it runs can read them any more. */
    private final class Releasing implements Runnable {
        private final int[] released;
        private final Epochs.Deferred freeing = new Epochs.Deferred(this::freeAll);
        private int freed;

        Releasing(int[] released) {
            this.released = released;
        }

        @Override
        public void run() {
            epochs.deferPrepared(freeing);
        }

        /** What a full Java heap keeps from going on goes on with the next reclaiming. */
        private void freeAll() {
            try {
                while (freed < released.length) {
                    free(released[freed]);
                    freed++;
                }
            } catch (OutOfMemoryError full) {
                epochs.deferPrepared(freeing);
                throw full;
            }
        }
    }

    /**
     * From here on nothing is freed: what the file holds stays as the last checkpoint left it. Waits for whoever is freeing an extent, which is
     * any thread of the environment: what the cache has of the file is about to go.
     */
    public void close() {
        closed = true;
        while (freeing.get() > 0) {
            Clock.SYSTEM.parkNanos(WAIT_NANOS);
        }
    }

    /** Gives an extent that nobody reads back for reuse, with what the cache holds of it. */
    public void free(int extent) {
        // Who frees says so first and looks then, and who closes the other way round.
        freeing.incrementAndGet();
        try {
            if (!closed) {
                file.discard((long) extent << PageLayout.EXTENT_SHIFT, PageLayout.EXTENT_PAGES);
                extents.free(extent);
            }
        } finally {
            freeing.decrementAndGet();
        }
    }

    /** Gives the blocks of free extents back to the file system, when the store was opened so. */
    public void returnFreeSpace() {
        if (freedExtents == FreedExtents.DISCARDED) {
            extents.discardFree();
        }
    }
}
