package dev.heartwood.engine.log;

import dev.heartwood.engine.page.PageLayout;

/**
 * The sizes of log segments in bytes, multiples of 4096.
 *
 * @param segmentBytesMin the first segment of a lane; at least 16 KiB
 * @param segmentBytesMax where the growth of a lane's segments ends; a longer record gets a segment of its own size
 */
public record LogOptions(long segmentBytesMin, long segmentBytesMax) {
    /** 64 KiB to 4 MiB. */
    public static final LogOptions DEFAULT = new LogOptions(64 << 10, 4 << 20);

    /** The smallest segment there is. */
    static final long SEGMENT_BYTES_LEAST = 16 << 10;

    private static final long LARGEST_BYTES = 1 << 30;

    /** Checks the limits. */
    public LogOptions {
        if (segmentBytesMin < SEGMENT_BYTES_LEAST || segmentBytesMin % PageLayout.PAGE_BYTES != 0) {
            throw new IllegalArgumentException("segmentBytesMin " + segmentBytesMin);
        }
        if (segmentBytesMax < segmentBytesMin
                || segmentBytesMax > LARGEST_BYTES
                || segmentBytesMax % PageLayout.PAGE_BYTES != 0) {
            throw new IllegalArgumentException("segmentBytesMax " + segmentBytesMax);
        }
    }
}
