/**
 * The trunk of the size-tiered Bε-tree: nodes that refer to branches, and everything that changes them.
 *
 * <p>Layer: above {@code branch}, {@code filter} and {@code memtable}; below {@code checkpoint}. SplinterDB (ATC'20), sections 2 to 4;
 * maplets from "SplinterDB and Maplets" (SIGMOD'23); level-tiered nodes from TurtleKV, section 3.
 *
 * <p>The rooms: {@code Trunk} holds the current version and swings it. {@code Balancer} moves references: flushes, splits, merges
 * of nodes. {@code CompactionPolicy} decides, for each node the one that {@code NodePolicies} names: {@code TieredPolicy} or {@code
 * LevelTieredPolicy}, which share {@code MergingPolicy}; {@code NodeMemo} remembers what was decided, and {@code FilterLimit} leaves apart what a filter has no room for. {@code MergePlanner} says which merge comes next, and {@code InputLimit} which part of it there is
 * memory for. {@code CompactionPlan} says what is to be merged, {@code Compactor} merges, {@code RunWriter} writes, {@code RunFingerprints} keeps what filters are built of, {@code
 * MergeOutput} says how what it writes reaches the device, {@code VersionCollapser} drops what nobody can see, {@code OperandCollapser} applies operands, {@code Installer} puts the
 * result in place. {@code MergeAdmission} has merges and packing, of all trees that share memory for it, begin when there is some. {@code RedundancyEstimate} tells what of a tree is redundant and {@code
 * SpaceReclaim} what is merged for it, {@code PathFlush} moves what such a merge needs. {@code RangeDiscard} lets go of leaves.
 * {@code RunUsage} and {@code MergeSpace} reckon what merges take and free, {@code SplitSpace} which leaves may split for it.
 * {@code TreeReader} and {@code TreeCursor} read. {@code TreeShape} has the limits, and {@code KeySpread} what is known of the keys, which trees of hashed keys go by. {@code NodeCodec}, {@code NodePages} and {@code TrunkImages} store nodes.
 *
 * <p>Invariants:
 *
 * <ol>
 *   <li>Nodes and versions are immutable. A change copies the path from the root and publishes a new version.
 *   <li>Runs of a node are ordered from oldest to youngest; for every key, entries in a younger run, or in a node nearer to the
 *       root, are newer.
 *   <li>A pivot's runs from {@code firstActive} on have not been flushed to its child, those before have; a flush moves all of
 *       them, so they stay a suffix.
 *   <li>Whatever a published version reaches has a reference count above 0; extents are freed when the last reference goes, and
 *       reused only after the epochs of their readers.
 *   <li>Work under the structure lock touches metadata only, and asks the file system for no more than how much it has free.
 *   <li>A run counts at a node only for keys in the span of the node and of its bundle. Bundles of different spans become one
 *       only when all their runs do, and a merge takes the place of its input only within the keys that it was planned for.
 *   <li>A node for which nothing is left to merge has no more runs that share a key than its policy allows ({@code
 *       PolicyRules}), unless its filters have more entries than one may have.
 * </ol>
 *
 * <p>Lock order: the monitor of {@code Compactions}; structure lock; then, while releasing, the locks of {@code extent} and {@code cache}. The lock of {@code MergeAdmission}
 * is a leaf, and nobody holds another one when he calls it.
 *
 * <p>Differences from the paper: one maplet per bundle takes the place of one filter per branch; readers pin an epoch instead of
 * locking hand over hand; nodes are on the heap and written at checkpoints; splits and merges happen on the way up of one
 * structural change instead of preemptively; a merge of a node covers all its children in one branch, leaving out what is flushed;
 * where keys have groups, maplets know groups ({@code TreeStorage.filterHash}), and a cursor over one asks them ({@code GroupFilter}).
 */
package dev.heartwood.engine.trunk;
