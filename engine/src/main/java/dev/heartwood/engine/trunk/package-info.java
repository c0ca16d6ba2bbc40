/**
 * The trunk of the size-tiered Bε-tree: the current tree of nodes, every change to it, and reads of it.
 *
 * <p>Layer: above {@code node} and {@code image}; below {@code merge} and {@code checkpoint}. SplinterDB (ATC'20), sections 2 to 4;
 * maplets from "SplinterDB and Maplets" (SIGMOD'23).
 *
 * <p>The rooms: {@code Trunk} holds the current version and swings it. {@code Balancer} moves references: flushes, splits, merges of
 * nodes. {@code NodePolicies} names the policy of each node, and {@code PolicyRules} says what these promise. {@code MergePlanner} says
 * which merge comes next, {@code MergePace} when it is due, {@code Installer} puts the result in place; {@code RunningMerges},
 * {@code PassedOverMerges} and {@code SetAside} are those that are not planned. {@code RedundancyEstimate} tells what of a tree is
 * redundant, {@code ScannedPaths} what scans have paid for, {@code PathFlush} moves what such a merge needs. {@code RangeDiscard} lets go
 * of leaves. {@code MergeSpace} reckons what merges take and free, {@code SplitSpace} which leaves may split for it. {@code TreeReader}
 * and {@code TreeCursor} read. {@code TrunkImages} stores a version.
 *
 * <p>Invariants, beside those of {@code node}:
 *
 * <ol>
 *   <li>A change copies the path from the root and publishes a new version.
 *   <li>Work under the structure lock touches metadata only, and asks the file system for no more than how much it has free.
 *   <li>Bundles of different spans become one only when all their runs do, and a merge takes the place of its input only within the keys
 *       that it was planned for.
 *   <li>A node for which nothing is left to merge has no more runs that share a key than its policy allows ({@code PolicyRules}), unless
 *       its filters have more entries than one may have.
 * </ol>
 *
 * <p>Lock order: structure lock; then, while releasing, the locks of {@code extent} and {@code cache}.
 *
 * <p>Differences from the paper: one maplet per bundle takes the place of one filter per branch; readers pin an epoch instead of locking
 * hand over hand; nodes are on the heap and written at checkpoints; splits and merges happen on the way up of one structural change
 * instead of preemptively; a merge of a node covers all its children in one branch, leaving out what is flushed; where keys have groups,
 * maplets know groups ({@code TreeStorage.filterHash}), and a cursor over one asks them ({@code GroupFilter}).
 */
package dev.heartwood.engine.trunk;
