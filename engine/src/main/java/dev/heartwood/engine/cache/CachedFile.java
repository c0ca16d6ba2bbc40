package dev.heartwood.engine.cache;

import dev.heartwood.CorruptionException;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.StoreException;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * One store's data file seen through the cache. Pages are sealed, immutable and known by number; whoever asks for one says what
 * type and generation it must have, and gets {@link dev.heartwood.CorruptionException} when the device has something else.
 * Thread-safe.
 *
 * <p>"Inside an epoch" means between {@code Epochs.enter} and {@code exit} of the cache's epochs: an address stays valid until
 * the exit.
 */
public final class CachedFile implements AutoCloseable {
    /** The most pages that {@link #bring} reads: 32 KiB, which threads wait for without sleeping. */
    public static final int BRING_PAGES_MAX = 8;

    private static final int ATTEMPTS_MAX = 16;

    private final PageCache cache;
    private final FrameTable frames;
    private final BlockDevice device;
    private final long storeId;
    private final int slot;
    private final DirectMap map;
    private final Prefetcher prefetcher;
    private final DirtyQueue.FileDirt dirt = new DirtyQueue.FileDirt();
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile Consumer<CorruptionException> whenDamaged = damage -> {};
    private volatile Consumer<Throwable> whenUnwritable = failure -> {};

    CachedFile(PageCache cache, BlockDevice device, long storeId, int slot) {
        this.cache = cache;
        this.frames = cache.frames;
        this.device = device;
        this.storeId = storeId;
        this.slot = slot;
        this.map = new DirectMap(frames, slot);
        this.prefetcher = new Prefetcher(this, cache);
    }

    /**
     * The address of a page; reads it with this thread when it is absent. Inside an epoch.
     *
     * @throws dev.heartwood.StoreException when it cannot be read; the page is then still absent
     */
    public long page(long pageNumber, PageType type, long generation) {
        int entry = map.get(pageNumber);
        if (entry > 0) {
            frames.touch(entry, type);
            assert PageSeal.isSealedAs(frames.address(entry), type, storeId, pageNumber, generation);
            return frames.address(entry);
        }
        int frame = cache.loader.load(this, pageNumber, type, generation);
        return frame != 0
                ? frames.address(frame)
                : cache.loader.loadTransient(this, pageNumber, type, generation);
    }

    /**
     * Reads the absent ones of a few neighbouring pages at once, with this thread, if there are at least two; those stay absent for which there is no
     * frame, and all that cannot be read. The first access to each is expected and does not make it hot. Advice only, inside an epoch or not.
     *
     * @param count up to {@link #BRING_PAGES_MAX}
     * @param isCold whether they go before others when there is no room: for scans
     */
    public void bring(long firstPage, int count, PageType type, long generation, boolean isCold) {
        // Whoever reads what is in the cache allocates nothing.
        int there = 0;
        while (there < count && firstPage >= 0 && map.get(firstPage + there) != 0) {
            there++;
        }
        if (there < count) {
            cache.loader.loadRun(this, new PageRun(firstPage + there, count - there, type, generation, isCold));
        }
    }

    /**
     * The address of a page, which stays valid until {@link #unlockShared}, however long; reads it when it is absent. Better
     * called outside an epoch: inside one, it may have to go past the cache when frames are scarce.
     */
    public long lockShared(long pageNumber, PageType type, long generation) {
        DistributedLock locks = frames.locks();
        while (true) {
            int entry = map.get(pageNumber);
            if (entry > 0) {
                frames.touch(entry, type);
            } else {
                entry = cache.loader.load(this, pageNumber, type, generation);
                if (entry == 0) {
                    return cache.loader.loadTransientLocked(this, pageNumber, type, generation);
                }
            }
            if (locks.tryLockRead(entry)) {
                if (map.get(pageNumber) == entry) {
                    return frames.address(entry);
                }
                locks.unlockRead(entry);
            }
            Thread.onSpinWait();
        }
    }

    /**
     * As {@link #lockShared}, outside of any epoch: when all memory for pages is held back by operations under way, waits for those
     * to end.
     */
    public long lockSharedPatiently(long pageNumber, PageType type, long generation) {
        for (int attempt = 1; ; attempt++) {
            try {
                return lockShared(pageNumber, type, generation);
            } catch (InsufficientMemoryException e) {
                awaitMemory(attempt, e);
            }
        }
    }

    /**
     * Waits, outside of any epoch, for the operations under way to end, which may hold all memory for pages back.
     *
     * @param attempt how often what is to be tried again has been tried
     * @throws InsufficientMemoryException that one, when it was often enough
     */
    public void awaitMemory(int attempt, InsufficientMemoryException refusal) {
        if (attempt >= ATTEMPTS_MAX) {
            throw refusal;
        }
        cache.epochs.awaitOperations();
    }

