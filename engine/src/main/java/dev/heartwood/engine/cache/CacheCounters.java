package dev.heartwood.engine.cache;

import java.util.concurrent.atomic.LongAdder;

/** What happened in a cache since it was made. Hits are not counted: that would cost more than the hit. Thread-safe. */
final class CacheCounters {
    final LongAdder loads = new LongAdder();
    final LongAdder prefetches = new LongAdder();
    final LongAdder transientLoads = new LongAdder();
    final LongAdder broughtBack = new LongAdder();
    final LongAdder evictions = new LongAdder();
    final LongAdder writtenBack = new LongAdder();
    final LongAdder writtenThrough = new LongAdder();
    final LongAdder discardedDirty = new LongAdder();
}
