package dev.heartwood.engine.log;

/**
 * Which segments lanes will need.
 *
 * @param least the size, in bytes, that suits the lane which needs least
 * @param most the size that suits the lane which needs most; the largest there is while nothing is known of any
 */
record SegmentSizes(long least, long most) {
    /** Whether a used file of so many bytes is worth keeping. */
    boolean suit(long bytes, long bytesMax) {
        return bytes >= least / 2 && bytes <= Math.min(2 * most, bytesMax);
    }
}
