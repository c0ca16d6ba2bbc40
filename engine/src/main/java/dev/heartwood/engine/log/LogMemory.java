package dev.heartwood.engine.log;

import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.page.PageLayout;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** How much of the segments that are written may be in memory. Thread-safe. */
final class LogMemory {
    private final long segmentBytesMax;
    private volatile LongSupplier limit = () -> Long.MAX_VALUE;
    private volatile int lanesUsed = 1;
    private final AtomicLong bytesHeld = new AtomicLong();

    LogMemory(long segmentBytesMax) {
        this.segmentBytesMax = segmentBytesMax;
    }

    /** Sets what all lanes together may have, asked whenever there is to be more. */
    void limit(LongSupplier bytesMax) {
        limit = bytesMax;
    }

    /** Sets how many lanes share it. */
    void lanesUsed(int lanes) {
        lanesUsed = lanes;
    }

    /** Counts what of a mapping is in memory from now on until it is closed. */
    MappedFile counted(MappedFile file) {
        return new CountedMapping(file, bytesHeld);
    }

    /** What of all that is counted is in memory. */
    long bytesHeld() {
        return bytesHeld.get();
    }

    /** What a lane has of the segment that it writes. */
    long windowBytes() {
        long share = share();
        return Math.max(share - readyBytes(share), LogOptions.SEGMENT_BYTES_LEAST) & -PageLayout.PAGE_BYTES;
    }

    /** What a lane has of the segment that is ready to follow it. */
    long readyBytes() {
        return readyBytes(share()) & -PageLayout.PAGE_BYTES;
    }

    /** All of it where there is memory for two, and else little, so that the window need not be moved often. */
    private long readyBytes(long share) {
        boolean isWhole = share / 2 >= segmentBytesMax;
        return isWhole ? share / 2 : Math.max(share / 8, LogOptions.SEGMENT_BYTES_LEAST);
    }

    private long share() {
        return limit.getAsLong() / lanesUsed;
    }
}
