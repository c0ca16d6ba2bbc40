package dev.heartwood.engine.verify;

import dev.heartwood.CorruptionException;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.cache.PageCache;
import dev.heartwood.engine.checkpoint.Superblock;
import dev.heartwood.engine.checkpoint.Superblocks;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.node.TreeStorage.FreedExtents;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import java.util.function.Consumer;

/**
 * A data file to be read only, through a cache of its own, so that what is read comes from the device and whoever else uses the
 * file keeps its cache. One thread. Closing it leaves device and pool to the caller.
 */
public final class StoreView implements AutoCloseable {
    private final BlockDevice device;
    private final MemoryPool pool;
    private final Epochs epochs = new Epochs();
    private final PageCache cache;
    private final Superblocks.Copy[] copies;
    private final Superblock newest;
    private final CachedFile file;
    private final TreeStorage tree;
    private Consumer<CorruptionException> whenDamaged = damage -> {};

    /**
     * A view of the checkpoint that {@code newest} names; null when there is none.
     *
     * @param pool gives buffers, and {@code cacheBytes} for the cache
     * @param copies both copies of the superblock
     */
    public StoreView(
            BlockDevice device, MemoryPool pool, long cacheBytes, Superblocks.Copy[] copies, Superblock newest) {
        this.device = device;
        this.pool = pool;
        this.copies = copies;
        this.newest = newest;
        this.cache = new PageCache(pool, cacheBytes, epochs);
        try {
            this.file = cache.attach(device, newest == null ? 0 : newest.storeId());
        } catch (RuntimeException | Error e) {
            cache.close();
            throw e;
        }
        ExtentAllocator unused = new ExtentAllocator(device, Long.MAX_VALUE, 1);
        this.tree = new TreeStorage(file, unused, pool, pool, epochs, FreedExtents.KEPT, groupSuffixBytes(newest));
        tree.close();
    }

    private static int groupSuffixBytes(Superblock superblock) {
        return superblock == null ? 0 : StoreOptions.parse(superblock.options()).groupSuffixBytes();
    }

    public BlockDevice device() {
        return device;
    }

    Epochs epochs() {
        return epochs;
    }

    public MemoryPool pool() {
        return pool;
    }

    public CachedFile file() {
        return file;
    }

    public TreeStorage tree() {
        return tree;
    }

    /** Both copies of the superblock. */
    public Superblocks.Copy[] copies() {
        return copies;
    }

    /** The newest whole copy; null when neither is. */
    public Superblock newest() {
        return newest;
    }

    /** Sets what is told of every damaged page that is met, by whoever reads with this view; it is called by whoever meets it. */
    public void onDamage(Consumer<CorruptionException> action) {
        whenDamaged = action;
        file.onDamage(action);
    }

    /** Tells of a damaged page that was read past the cache. */
    public void met(CorruptionException damage) {
        whenDamaged.accept(damage);
    }

    /** Drops what the cache holds of some extents. */
    void forget(int[] extents) {
        for (int extent : extents) {
            file.discard((long) extent << PageLayout.EXTENT_SHIFT, PageLayout.EXTENT_PAGES);
        }
    }

    @Override
    public void close() {
        file.close();
        cache.close();
    }
}
