/**
 * What a store under {@link dev.heartwood.CompactionPolicyKind#AUTO} decides by itself, and nothing else: samples go in, decisions
 * come out. No threads, no clock, no I/O, no locks; {@code store.Tuner} takes the samples and carries the decisions out, and
 * {@code budget.IdleMemory} those about the memory that all stores share ({@code LoanPolicy}, {@code LoanChoice}).
 *
 * <p>Layer: above {@code trunk}, of which it knows what leaves and policies are.
 *
 * <p>Everything is weighed in bytes of merging for each interval, the currency of {@code node.MergingPolicy}. A node that merges eagerly
 * costs the bytes that it writes again for each that the user writes; it saves what scans do not have to look into, read and compare. How
 * many runs that is, is measured while a part of the tree is lazy and while it is eager, and remembered while it is the other ({@code
 * ScanCost}).
 *
 * <p>Invariants:
 *
 * <ol>
 *   <li>Time is counted in intervals: a decision depends on the samples alone, and a clock that jumps changes none.
 *   <li>Each kind of decision has a {@code Damping} of its own, which bounds how often it changes whatever it is shown; but for the checkpoint distance
 *       where stores are opened, since the logs of all of them are bounded together.
 *   <li>What changes nothing returns no decision, so that a steady load costs a sample for each interval and no more.
 *   <li>A decision is taken once it is handed out, as a full Java heap may keep it from being; and then it stays due until it is carried out.
 *   <li>Nodes above the leaves are eager only where the leaves are: alone they take space and spare few runs.
 * </ol>
 */
package dev.heartwood.engine.auto;
