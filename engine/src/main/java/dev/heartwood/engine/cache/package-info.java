/**
 * The page cache: fixed memory shared by all stores of an environment, through which every page of a data file is read and new
 * pages are written.
 *
 * <p>Layer: above {@code base}, {@code os}, {@code device} and {@code page}. Callers see {@link
 * dev.heartwood.engine.cache.PageCache}, {@link dev.heartwood.engine.cache.CachedFile} and {@link
 * dev.heartwood.engine.cache.ExtentReader}.
 *
 * <h2>Who does what</h2>
 *
 * <pre>
 *  CachedFile ----- hit: DirectMap -> FrameTable                     (no lock, no allocation)
 *     |------------ miss: PageLoader -> FrameSource -> FrameSupply   (free frames, limbo)
 *     |                       |              |-------> Clock, ColdQueue   (eviction)
 *     |                       |              |-------> VictimCache        (copies of what is evicted)
 *     |                       |              `-------> WriteBack          (when all is dirty)
 *     |                       |-> VictimCache                           (comes back without a read)
 *     |                       `-> LoadWaits (others wait), TransientPages (no frame to be had)
 *     |------------ new pages: DirtyPages -> DirtyQueue -> WriteBack -> ExtentWriter
 *     |------------ read ahead: Prefetcher -> PrefetchLane; past the cache: ExtentReader
 *     `------------ freed pages: PageDropper
 * </pre>
 *
 * <h2>Invariants</h2>
 *
 * <ol>
 *   <li>A published page is sealed and never changes; what came from the device was verified before it was published.
 *   <li>A map entry is absent (0), loading (-frame) or published (frame). Only the thread, or the prefetch lane, that made it
 *       negative ends the load, and does so whatever is thrown: who wants the page looks until it has ended. Only the holder of the
 *       frame's write lock makes a published entry absent.
 *   <li>A part of a map is there as long as it has an entry that is not absent, and may go, its frame at once free, when it has none.
 *       So who owns an entry changes it without more ado; an absent one is changed under the map's lock, or beside one that is owned;
 *       and who reads one looks whether its part is still the same ({@code DirectMap}).
 *   <li>A frame that is free, in limbo, being filled or part of a map is write-locked; one that is published is locked only by
 *       shared holders, or briefly by its evictor.
 *   <li>A frame leaves limbo only when every operation has ended that was active when its page was unpublished. So inside an
 *       epoch a page's address stays valid without a lock.
 *   <li>A dirty page is neither evicted nor, after a failed write, dropped; discarding and closing are the only ways to lose
 *       one, and both are the caller's word that it is not needed.
 *   <li>A page number is used anew only after {@code discard} returned. The caller guarantees that nobody reads or asks for the
 *       page any more; the cache guarantees that from then on no read or write of its own on it is under way.
 *   <li>A failed load leaves the page absent and throws to the thread that loaded; waiters load for themselves.
 *   <li>The first failed write to a file is final for that file: nothing more is written, what is dirty stays readable.
 *   <li>An operation never waits for another operation's epoch without bound: without a frame it goes past the cache.
 *   <li>What was evicted is put into the victim cache before its entry is absent, and nobody has an address of what lies there. So who
 *       has found an entry absent, and discards the page, drops the copy for good; and memory that others have lent is given back at once.
 * </ol>
 *
 * <h2>Shared fields</h2>
 *
 * <pre>
 *  field                    read                written                guarded by
 *  map: directory           volatile            volatile               the map's lock
 *  its elements             acquire, twice      release                the map's lock
 *  map entry                acquire             CAS, volatile          see invariants 2 and 3
 *  frame: owner             plain               plain                  its write lock; of part of a map a hint
 *  frame: status            acquire             release                its write lock; DIRTY to CLEAN: the extent's writing bits
 *  frame: mark (accessed)   plain               plain                  none: a hint
 *  frame: link              volatile            release                FrameSupply's lock
 *  frame: cold link         plain               plain                  ColdQueue's lock
 *  frame: lock              see DistributedLock
 *  dirty and writing bits   plain               plain                  DirtyQueue's lock
 *  failure of a file        volatile            volatile               DirtyQueue's lock
 * </pre>
 *
 * <p>Lock order: a prefetch lane, then a frame's write lock, then one of: the lock of a map, FrameSupply, ColdQueue,
 * DirtyQueue, TransientPages, a lot of LoadWaits, FileTable, a set of the VictimCache. No two of the last group are held together. Of the frames'
 * locks, only fresh ones and, by {@code tryLockWrite}, victims are held several at a time. Who borrows or gives back has the lock of the
 * VictimCache, and then that of a set or of the lender's pool; who finds no memory in that pool comes with whatever it holds.
 *
 * <h2>Paper</h2>
 *
 * <p>"SplinterDB: Closing the Bandwidth Gap for NVMe Key-Value Stores", section 5.2. Differences:
 *
 * <ul>
 *   <li>Short reads take no lock: eviction is by epochs. Locks serve readers that stay longer, and eviction.
 *   <li>Reader counters are ints that are summed, not bytes of one thread each: any number of threads, virtual ones too.
 *   <li>Hands of the clock have 16 frames instead of 64, and are acquired by the thread that needs frames, one at a time; free frames are in one list.
 *   <li>Pages that come in by scans and merges are evicted first, so they do not flush the hot ones.
 *   <li>Write-back is by extent in the order in which extents became dirty, not by the clock's position, since pages of one
 *       extent are scattered over the frames; and late, since what is freed first is never written. What its writer expects to
 *       last goes before all that it does not.
 *   <li>Memtables and trunk nodes do not live here.
 * </ul>
 */
package dev.heartwood.engine.cache;
