/**
 * The nodes of the tree and what is decided about one of them: immutable nodes ({@code TrunkNode}, {@code Pivot}) that refer to bundles
 * of runs ({@code Bundle}, {@code Run}), a tree at one moment ({@code TrunkVersion}), and what its pages are stored with
 * ({@code TreeStorage}).
 *
 * <p>Layer: above {@code branch}, {@code filter} and {@code memtable}; below {@code image} and {@code trunk}. SplinterDB (ATC'20),
 * sections 2 to 4; level-tiered nodes from TurtleKV, section 3.
 *
 * <p>The rooms: {@code CompactionPolicy} decides what of a node is merged: {@code TieredPolicy} or {@code LevelTieredPolicy}, which share
 * {@code MergingPolicy} ({@code TrunkPolicies} names them all). They go by what {@code NodeMeasure}, {@code RunLevels}, {@code RunUsage}
 * and {@code ScatteredValues} say of its runs, by samples alone ({@code KeySample}). {@code TreeShape} has the limits, and
 * {@code KeySpread} what is known of the keys, which trees of hashed keys go by. {@code NodeMemo} remembers what was decided,
 * {@code FilterLimit} leaves apart what a filter has no room for, and {@code InputLimit} says which part there is memory for. What they
 * come to is a {@code CompactionPlan}: {@code MergeInput} and {@code MergeMemory} say what carrying it out takes,
 * {@code FingerprintPieces} how its fingerprints are held, and {@code MergeAdmission} has merges and packing, of all trees that share
 * memory for it, begin when there is some.
 *
 * <p>Invariants:
 *
 * <ol>
 *   <li>Nodes and versions are immutable.
 *   <li>Runs of a node are ordered from oldest to youngest; for every key, entries in a younger run, or in a node nearer to the root, are
 *       newer.
 *   <li>A pivot's runs from {@code firstActive} on have not been flushed to its child, those before have; a flush moves all of them, so
 *       they stay a suffix.
 *   <li>A run counts at a node only for keys in the span of the node and of its bundle.
 *   <li>Whatever a published version reaches has a reference count above 0; extents are freed when the last reference goes, and reused
 *       only after the epochs of their readers.
 * </ol>
 *
 * <p>The lock of {@code MergeAdmission} is a leaf, and nobody holds another one when he calls it.
 */
package dev.heartwood.engine.node;
