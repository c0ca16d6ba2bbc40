/**
 * Which extents of the data file are in use.
 *
 * <p>Layer: above {@code cache}, below everything that owns extents. An extent is {@value
 * dev.heartwood.engine.page.PageLayout#EXTENT_PAGES} pages; extent {@code e} is the pages from {@code e * 32}.
 *
 * <p>Invariants:
 *
 * <ol>
 *   <li>An extent has at most one owner: allocating marks it, freeing it twice or marking it twice is refused.
 *   <li>Nothing here is durable. At open the map is rebuilt from what the trunk references, so it cannot be out of step.
 *   <li>The blocks of an allocated extent exist in the file system: writing to it cannot fail for want of space. One whose blocks were
 *       given back by {@code discardFree} gets them again first, or is refused.
 *   <li>What a memtable takes when it is packed was promised before it took entries in. Beside all promises some free extents are kept
 *       for compaction and deletes, so that a full store can make room. All that is promised for growth, and what is kept beside it, would
 *       fit with what is in use into the most that the file may grow to, also where the file is longer already.
 *   <li>The extents below the first one given at construction belong to others (superblocks) and are never handed out.
 * </ol>
 *
 * <p>An extent is freed only when nobody can read it any more: after its pages were dropped from the cache by {@code
 * CachedFile.discard} and, when a durable checkpoint references it, after the next one is durable.
 *
 * <p>Differences from the paper: extents have no reference counts here; they belong to one branch or maplet, which is counted.
 */
package dev.heartwood.engine.extent;
