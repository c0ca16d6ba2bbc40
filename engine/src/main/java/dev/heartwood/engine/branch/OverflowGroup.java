package dev.heartwood.engine.branch;

import static dev.heartwood.engine.branch.OverflowLayout.PAGE_PAYLOAD_BYTES;

import dev.heartwood.engine.base.LargeValues;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Extents with large values and ends of long keys, which one writer wrote and any number of branches refer to. Immutable and
 * thread-safe; counted: it gives its extents back when the last branch that refers to it is released.
 */
public final class OverflowGroup implements LargeValues {
    /*
     * referencedBytes is the sum of what the living branches say they refer to. While a branch and the one merged from it live
     * side by side it counts twice, so it overestimates what is alive and never underestimates it.
     */
    private static final int BULK_PAGES_MIN = 16;
    /** Extents of a value that are being read behind the one that is copied. */
    private static final int EXTENTS_AHEAD = 3;

    private final BranchStorage storage;
    private final long id;
    private final int[] extents;
    private final long bytes;
    private final AtomicInteger references = new AtomicInteger(1);
    private final Runnable releasing;
    private final AtomicLong referencedBytes = new AtomicLong();

    OverflowGroup(BranchStorage storage, long id, int[] extents, long bytes) {
        this.storage = storage;
        this.id = id;
        this.extents = extents;
        this.bytes = bytes;
        this.releasing = storage.releaser().releasing(extents);
    }

    /** The number that no other group of the store has. */
    public long id() {
        return id;
    }

    /** The extents, in order; not to be changed. */
    public int[] extents() {
        return extents;
    }

    /** What the group holds, alive or not. */
    public long bytes() {
        return bytes;
    }

    /** At most this much of {@link #bytes} is still referred to. */
    public long referencedBytes() {
        return Math.min(referencedBytes.get(), bytes);
    }

    /** The number of pages. */
    public int pageCount() {
        return (int) ((bytes + PAGE_PAYLOAD_BYTES - 1) / PAGE_PAYLOAD_BYTES);
    }

    void retain(long bytesReferredTo) {
        int before = references.getAndIncrement();
        if (before <= 0) {
            throw new IllegalStateException("overflow group " + id + " is released");
        }
        referencedBytes.addAndGet(bytesReferredTo);
    }

    void release(long bytesReferredTo) {
        referencedBytes.addAndGet(-bytesReferredTo);
        int left = references.decrementAndGet();
        if (left == 0) {
            releasing.run();
        } else if (left < 0) {
            throw new IllegalStateException("overflow group " + id + " is released twice");
        }
    }

    @Override
    public void read(long position, long to, long length) {
        requireWithin(position, length);
        long page = position / PAGE_PAYLOAD_BYTES;
        int offset = (int) (position % PAGE_PAYLOAD_BYTES);
        int endPage = pageOf(position + length - 1) + 1;
        long broughtTo = page;
        long done = 0;
        while (done < length) {
            if (offset == 0 && length - done >= (long) BULK_PAGES_MIN * PAGE_PAYLOAD_BYTES) {
                long whole = readBulk((int) page, to + done, (length - done) / PAGE_PAYLOAD_BYTES);
                page += whole;
                done += whole * PAGE_PAYLOAD_BYTES;
                if (whole > 0) {
                    continue;
                }
            }
            int part = (int) Math.min(PAGE_PAYLOAD_BYTES - offset, length - done);
            boolean isBulkBehind = offset > 0 && length - done - part >= (long) BULK_PAGES_MIN * PAGE_PAYLOAD_BYTES;
            if (page >= broughtTo && !isBulkBehind) {
                broughtTo = extentEnd((int) page, endPage);
                if (broughtTo - page > 1) {
                    bring((int) page, (int) broughtTo, true);
                }
            }
            long address = lockPatiently((int) page);
            try {
                Memory.copy(address + OverflowLayout.BYTES + offset, to + done, part);
            } finally {
                storage.file().unlockShared(address);
            }
            done += part;
            page++;
            offset = 0;
        }
    }

    @Override
    public void read(long position, MemorySegment to, long offset, long length) {
        read(position, to, offset, length, false);
    }