    /** Ends what {@link #lockShared} began; any thread may do it. */
    public void unlockShared(long pageAddress) {
        int frame = frames.frameAt(pageAddress);
        if (frame != 0 && cache.isFrame(pageAddress)) {
            frames.locks().unlockRead(frame);
        } else {
            cache.transients.free(pageAddress);
        }
    }

    /**
     * Takes copies of {@code count} sealed pages, contiguous at {@code address} and within one extent from {@code firstPage},
     * to be written back later. Writes them to the device instead when no frames can be had. Not inside an epoch.
     *
     * @throws dev.heartwood.PreviousFailureException when a write to this file failed earlier
     */
    public void insertDirty(long firstPage, int count, long address) {
        cache.dirtyPages.insert(this, firstPage, count, address, Lifetime.BRIEF);
    }

    /** As {@link #insertDirty} for pages that are not expected to be freed soon: they are written back before those that are. */
    public void insertLasting(long firstPage, int count, long address) {
        cache.dirtyPages.insert(this, firstPage, count, address, Lifetime.LASTING);
    }

    /** How many bytes of pages may wait unwritten, of all files together, before the oldest are written back. */
    public long unwrittenBytesMax() {
        return cache.dirtyPages.dueAboveBytes();
    }

    /** Writes {@code count} sealed pages, contiguous at {@code address}, to the device now, past the cache. */
    public void writeThrough(long firstPage, int count, long address) {
        cache.dirtyPages.writeThrough(this, firstPage, count, address);
    }

    /**
     * As {@link #writeThrough}, and keeps copies: as many as the cache has frames to spare for, and up to {@code evicting} more, for which
     * other pages are evicted.
     *
     * @return how many were kept in the place of others
     */
    public int writeAndKeep(long firstPage, int count, long address, int evicting) {
        return cache.dirtyPages.writeAndKeep(this, firstPage, count, address, evicting);
    }

    /**
     * A writer past the cache that writes while its caller goes on; null where the system refuses a queue. It is the caller's to close.
     *
     * @param depth the most writes under way at once, up to {@link ThroughWriter#DEPTH_MAX}
     * @param keeps whether copies stay in the cache while it has frames to spare
     */
    public ThroughWriter newThroughWriter(int depth, boolean keeps) {
        try {
            return new ThroughWriter(this, cache.dirtyPages, depth, keeps);
        } catch (StoreException refused) {
            return null;
        }
    }

    /**
     * Drops {@code count} pages from the cache; dirty ones are never written. When it returns, no I/O of the cache on them is
     * under way, so their place on the device may be written anew. The caller guarantees that the last epoch in which they
     * could be reached has passed, that no shared lock on them is held, and that nobody asks for them any more.
     */
    public void discard(long firstPage, int count) {
        cache.dropper.drop(this, firstPage, count);
    }

    /**
     * Copies {@code count} pages, at most an extent, into {@code buffer}: from the cache what is there, from the device the
     * rest with as few reads as possible. Nothing is brought into the cache. See {@link ExtentReader} for several at once.
     */
    public void readExtent(long firstPage, int count, long buffer, PageType type, long generation) {
        if (count <= 0 || count > PageLayout.EXTENT_PAGES) {
            throw new IllegalArgumentException(count + " pages");
        }
        long plan = copyCached(firstPage, count, buffer);
        for (int left = ReadPlan.absent(plan); left != 0; ) {
            int first = Integer.numberOfTrailingZeros(left);
            int length = ReadPlan.stretch(left, ReadPlan.dirty(plan), first);
            long target = buffer + ((long) first << PageLayout.PAGE_SHIFT);
            device.read(firstPage + first << PageLayout.PAGE_SHIFT, target, length << PageLayout.PAGE_SHIFT);
            for (int i = 0; i < length; i++) {
                long page = target + ((long) i << PageLayout.PAGE_SHIFT);
                verify(page, type, firstPage + first + i, generation);
            }
            left &= ~WriteBack.runMask(first, length);
        }
    }

    /** Whether a page is in the cache or on its way there; for a moment. */
    public boolean isCached(long pageNumber) {
        return map.get(pageNumber) != 0;
    }

    /** Whether a page is in the cache, and may be looked at without waiting for it; for a moment. */
    public boolean isReady(long pageNumber) {
        return map.get(pageNumber) > 0;
    }

