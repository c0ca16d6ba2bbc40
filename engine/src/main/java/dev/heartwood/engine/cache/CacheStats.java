package dev.heartwood.engine.cache;

/**
 * A cache at one moment; all counts are of pages.
 *
 * @param bytes the memory taken from the pool
 * @param bytesBorrowed the memory borrowed of others for pages that were evicted
 * @param frames the pages it has room for
 * @param framesAvailable those that hold nothing
 * @param framesOfMaps those that hold the direct maps of the files
 * @param framesDirty those not written back yet
 * @param loads pages read by an operation that missed them
 * @param prefetches pages read ahead of need
 * @param transientLoads pages read past the cache because no frame could be had
 * @param broughtBack pages that missed and came from there instead of from the device
 * @param evictions pages dropped to make room
 * @param writtenBack dirty pages written to the device
 * @param writtenThrough pages written past the cache
 * @param discardedDirty pages freed before they were ever written
 */
public record CacheStats(
        long bytes,
        long bytesBorrowed,
        int frames,
        int framesAvailable,
        int framesOfMaps,
        int framesDirty,
        long loads,
        long prefetches,
        long transientLoads,
        long broughtBack,
        long evictions,
        long writtenBack,
        long writtenThrough,
        long discardedDirty) {}