    /** As the other method; not inside an epoch, since it waits for operations that hold all memory for pages. */
    public void readPatiently(long position, MemorySegment to, long offset, long length) {
        read(position, to, offset, length, true);
    }

    private void read(long position, MemorySegment to, long offset, long length, boolean patient) {
        requireWithin(position, length);
        if (to.isNative()) {
            java.util.Objects.checkFromIndexSize(offset, length, to.byteSize());
        }
        int endPage = pageOf(position + length - 1) + 1;
        long done = 0;
        while (done < length) {
            int page = pageOf(position + done);
            int end = extentEnd(page, endPage);
            beginBehind(end, endPage, done == 0, patient);
            boolean isPastCache = end - page > 1 && !bring(page, end, patient);
            long buffer = isPastCache ? storage.pool().allocate(PageLayout.EXTENT_BYTES) : 0;
            long part = Math.min(length - done, (long) end * PAGE_PAYLOAD_BYTES - position - done);
            if (buffer == 0) {
                copyCached(position + done, to, offset + done, part, patient);
            } else {
                copyPastCache(buffer, position + done, to, offset + done, part);
            }
            done += part;
        }
    }

    /** Begins to read what is behind an extent's part of a value while that is waited for. */
    private void beginBehind(int page, int endPage, boolean isFirst, boolean isScan) {
        int next = page;
        for (int i = 1; i <= EXTENTS_AHEAD && next < endPage; i++) {
            int end = extentEnd(next, endPage);
            if (isFirst || i == EXTENTS_AHEAD) {
                begin(next, end, isScan);
            }
            next = end;
        }
    }

    /**
     * Begins to read a value that is to be looked up, unless it is there: as far as its first extent goes, from which on {@link #read} reads ahead by
     * itself.
     */
    boolean begins(long position, long length) {
        int page = pageOf(position);
        int end = extentEnd(page, pageOf(position + length - 1) + 1);
        for (int i = page; i < end; i++) {
            if (!storage.file().isReady(devicePage(i))) {
                begin(page, end, false);
                return true;
            }
        }
        return false;
    }

    /** Begins to read pages of an extent into the cache; those of scans go before others. Returns how many of the first are there or on their way. */
    private int begin(int page, int end, boolean isScan) {
        CachedFile file = storage.file();
        long at = devicePage(page);
        int count = end - page;
        return isScan ? file.prefetch(at, count, PageType.OVERFLOW, id) : file.begin(at, count, PageType.OVERFLOW, id);
    }

    /**
     * Has some neighbouring pages of an extent read at once: a few by this thread, which waits better for one read than for what others may have
     * begun. Returns false where several are still absent, for want of frames: those evicted for a value are free only once whoever reads it has
     * left its epoch.
     */
    private boolean bring(int page, int end, boolean isScan) {
        int few = CachedFile.BRING_PAGES_MAX;
        int count = end - page;
        if (count > few && begin(page, end, isScan) == count) {
            return true;
        }
        for (int from = page; from < end; from += few) {
            storage.file().bring(devicePage(from), Math.min(few, end - from), PageType.OVERFLOW, id, isScan);
        }
        int absent = 0;
        for (int i = page; i < end; i++) {
            absent += isCached(i) ? 0 : 1;
        }
        return absent < 2;
    }

    private void copyCached(long position, MemorySegment to, long offset, long length, boolean patient) {
        long done = 0;
        while (done < length) {
            long at = position + done;
            int inPage = (int) (at % PAGE_PAYLOAD_BYTES);
            int part = (int) Math.min(PAGE_PAYLOAD_BYTES - inPage, length - done);
            long address = patient ? lockPatiently(pageOf(at)) : lock(pageOf(at));
            try {
                Memory.copyTo(address + OverflowLayout.BYTES + inPage, to, offset + done, part);
            } finally {
                storage.file().unlockShared(address);
            }
            done += part;
        }
    }

