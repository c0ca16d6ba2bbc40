package dev.heartwood.engine.backup;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.engine.base.ImageReader;
import dev.heartwood.engine.base.ImageReader.MalformedImageException;
import dev.heartwood.engine.base.ImageWriter;
import dev.heartwood.engine.checkpoint.CheckedFile;
import dev.heartwood.engine.checkpoint.StoreFiles;
import dev.heartwood.engine.checkpoint.Superblocks;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.verify.Progress;
import java.util.ArrayList;
import java.util.List;

/**
 * The pages that a backup overwrites of the one before, kept beside it until it is complete: in the file {@value #PAGES}, one behind
 * the other; their places stand in the file {@code copy-unfinished}. Whoever opens the directory next puts them back. Stateless; to be
 * used with the directory's lock.
 */
public final class BackupUndo {
    static final String PAGES = "copy-undo";

    /** What a copy that nothing can be put back for leaves in its file. */
    static final byte[] NOTHING_KEPT = {1};

    /** Pages that lie together, not more than an extent of them. */
    record Place(long first, int count) {
        long position() {
            return first << PageLayout.PAGE_SHIFT;
        }

        int bytes() {
            return count << PageLayout.PAGE_SHIFT;
        }
    }

    private BackupUndo() {}

    /** Keeps pages of a backup and its superblocks; from then on they may be overwritten. What {@code progress} throws leaves nothing behind. */
    static void keep(Storage files, BlockDevice device, List<Place> overwritten, long buffer, Progress progress) {
        List<Place> places = new ArrayList<>(overwritten);
        for (int page : Superblocks.pages()) {
            places.add(new Place(page, 1));
        }
        files.delete(PAGES);
        try (BlockDevice kept = files.openDevice(PAGES, true)) {
            kept.allocate(places.stream().mapToLong(Place::bytes).sum());
            long at = 0;
            long done = 0;
            for (Place place : places) {
                readAnyway(place, device, buffer);
                kept.write(at, buffer, place.bytes());
                at += place.bytes();
                progress.at("kept runs of pages", ++done, places.size());
            }
            kept.sync();
        } catch (RuntimeException | Error e) {
            files.delete(PAGES);
            throw e;
        }
        ImageWriter image = new ImageWriter();
        places.forEach(place -> image.putVarint(place.first).putVarint(place.count));
        CheckedFile.write(files, StoreFiles.COPYING, image);
    }

    /**
     * Reads pages of a backup; those that the device cannot read are lost and come as zeroes. Put back they are damaged, as they were, whatever
     * was written there meanwhile: a superblock, too, is that of nothing.
     */
    private static void readAnyway(Place place, BlockDevice data, long buffer) {
        try {
            data.read(place.position(), buffer, place.bytes());
        } catch (ReadFailedException e) {
            Memory.fill(buffer, place.bytes(), 0);
            for (int i = 0; i < place.count && place.count > 1; i++) {
                readAnyway(new Place(place.first + i, 1), data, buffer + (long) i * PageLayout.PAGE_BYTES);
            }
        }
    }

    /** The backup is complete: nothing is put back any more. */
    static void forget(Storage files) {
        files.delete(StoreFiles.COPYING);
        files.syncDirectory();
        files.delete(PAGES);
    }

    /** Whether a backup to this directory was broken off that had begun to overwrite the one before. */
    public static boolean isPending(Storage files) {
        return files.exists(StoreFiles.COPYING)
                && files.size(StoreFiles.COPYING) > NOTHING_KEPT.length;
    }

    /**
     * Puts back what a backup overwrote that was broken off, if there is any. When it fails or is broken off itself, the next call
     * does it again.
     *
     * @throws dev.heartwood.CorruptionException when what was kept is damaged
     */
    public static void apply(Storage files, MemoryPool buffers) {
        if (!isPending(files)) {
            if (files.exists(PAGES)) {
                // Who deleted COPYING may have been killed before that was durable.
                files.syncDirectory();
                files.delete(PAGES);
            }
            return;
        }
        List<Place> places = places(files);
        long buffer = buffers.allocate(PageLayout.EXTENT_BYTES);
        if (buffer == 0) {
            throw new InsufficientMemoryException("no buffer to put back what a backup overwrote");
        }
        try (BlockDevice data = files.openDevice(StoreFiles.DATA, false);
                BlockDevice kept = files.openDevice(PAGES, false)) {
            long at = 0;
            for (Place place : places) {
                kept.read(at, buffer, place.bytes());
                data.write(place.position(), buffer, place.bytes());
                at += place.bytes();
            }
            data.sync();
        } finally {
            buffers.free(buffer, PageLayout.EXTENT_BYTES);
        }
        forget(files);
    }

    private static List<Place> places(Storage files) {
        List<Place> places = new ArrayList<>();
        ImageReader image = CheckedFile.read(files, StoreFiles.COPYING);
        try {
            while (image.remaining() > 0) {
                long first = image.getVarint();
                int count = image.getCount(PageLayout.EXTENT_PAGES);
                if (first < 0 || first >= PageSet.PAGES_MAX || count == 0) {
                    throw new MalformedImageException(count + " pages from " + first);
                }
                places.add(new Place(first, count));
            }
        } catch (MalformedImageException e) {
            throw CheckedFile.damaged(files, StoreFiles.COPYING, "places of pages", e.getMessage());
        }
        return places;
    }
}
