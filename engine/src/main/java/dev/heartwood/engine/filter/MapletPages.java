package dev.heartwood.engine.filter;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.extent.Purpose;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.engine.task.TimeSlice;
import java.util.Arrays;

/** Writes the pages of one maplet, an extent at a time. Frees what it wrote unless all of it was written. For one thread. */
final class MapletPages implements AutoCloseable {
    private final MapletStorage storage;
    private final long mapletId;
    private final WriteMode writeMode;
    private final MapletShape shape;
    private final FilterPageWriter writer;
    private final Purpose purpose;
    private final int[] taken;
    private final long bufferBytes;
    private long buffer;
    private int takenCount;
    private boolean complete;
    /** Pages finished. */
    private int pages;
    /** Whether a page had no room for its entries. */
    private boolean overflowed;

    private final int[] valueEntries = new int[Long.SIZE];
    private long duplicates;

    MapletPages(MapletStorage storage, long mapletId, WriteMode writeMode, MapletShape shape) {
        this.storage = storage;
        this.mapletId = mapletId;
        this.writeMode = writeMode;
        this.purpose = writeMode == WriteMode.CACHED ? Purpose.PACKING : Purpose.COMPACTION;
        this.shape = shape;
        this.writer = new FilterPageWriter(shape);
        this.taken = new int[shape.pages + PageLayout.EXTENT_PAGES - 1 >>> PageLayout.EXTENT_SHIFT];
        this.bufferBytes = (long) Math.min(shape.pages, PageLayout.EXTENT_PAGES) * PageLayout.PAGE_BYTES;
        this.buffer = storage.pool().allocate(bufferBytes);
        if (buffer == 0) {
            throw new InsufficientMemoryException(
                    "the memory budget has no room for " + bufferBytes + " bytes to write a maplet");
        }
    }

    /** Writes all entries; returns null, having written some, when a page has no room for its own. */
    Maplet write(EntryMerge entries) {
        TimeSlice slice = new TimeSlice();
        beginPage();
        boolean more = entries.next();
        while (more) {
            slice.check();
            while (shape.page(entries.fingerprint()) > pages) {
                finishPage();
                beginPage();
            }
            more = fillPage(entries);
            if (overflowed) {
                return null;
            }
        }
        while (pages < shape.pages) {
            finishPage();
            if (pages < shape.pages) {
                beginPage();
            }
        }
        Maplet maplet = new Maplet(mapletId, taken, shape, usedValueEntries(), duplicates, storage.releaser());
        complete = true;
        return maplet;
    }

    @Override
    public void close() {
        storage.pool().free(buffer, bufferBytes);
        if (!complete) {
            for (int i = 0; i < takenCount; i++) {
                storage.file().discard((long) taken[i] << PageLayout.EXTENT_SHIFT, PageLayout.EXTENT_PAGES);
                storage.extents().giveBack(taken[i], purpose);
            }
        }
    }

    /** Adds the entries of the page under way, of which there is one; whether one of a later page follows. */
    private boolean fillPage(EntryMerge entries) {
        int behind = shape.blocks << FilterLayout.BLOCK_SHIFT;
        long number = shape.number(entries.fingerprint());
        int home = shape.homeOf(number, pages);
        do {
            long values = entries.values();
            if (!writer.add(home, shape.remainderOf(number), values)) {
                overflowed = true;
                return false;
            }
            count(values);
            if (!entries.next()) {
                return false;
            }
            number = shape.number(entries.fingerprint());
            home = shape.homeOf(number, pages);
        } while (home < behind);
        return true;
    }

    private void count(long values) {
        duplicates += Long.bitCount(values) - 1;
        for (long rest = values; rest != 0; rest &= rest - 1) {
            valueEntries[Long.numberOfTrailingZeros(rest)]++;
        }
    }

    private int[] usedValueEntries() {
        int length = Long.SIZE;
        while (length > 0 && valueEntries[length - 1] == 0) {
            length--;
        }
        return Arrays.copyOf(valueEntries, length);
    }

    private void beginPage() {
        int inExtent = pages & PageLayout.EXTENT_PAGES - 1;
        if (inExtent == 0) {
            taken[takenCount] = storage.extents().allocate(purpose);
            takenCount++;
        }
        writer.begin(buffer + (long) inExtent * PageLayout.PAGE_BYTES);
    }

    private void finishPage() {
        writer.finish();
        int inExtent = pages & PageLayout.EXTENT_PAGES - 1;
        long firstPage = (long) taken[takenCount - 1] << PageLayout.EXTENT_SHIFT;
        long address = buffer + (long) inExtent * PageLayout.PAGE_BYTES;
        PageSeal.seal(address, PageType.FILTER, storage.storeId(), firstPage + inExtent, mapletId);
        pages++;
        if (inExtent == PageLayout.EXTENT_PAGES - 1 || pages == shape.pages) {
            switch (writeMode) {
                case CACHED, MERGED -> storage.file().insertDirty(firstPage, inExtent + 1, buffer);
                case LASTING -> storage.file().insertLasting(firstPage, inExtent + 1, buffer);
                case THROUGH -> storage.file().writeThrough(firstPage, inExtent + 1, buffer);
            }
        }
    }
}
