package dev.heartwood.engine.image;

import dev.heartwood.CorruptionException;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.TooLargeException;
import dev.heartwood.engine.extent.Purpose;
import dev.heartwood.engine.node.NodePlace;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import java.util.Arrays;

/**
 * Writes and reads the images of trunk nodes: pages of type TRUNK, packed one node after the other into extents that hold
 * nothing else. An extent is free again when no live node has pages in it. Thread-safe.
 *
 * <pre>
 *  32             36          40
 *  +--------------+-----------+-----------------------
 *  | image length | page of   | this page's part of
 *  |              | the image | the image
 *  +--------------+-----------+-----------------------
 * </pre>
 */
public final class NodePages {
    static final int IMAGE_LENGTH = PageLayout.BODY;
    static final int INDEX = IMAGE_LENGTH + 4;
    static final int PART = INDEX + 4;
    public static final int PART_BYTES = PageLayout.PAGE_BYTES - PART;

    /** No node is near this; a longer image is not one. */
    public static final int IMAGE_BYTES_MAX = 64 << 20;

    /*
     * Shared field   read       written    guarded by
     * extentCount    volatile   volatile   this
     * all others     -          -          this
     *
     * Nothing is written within the monitor: places of nodes are let go of by who gives back what nobody reads any more, writers among them.
     * That takes nothing of the Java heap, which may be full.
     */
    private final TreeStorage storage;
    /** Pages of live nodes by extent. An extent with none is not one of these, but for the one being filled. */
    private int[] livePages = new int[0];

    private volatile int extentCount;
    private int extent = -1;
    private int nextPage;

    public NodePages(TreeStorage storage) {
        this.storage = storage;
    }

    /**
     * Writes an image to fresh pages; the pages carry {@code generation}.
     *
     * @param buffer a page of memory
     * @throws TooLargeException when it could not be read back
     */
    public NodePlace write(byte[] image, long generation, long buffer) {
        if (image.length > IMAGE_BYTES_MAX) {
            throw new TooLargeException("trunk node", image.length, IMAGE_BYTES_MAX);
        }
        return writeTo(take(Math.max(1, (image.length + PART_BYTES - 1) / PART_BYTES)), image, generation, buffer);
    }

    private NodePlace writeTo(long[] pages, byte[] image, long generation, long buffer) {
        try {
            for (int i = 0; i < pages.length; i++) {
                Memory.fill(buffer, PageLayout.PAGE_BYTES, 0);
                Memory.putInt(buffer + IMAGE_LENGTH, image.length);
                Memory.putInt(buffer + INDEX, i);
                int from = i * PART_BYTES;
                Memory.copyFrom(image, from, buffer + PART, Math.min(PART_BYTES, image.length - from));
                PageSeal.seal(buffer, PageType.TRUNK, storage.storeId(), pages[i], generation);
                storage.device().write(pages[i] << PageLayout.PAGE_SHIFT, buffer, PageLayout.PAGE_BYTES);
            }
            return new NodePlace(pages, generation, () -> release(pages));
        } catch (RuntimeException | Error e) {
            release(pages);
            throw e;
        }
    }

    /** Pages for an image, counted as live from now on; nobody else has them, so they are written without the monitor. */
    private synchronized long[] take(int count) {
        long[] pages = new long[count];
        int taken = 0;
        try {
            while (taken < count) {
                pages[taken] = nextPage();
                taken++;
            }
            return pages;
        } catch (RuntimeException | Error e) {
            release(pages, taken);
            throw e;
        }
    }

    /** The next page; it counts as live at once, since an image may be longer than an extent. */
    private long nextPage() {
        if (nextPage == PageLayout.EXTENT_PAGES && extent >= 0 && isUnused(extent)) {
            nextPage = 0; // an image that found no further extent has left it so
        }
        if (extent < 0 || nextPage == PageLayout.EXTENT_PAGES) {
            int full = extent;
            extent = storage.extents().allocate(Purpose.CHECKPOINT);
            extentCount = extentCount + 1;
            nextPage = 0;
            freeWhenUnused(full);
        }
        makeRoomFor(extent);
        livePages[extent]++;
        return ((long) extent << PageLayout.EXTENT_SHIFT) + nextPage++;
    }

    /** The place of a node found at recovery: its extents are marked as used. */
    public synchronized NodePlace recovered(long[] pages, long generation) {
        for (long page : pages) {
            int home = extentOf(page);
            if (isUnused(home)) {
                storage.extents().markUsed(home);
                extentCount = extentCount + 1;
                makeRoomFor(home);
            }
            livePages[home]++;
        }
        return new NodePlace(pages, generation, () -> release(pages));
    }

    private void release(long[] pages) {
        release(pages, pages.length);
    }

    private synchronized void release(long[] pages, int count) {
        for (int i = 0; i < count; i++) {
            int home = extentOf(pages[i]);
            livePages[home]--;
            freeWhenUnused(home);
        }
    }

    private void freeWhenUnused(int home) {
        if (home >= 0 && home != extent && isUnused(home)) {
            extentCount = extentCount - 1;
            storage.free(home);
        }
    }

    private boolean isUnused(int home) {
        return home >= livePages.length || livePages[home] == 0;
    }

    private void makeRoomFor(int home) {
        if (home >= livePages.length) {
            livePages = Arrays.copyOf(livePages, Math.max(home + 1, livePages.length + livePages.length / 2));
        }
    }

    /** Reads an image back, verifying every page. */
    public byte[] read(long[] pages, long generation) {
        long buffer = storage.buffers().allocate(PageLayout.PAGE_BYTES);
        if (buffer == 0) {
            throw new InsufficientMemoryException("no buffer to read a trunk node with");
        }
        try {
            byte[] image = null;
            for (int i = 0; i < pages.length; i++) {
                readPage(buffer, pages[i], generation);
                int length = Memory.getInt(buffer + IMAGE_LENGTH);
                if (length < 0 || length > IMAGE_BYTES_MAX || pages.length != Math.max(1, (length + PART_BYTES - 1) / PART_BYTES)
                        || Memory.getInt(buffer + INDEX) != i || image != null && image.length != length) {
                    throw new CorruptionException(
                            storage.device().name(),
                            pages[i],
                            PageType.TRUNK.name(),
                            "part " + i + " of an image of " + pages.length + " pages",
                            "part " + Memory.getInt(buffer + INDEX) + " of " + length + " bytes");
                }
                if (image == null) {
                    image = new byte[length];
                }
                int from = i * PART_BYTES;
                Memory.copyTo(buffer + PART, image, from, Math.min(PART_BYTES, length - from));
            }
            return image;
        } finally {
            storage.buffers().free(buffer, PageLayout.PAGE_BYTES);
        }
    }

    private void readPage(long buffer, long page, long generation) {
        storage.device().read(page << PageLayout.PAGE_SHIFT, buffer, PageLayout.PAGE_BYTES);
        PageSeal.verify(
                buffer, PageType.TRUNK, storage.storeId(), page, generation, storage.device().name());
    }

    /** Extents that hold node images, for accounting. */
    public int extentCount() {
        return extentCount;
    }

    private static int extentOf(long page) {
        return Math.toIntExact(page >>> PageLayout.EXTENT_SHIFT);
    }
}
