/**
 * The in-memory ordered index: takes every write first, answers for the newest entries, and is packed into a branch once full.
 *
 * <p>Layer: above {@code base} and {@code os}; a sibling of {@code log}, which it does not know. Paper: section 2 (memtables) and
 * 5.4 (sequence numbers across the threads' logs).
 *
 * <p>Structure: each writer appends records to the arena of its {@code Lane}; a {@code HashIndex} leads from a key to its newest
 * record, and records lead to older versions; {@code OrderedViews} sorts what has come in since the last time when a cursor is
 * made, by {@code KeyHeads}, which tell most keys apart without touching their records. {@code Records} documents the layout in
 * memory. Nothing here reaches a disk.
 *
 * <p>Invariants:
 *
 * <ol>
 *   <li>A record's bytes never change once it is reachable, except the link to the next older version.
 *   <li>A version chain descends by sequence; of equal sequences the one inserted later comes first.
 *   <li>An insert with a reservation succeeds, also when the pool is empty: a record and its overflow node lie in reserved
 *       arena bytes.
 *   <li>The records of an open batch are the last in their lane.
 *   <li>A sorted run and a view are immutable, until {@code Memtable.release} gives the arrays of the last view to other memtables. A
 *       view has the whole of a batch or nothing of it.
 *   <li>Memory that readers can reach is given back only by {@code Memtable.release}: chunks, also replaced index tables.
 * </ol>
 *
 * <p>Locks, in the order they may be taken: the caller's lane; {@code OrderedViews.lock}, or {@code Partition.growing}, then the
 * monitor of {@code HashIndex}, then {@code PoolBlocks.lock} or the monitor of {@code SortArrays}. The spin lock of a {@code
 * Partition} is the innermost: under it nothing else is taken and nothing blocks.
 *
 * <p>Shared fields are listed, with how they are accessed, in {@code Lane}, {@code Partition} and {@code OrderedViews}.
 *
 * <p>Differences from the paper: a hash index in place of a B-tree, since most searches are for one key and the order is needed
 * by scans and by the packing only.
 */
package dev.heartwood.engine.memtable;
