/**
 * Branches: immutable, packed B-trees of entries, the unit in which data lies on the device.
 *
 * <p>Layer: above {@code extent}, beside {@code filter}; below {@code trunk}. The paper's branches (SplinterDB, section 3: the trees
 * that a trunk node's bundles refer to).
 *
 * <p>How it hangs together: {@link dev.heartwood.engine.branch.BranchWriter} takes entries in order and lays them out ({@code
 * PageBuilder}) into leaves, with an index growing beside them ({@code IndexBuilder}) and large values in an overflow group
 * ({@code OverflowWriter}); all three write extents through {@code PageStream}. What comes out is a {@link
 * dev.heartwood.engine.branch.Branch}, a descriptor on the heap. {@link dev.heartwood.engine.branch.BranchReader} finds one key,
 * {@link dev.heartwood.engine.branch.BranchCursor} walks, {@link dev.heartwood.engine.branch.MergeCursor} merges; all read pages in
 * place through {@code KeyedPage}. {@link dev.heartwood.engine.branch.BranchVerifier} checks everything.
 *
 * <p>Pages of a branch are numbered from 0 in the order of its list of extents, 32 to each:
 *
 * <pre>
 *  [leaf 0 .. leaf n-1] (gap) [index level 1] [index level 2] .. [root]
 * </pre>
 *
 * <p>There is a gap, up to the end of the extent, when level 1 fills more than one extent: it is then written while the leaves are
 * and begins an extent. A branch of one leaf has no index page. The layouts are in {@code KeyedPageLayout}, {@code OverflowLayout}
 * and {@code BranchCodec}.
 *
 * <p>Values in two pieces: where the last entry of a leaf has room for a part of its value only, the rest goes on in the next leaf ({@code
 * PageBuilder.addContinued}), so that records of 1 KiB do not leave a quarter of each page empty. The leaf says so, and the separator behind it
 * is that entry's own key, so that a point search knows from the index which entries take two leaves, and reads both at once. It puts the
 * pieces together in the caller's memory ({@code FoundEntry.room}), a cursor in a buffer of its own.
 *
 * <p>Large values: a value over 1280 bytes lies in an overflow group, and the entry refers to it by group, position and length. A
 * key over 1024 bytes keeps its first 256 bytes in the entry and the rest in the group. A merge passes references on, so that
 * large values are not rewritten; a group of which less than half is still referred to is copied from instead, and goes when the
 * last branch that refers to it goes. A merge may also copy all of them, in the order of keys ({@code BranchWriter.gatherLargeValues}):
 * after many merges neighbours lie in as many groups as there were memtables, and of a group that many branches share nothing is free before
 * all of them have let go of it. A value begins on a new page when it would span two for the
 * sake of a few bytes. Callers get a large value's bytes by {@link dev.heartwood.engine.base.LargeValues}, in pieces
 * as they like, or from a cursor in one piece by {@code valueAddress()}; a point search that finds it on one page gives its address.
 * A cursor that takes one value after the other has those that follow read at once, by what the leaf says of them ({@code
 * LargeValuesAhead}).
 *
 * <p>Invariants:
 *
 * <ol>
 *   <li>Entries are in order: keys ascending as unsigned bytes, the versions of a key by descending sequence number.
 *   <li>Between two children of an index page, the separator is above every entry to the left and at or below every entry to the
 *       right; or, where the last value on the left goes on to the right, it is that entry's key, and below all to the right. So a search visits one leaf, also when the versions of its key span several.
 *   <li>Pages are never changed once written. Every page carries the branch's id (an overflow page its group's) as its
 *       generation.
 *   <li>Whatever a page says, nothing outside of it is read through it, children are in the level below, and references lie within
 *       their group; anything else is a {@code CorruptionException}.
 *   <li>A branch holds a reference to each of its overflow groups; a cursor holds one to its branch.
 * </ol>
 *
 * <p>Shared fields: {@code Branch.references}, {@code OverflowGroup.references} and {@code OverflowGroup.referencedBytes} are atomic
 * counters; everything else in the two is final. All other classes belong to one thread. No locks are held here but the shared
 * page locks of the cache, at most one page of each cursor at a time, and no page is locked while a leaf of the same cursor is,
 * other than overflow and index pages, and the next leaf where a value goes on there, for the length of one read.
 *
 * <p>Differences from the paper: common prefixes are stored once per page and searches count key heads; large values are shared
 * by reference between branches; a branch's extents are listed in its descriptor, so that freeing it reads no page; children of
 * an index page are consecutive and only the first is named.
 */
package dev.heartwood.engine.branch;
