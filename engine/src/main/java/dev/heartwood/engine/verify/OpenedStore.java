package dev.heartwood.engine.verify;

import dev.heartwood.NotAStoreException;
import dev.heartwood.engine.checkpoint.StoreFiles;
import dev.heartwood.engine.checkpoint.Superblock;
import dev.heartwood.engine.checkpoint.Superblocks;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.os.MemoryPool;

/** A store that is not open, opened to be read only, with memory of its own. One thread. Closing it leaves the storage to the caller. */
public final class OpenedStore implements AutoCloseable {
    private static final long CACHE_BYTES = 48L << 20;
    private static final long CACHE_BYTES_BESIDE = 8L << 20;
    private static final long POOL_BYTES = 64L << 20;

    private final Storage files;
    private final BlockDevice device;
    private final MemoryPool pool;
    private StoreView view;
    private StoreView beside;

    /**
     * Takes the lock and reads the superblocks.
     *
     * @throws NotAStoreException when there is no store
     * @throws dev.heartwood.LockedException when it is open
     * @throws dev.heartwood.FormatTooNewException when a newer version wrote it
     */
    public OpenedStore(Storage files) {
        this.files = files;
        String directory = files.directory().toString();
        if (!files.exists(StoreFiles.DATA)) {
            throw new NotAStoreException(directory, "no " + StoreFiles.DATA);
        }
        files.lock();
        StoreFiles.requireFinished(files);
        this.device = files.openDevice(StoreFiles.DATA, false);
        MemoryPool opened = null;
        try {
            opened = MemoryPool.open(POOL_BYTES);
            Superblocks.Copy[] copies;
            try (Superblocks superblocks = new Superblocks(device, opened)) {
                copies = superblocks.copies();
            }
            this.pool = opened;
            this.view = new StoreView(device, pool, CACHE_BYTES, copies, Superblocks.newest(copies));
        } catch (RuntimeException | Error e) {
            if (opened != null) {
                opened.close();
            }
            device.close();
            throw e;
        }
    }

    public Storage files() {
        return files;
    }

    public BlockDevice device() {
        return device;
    }

    /** Memory for those who read it. */
    public MemoryPool pool() {
        return pool;
    }

    /** What it looks like. */
    public StoreView view() {
        return view;
    }

    /** The newest whole copy of the superblock; null when neither is. */
    public Superblock newest() {
        return view.newest();
    }

    /** Shows the checkpoint of another superblock from now on, whatever the copies in the file say; the view before is closed. */
    public void show(Superblock superblock) {
        Superblocks.Copy[] copies = view.copies();
        view.close();
        view = null;
        view = new StoreView(device, pool, CACHE_BYTES, copies, superblock);
    }

    /**
     * Another view, for a tree beside the one that {@link #view} shows. They may use the same extents for different things, and who
     * finds a page in a cache believes that it was verified as what he takes it for. Given once; closed with the store.
     */
    public StoreView viewBeside() {
        beside = new StoreView(device, pool, CACHE_BYTES_BESIDE, view.copies(), view.newest());
        return beside;
    }

    @Override
    public void close() {
        if (beside != null) {
            beside.close();
        }
        if (view != null) {
            view.close();
        }
        pool.close();
        device.close();
    }
}
