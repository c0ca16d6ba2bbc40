package dev.heartwood.engine.branch;

import static dev.heartwood.engine.branch.OverflowLayout.PAGE_PAYLOAD_BYTES;

import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;

/** Writes the one overflow group of a branch under construction. Belongs to one thread. */
final class OverflowWriter {
    /** What may be left of a page so that the next value, if it fits into one, does not take two reads. */
    private static final int UNUSED_BYTES_MAX = PAGE_PAYLOAD_BYTES / 16;

    private final BranchStorage storage;
    private final long id;
    private final PageStream stream;
    private long page;
    private int used = PAGE_PAYLOAD_BYTES;
    private long bytes;

    OverflowWriter(BranchStorage storage, long id, WriteMode mode) {
        this.storage = storage;
        this.id = id;
        this.stream = new PageStream(storage, id, mode);
    }

    /** Where what is appended next will lie, {@code length} bytes: on the next page when it would span two for the sake of a few. */
    long begin(long length) {
        int room = PAGE_PAYLOAD_BYTES - used;
        if (room > 0 && length > room && room <= UNUSED_BYTES_MAX && length <= PAGE_PAYLOAD_BYTES) {
            Memory.fill(page + OverflowLayout.BYTES + used, room, 0);
            advance(room);
        }
        return bytes;
    }

    /** Appends bytes from memory. */
    void append(long address, long length) {
        long done = 0;
        while (done < length) {
            int part = (int) Math.min(room(), length - done);
            Memory.copy(address + done, page + OverflowLayout.BYTES + used, part);
            advance(part);
            done += part;
        }
    }

    /** Appends an array of the Java heap. */
    void append(byte[] value) {
        int done = 0;
        while (done < value.length) {
            int part = Math.min(room(), value.length - done);
            Memory.copyFrom(value, done, page + OverflowLayout.BYTES + used, part);
            advance(part);
            done += part;
        }
    }

    /** Appends bytes of another group. */
    void append(OverflowGroup from, long position, long length) {
        long done = 0;
        while (done < length) {
            int part = (int) Math.min(room(), length - done);
            from.read(position + done, page + OverflowLayout.BYTES + used, part);
            advance(part);
            done += part;
        }
    }

    private int room() {
        if (used == PAGE_PAYLOAD_BYTES) {
            page = stream.append(PageType.OVERFLOW);
            used = 0;
        }
        return PAGE_PAYLOAD_BYTES - used;
    }

    private void advance(int part) {
        used += part;
        bytes += part;
    }

    OverflowGroup finish() {
        Memory.fill(page + OverflowLayout.BYTES + used, PAGE_PAYLOAD_BYTES - used, 0);
        stream.writeBuffered();
        stream.awaitWritten();
        stream.close();
        return new OverflowGroup(storage, id, stream.extents(), bytes);
    }

    /** Gives the memory back. Idempotent. */
    void close() {
        stream.close();
    }

    /** Gives back the memory and everything written. */
    void abort() {
        stream.abort();
    }

    /** Bytes of the file that the group takes so far. */
    long fileBytes() {
        return (long) stream.pageCount() << PageLayout.PAGE_SHIFT;
    }
}
