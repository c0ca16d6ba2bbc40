/**
 * The engines that are measured, each behind {@link dev.heartwood.bench.engine.Engine}. Above {@code
 * bench.workload}, below the driver.
 *
 * <p>Invariants:
 *
 * <ol>
 *   <li>A {@link dev.heartwood.bench.engine.Session} belongs to one thread and works on that thread's {@link
 *       dev.heartwood.bench.engine.RecordBuffer}: the key, the value to write, the value read. Every engine
 *       copies what it reads into the same buffer, in point reads and in scans alike.
 *   <li>Adapters allocate nothing per operation where their engine's interface permits it.
 *   <li>{@code settle} leaves nothing behind that could disturb the engine that is measured next: memtables
 *       written, merges finished, dirty pages of the operating system on the device.
 * </ol>
 *
 * <p>How the peers are tuned. "Fits" means that the memory is at least 1.2 times the keys and values.
 *
 * <ul>
 *   <li><b>RocksDB</b>: one HyperClockCache is the whole budget, and memtables are charged to it. Memtables are
 *       a quarter of the budget, at most 64 MiB; four of them when the data fits, else two. Levelled compaction
 *       with dynamic level sizes, a first level of four memtables, a background job for each processor, two at
 *       least, and one more, as Heartwood has a worker for each and one that packs. Blocks of 4 KiB in format 6 with a hash index in data
 *       blocks, whole-key Bloom filters of 10 bits, no compression since the values are incompressible. Index and filter blocks lie outside the cache when the data fits, which
 *       makes gets faster, else inside, so that the budget is kept. When the data does not fit, reads, flushes
 *       and compactions are direct, so that the operating system's cache is no second, unbounded budget. One
 *       iterator per thread, refreshed before a scan. Direct byte buffers throughout. Several stores share the cache
 *       and, within it, what all memtables may have; a memtable of one is its part of that, at least 1 MiB. Iterators read ahead as
 *       they do by themselves. Where its log is synced, its files are used again, one
 *       more than there are memtables: that gains a tenth to a quarter then, while buffered loads are slower with it (143k and 130k puts a second beside 173k and
 *       164k) and written more often. They count as its disk. A row cache of a quarter of the budget, beside
 *       blocks in the rest, gained nothing that the device's noise shows (reads 0.90 to 1.14, zipfian ones 0.93 to 1.14 times as many, five pairs).
 *   <li>All engines' processes have two arenas of the C library's allocator ({@code MALLOC_ARENA_MAX}), unless the environment says otherwise.
 *   <li><b>LMDB</b>: NOSYNC, WRITEMAP, MAPASYNC and NORDAHEAD; what writes every record (loads, overwrites) in
 *       transactions of 1,000 records, all else in transactions of one; one read transaction per thread, reset and renewed; the binding
 *       checks no arguments. Its cache is the operating system's: run the benchmark in a memory cgroup to hold it to the budget.
 *   <li><b>MVStore</b>: a cache of the budget's size in a heap of twice the budget and 256 MiB, since its
 *       accounting leaves out much of what its pages take; 16 cache segments, its own background thread, no
 *       compression. Its keys and values are arrays, so it allocates.
 * </ul>
 *
 * <p>Settled, before phases of reads, Heartwood has merged each leaf to one run, which is more than it does by itself and counts as
 * written. RocksDB has no compaction pending, and keeps what it has on several levels; <b>rocksdb-compacted</b> has brought all of it to
 * the last one ({@code compactRange}), which counts as written too.
 *
 * <p>Durability: <b>none</b> is RocksDB without its log; <b>buffered</b> is its log without sync, and LMDB's
 * default above, whose writes survive the death of the process as dirty pages; MVStore commits once a second at
 * either level and so promises less. <b>sync</b> is RocksDB with a synced log, LMDB without the three flags and
 * one transaction per write, loads included, and MVStore with a commit and a sync per write.
 */
package dev.heartwood.bench.engine;
