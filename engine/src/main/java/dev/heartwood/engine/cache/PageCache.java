package dev.heartwood.engine.cache;

import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.os.MemoryPool;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The page cache of one environment, shared by its stores. Takes a fixed amount of memory from the pool, and may borrow
 * more that others have no use for. Thread-safe.
 *
 * <p>It has no threads of its own: some background thread calls {@link #writeBackSome} when the action given to {@link
 * #onWriteBackDue} asks for it.
 */
public final class PageCache implements AutoCloseable {
    /*
     * This class only puts the parts together; each part says in its own note how it works. The package's description draws
     * how they hang together.
     */
    private static final int STRIPES_MAX = 16;
    private static final int EXTENTS_PER_CALL = 8;
    private static final int FULL_SHIFT = 4;
    private static final int FULL_STEPS = 2;

    final MemoryPool pool;
    final Epochs epochs;
    final FrameTable frames;
    final FrameSupply supply;
    final FrameSource source;
    final ColdQueue cold;
    final FileTable files = new FileTable();
    final DirtyQueue dirtyQueue = new DirtyQueue();
    final WriteBack writeBack;
    final DirtyPages dirtyPages;
    final TransientPages transients;
    final VictimCache victims;
    final PageLoader loader;
    final PageDropper dropper;
    final CacheCounters counters = new CacheCounters();
    final AtomicInteger prefetchesUnderWay = new AtomicInteger();
    private final FrameBlocks blocks;
    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * A cache that holds nothing, and has pages given back that nobody reads any more whenever the pool is short.
     *
     * @param bytes the memory it takes from the pool, for pages and what is known about them; a little less is taken when it is
     *     no multiple of 64 KiB
     * @param bytesBorrowedMax the most memory of others that it ever has use for, beside its own
     * @param epochs those in which its callers read pages
     */
    public PageCache(MemoryPool pool, long bytes, long bytesBorrowedMax, Epochs epochs) {
        this(pool, bytes, new VictimCache(bytesBorrowedMax, VictimCache.BLOCK_PAGES), epochs);
        // Else it came back with the next page that finds no frame, and buffers did without meanwhile.
        pool.whenShort(0, isRefused -> transients.freePassed());
    }

    PageCache(MemoryPool pool, long bytes, VictimCache victims, Epochs epochs) {
        int stripes = stripes();
        this.pool = pool;
        this.epochs = epochs;
        this.blocks = new FrameBlocks(pool, bytes, FrameTable.metadataBytesPerFrame(stripes));
        this.frames = new FrameTable(blocks, stripes);
        this.supply = new FrameSupply(frames, blocks, epochs);
        this.cold = new ColdQueue(frames);
        this.victims = victims;
        Clock clock = new Clock(frames, supply, files, cold, victims, counters);
        this.writeBack = new WriteBack(frames, dirtyQueue, cold, pool, counters);
        this.source = new FrameSource(frames, supply, clock, writeBack, files);
        this.dirtyPages = new DirtyPages(frames, source, dirtyQueue, writeBack, counters);
        this.transients = new TransientPages(pool, epochs);
        this.loader = new PageLoader(frames, source, supply, counters, new LoadWaits(frames), transients, victims, cold, pool);
        this.dropper = new PageDropper(
                frames, supply, loader, dirtyQueue, victims, counters, dev.heartwood.engine.base.Clock.SYSTEM);
    }

    /** As {@link #PageCache(MemoryPool, long, long, Epochs)}, for a cache that borrows nothing, in a pool that has other users. */
    public PageCache(MemoryPool pool, long bytes, Epochs epochs) {
        this(pool, bytes, new VictimCache(0, VictimCache.BLOCK_PAGES), epochs);
    }

    /** A view of a data file through this cache; the device remains the caller's to close, after the view. */
    public CachedFile attach(BlockDevice device, long storeId) {
        return files.file(files.add(slot -> new CachedFile(this, device, storeId, slot)));
    }

    /** Sets the action that asks for {@link #writeBackSome}; called by threads that insert pages, and quick. */
    public void onWriteBackDue(Runnable action) {
        dirtyPages.setWhenDue(action);
    }

    /** Writes back some of the oldest dirty extents if more than half the cache is dirty; returns whether more are due. */
    public boolean writeBackSome() {
        return dirtyPages.writeSome(EXTENTS_PER_CALL);
    }

    /** Whether {@link #writeBackSome} was asked for since it began last. */
    public boolean isWriteBackAsked() {
        return dirtyPages.isAsked();
    }

    /** Has {@link #writeBackSome} asked for again, though it was: nobody comes. */
    public void forgetWriteBackAsked() {
        dirtyPages.forgetAsked();
    }

    /** Whether pages have to go for new ones to come. */
    public boolean isFull() {
        // Those that a few threads have just evicted are available, too.
        return supply.available() <= (frames.size() >>> FULL_SHIFT) + FULL_STEPS * Clock.COLD_FRAMES;
    }

    /** Borrows a block that a pool has to spare, for pages that are evicted; false when it has none, or there is no use for more. */
    public boolean borrow(MemoryPool lender) {
        return victims.borrow(lender);
    }

    /** The bytes of what {@link #borrow} borrows. */
    public int borrowedAtOnce() {
        return victims.blockBytes();
    }

    /** Gives some of what was borrowed of a pool back, at once, and drops the pages in it; false when nothing was left. */
    public boolean giveBackSome(MemoryPool lender) {
        return victims.giveBackSome(lender);
    }

    /** As {@link #giveBackSome}, all of it. */
    public void giveBackAll(MemoryPool lender) {
        victims.giveBackAll(lender);
    }

    /** The bytes that are borrowed of a pool. */
    public long bytesBorrowed(MemoryPool lender) {
        return victims.bytes(lender);
    }

    /** The memory taken from the pool. */
    public long bytes() {
        return blocks.bytes();
    }

    /** The state and the counts now. */
    public CacheStats stats() {
        int maps = 0;
        for (CachedFile file : files.all()) {
            maps += file == null ? 0 : file.map().chunks();
        }
        return new CacheStats(
                blocks.bytes(),
                victims.bytes(),
                frames.size(),
                supply.available(),
                maps,
                dirtyQueue.pages(),
                counters.loads.sum(),
                counters.prefetches.sum(),
                counters.transientLoads.sum(),
                counters.broughtBack.sum(),
                counters.evictions.sum(),
                counters.writtenBack.sum(),
                counters.writtenThrough.sum(),
                counters.discardedDirty.sum());
    }

    /** Gives the memory back. All files are closed and no operation is active. Idempotent. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        victims.close();
        transients.close();
        blocks.close();
    }

    /** Whether an address lies in one of our blocks, and not in a gap between them. */
    boolean isFrame(long address) {
        return blocks.contains(address);
    }

    private static int stripes() {
        int processors = Runtime.getRuntime().availableProcessors();
        return Math.min(Integer.highestOneBit(2 * processors - 1), STRIPES_MAX);
    }
}