    /**
     * Starts reading the absent ones of {@code count} pages into the cache and returns; a later {@link #page} or {@link
     * #lockShared} waits for its page. Advice only: it may do nothing. The first access to each is expected and does not make
     * it hot, and they go before others when there is no room: for scans. The pages have been written, or at least taken by {@link #insertDirty}.
     *
     * @return how many of the first pages are there or on their way
     */
    public int prefetch(long firstPage, int count, PageType type, long generation) {
        return begin(firstPage, count, type, generation, true);
    }

    /** As {@link #prefetch}, for pages that a look-up wants: they do not go before others. */
    public int begin(long firstPage, int count, PageType type, long generation) {
        return begin(firstPage, count, type, generation, false);
    }

    private int begin(long firstPage, int count, PageType type, long generation, boolean isCold) {
        long pages = device.size() >>> PageLayout.PAGE_SHIFT;
        if (firstPage < 0 || firstPage >= pages) {
            return 0;
        }
        int inFile = (int) Math.min(count, pages - firstPage);
        // Whoever scans what is in the cache asks for nothing else: that takes no lane, and allocates nothing.
        int there = 0;
        while (there < inFile && map.get(firstPage + there) != 0) {
            there++;
        }
        return there == inFile
                ? there
                : there + prefetcher.prefetch(new PageRun(firstPage + there, inFile - there, type, generation, isCold));
    }

    /**
     * Writes what is dirty in the extents that begin with {@code firstPages[0..n)}; returns when it is on the device, not
     * synced.
     *
     * @throws dev.heartwood.PreviousFailureException when a write to this file failed, now or earlier
     */
    public void writeBack(long[] firstPages, int n) {
        cache.writeBack.write(this, firstPages, n);
    }

    /** As {@link #writeBack} for everything dirty at the time of the call. */
    public void writeBackAll() {
        cache.writeBack.writeAll(this);
    }

    /** The pages not written back yet. */
    public long dirtyPages() {
        return cache.dirtyQueue.pages(this);
    }

    /** The first failure to write to this file, or null. Nothing is written after it, and nothing dirty is dropped. */
    public Throwable failure() {
        return dirt.failure();
    }

    /** The memory that this file's direct map takes, counted in the cache's. */
    public long mapBytes() {
        return (long) map.chunks() << PageLayout.PAGE_SHIFT;
    }

    /** Sets what is told of every damaged page that is met; it is called by whoever meets it, and must be quick. */
    public void onDamage(Consumer<CorruptionException> action) {
        whenDamaged = action;
    }

    /** Sets what is told of the first failure to write, by whoever meets it, holding a lock of the cache: it must be quick. */
    public void onWriteFailure(Consumer<Throwable> action) {
        whenUnwritable = action;
    }

    /** Tells of the first failure to write. */
    void unwritable(Throwable failure) {
        whenUnwritable.accept(failure);
    }

    /** Returns when the page at an address, just read, is the one expected. */
    void verify(long address, PageType type, long pageNumber, long generation) {
        try {
            PageSeal.verify(address, type, storeId, pageNumber, generation, device.name());
        } catch (CorruptionException e) {
            whenDamaged.accept(e);
            throw e;
        }
    }

    /** The device under the cache. */
    public BlockDevice device() {
        return device;
    }

    /** The store whose pages these are. */
    public long storeId() {
        return storeId;
    }

    /** Drops all pages of this file without writing them. Nobody uses the file any more. Idempotent. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        try {
            prefetcher.close();
        } finally {
            cache.dropper.dropAll(this);
            map.release(cache.supply);
            cache.files.remove(slot);
        }
    }

    /** Copies what is cached of a run into {@code buffer} and says what is not; see {@link ReadPlan}. */
    long copyCached(long firstPage, int count, long buffer) {
        int absent = 0;
        int dirty = 0;
        int epoch = cache.epochs.enterBriefly();
        try {
            for (int i = 0; i < count; i++) {
                int entry = map.get(firstPage + i);
                if (entry <= 0) {
                    absent |= 1 << i;
                    continue;
                }
                dirty |= frames.status(entry) == FrameTable.DIRTY ? 1 << i : 0;
                long target = buffer + ((long) i << PageLayout.PAGE_SHIFT);
                Memory.copy(frames.address(entry), target, PageLayout.PAGE_BYTES);
            }
        } finally {
            cache.epochs.exit(epoch);
        }
        return ReadPlan.of(absent, dirty);
    }

    int slot() {
        return slot;
    }

    DirectMap map() {
        return map;
    }

    Prefetcher prefetcher() {
        return prefetcher;
    }

    DirtyQueue.FileDirt dirt() {
        return dirt;
    }
}