    /** Copies bytes of one extent by way of a buffer, which the pool gets back. */
    private void copyPastCache(long buffer, long position, MemorySegment to, long offset, long length) {
        try {
            int page = pageOf(position);
            int count = pageOf(position + length - 1) + 1 - page;
            storage.file().readExtent(devicePage(page), count, buffer, PageType.OVERFLOW, id);
            long done = 0;
            while (done < length) {
                long at = position + done;
                int inPage = (int) (at % PAGE_PAYLOAD_BYTES);
                int part = (int) Math.min(PAGE_PAYLOAD_BYTES - inPage, length - done);
                long from = buffer + ((long) (pageOf(at) - page) << PageLayout.PAGE_SHIFT);
                Memory.copyTo(from + OverflowLayout.BYTES + inPage, to, offset + done, part);
                done += part;
            }
        } finally {
            storage.pool().free(buffer, PageLayout.EXTENT_BYTES);
        }
    }

    private static int extentEnd(int page, int endPage) {
        return Math.min(endPage, (page | PageLayout.EXTENT_PAGES - 1) + 1);
    }

    boolean isCached(int page) {
        return storage.file().isCached(devicePage(page));
    }

    /** Starts reading pages from {@code firstPage} to before {@code endPage} into the cache; advice only. */
    void prefetch(int firstPage, int endPage) {
        for (int page = firstPage; page < endPage; ) {
            int end = extentEnd(page, endPage);
            begin(page, end, true);
            page = end;
        }
    }

    /** The page of the group that has the byte at {@code position}. */
    static int pageOf(long position) {
        return (int) (position / PAGE_PAYLOAD_BYTES);
    }

    /** Whether bytes of the group lie on one page. */
    static boolean isOnOnePage(long position, int length) {
        return pageOf(position) == pageOf(position + length - 1);
    }

    /** The address of bytes that lie on one page, inside an epoch. */
    long address(long position) {
        long page = storage.file().page(devicePage(pageOf(position)), PageType.OVERFLOW, id);
        return page + OverflowLayout.BYTES + position % PAGE_PAYLOAD_BYTES;
    }

    /** Compares {@code length} bytes of the group, as unsigned, with {@code otherLength} bytes in memory. */
    int compare(long position, int length, long other, int otherLength) {
        int shared = Math.min(length, otherLength);
        int done = 0;
        while (done < shared) {
            long at = position + done;
            int inPage = (int) (at % PAGE_PAYLOAD_BYTES);
            int part = Math.min(PAGE_PAYLOAD_BYTES - inPage, shared - done);
            long address = lock((int) (at / PAGE_PAYLOAD_BYTES));
            int order;
            try {
                order = Memory.compare(address + OverflowLayout.BYTES + inPage, part, other + done, part);
            } finally {
                storage.file().unlockShared(address);
            }
            if (order != 0) {
                return order;
            }
            done += part;
        }
        return length - otherLength;
    }

    /** Reads up to {@code pages} whole pages of one extent past the cache; returns how many, 0 when there is no buffer. */
    private long readBulk(int page, long to, long pages) {
        long buffer = storage.pool().allocate(PageLayout.EXTENT_BYTES);
        if (buffer == 0) {
            return 0;
        }
        try {
            int inExtent = PageLayout.EXTENT_PAGES - (page & PageLayout.EXTENT_PAGES - 1);
            int count = (int) Math.min(inExtent, pages);
            storage.file().readExtent(devicePage(page), count, buffer, PageType.OVERFLOW, id);
            for (int i = 0; i < count; i++) {
                Memory.copy(
                        buffer + (long) i * PageLayout.PAGE_BYTES + OverflowLayout.BYTES,
                        to + (long) i * PAGE_PAYLOAD_BYTES,
                        PAGE_PAYLOAD_BYTES);
            }
            return count;
        } finally {
            storage.pool().free(buffer, PageLayout.EXTENT_BYTES);
        }
    }

    private long lock(int page) {
        return storage.file().lockShared(devicePage(page), PageType.OVERFLOW, id);
    }

    private long lockPatiently(int page) {
        return storage.file().lockSharedPatiently(devicePage(page), PageType.OVERFLOW, id);
    }

    /** The page of the file that holds page {@code page} of the group. */
    long devicePage(int page) {
        return Extents.devicePage(extents, page);
    }

    private void requireWithin(long position, long length) {
        if (position < 0 || length < 0 || position > bytes - length) {
            throw new IndexOutOfBoundsException(
                    length + " bytes at " + position + " of the " + bytes + " in overflow group " + id);
        }
    }
}
