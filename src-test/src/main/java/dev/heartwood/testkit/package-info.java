/**
 * What Heartwood is tested with: a machine whose disks are in memory and can lose power, a model that knows what a store must
 * contain, and a driver that compares the two.
 *
 * <p>Layer: beside the engine; only tests use it. Start at {@link dev.heartwood.testkit.Differential} for the driver, at {@link
 * dev.heartwood.testkit.SimulatedMachine} for the disks, and at {@link dev.heartwood.testkit.Model} for what may survive.
 *
 * <p>Invariants:
 *
 * <ol>
 *   <li>Everything random follows from a seed. Where one thread uses a machine, one seed is one history.
 *   <li>A power loss keeps what was synced. Of the unsynced 512-byte sectors each is kept, lost, or, when it was written through a
 *       device, left as garbage in the bytes that the write would have changed. A sector stored through a mapping is old or new.
 *   <li>A file whose directory entry was not synced may vanish, whatever was synced of its contents; a deleted one may come back.
 *   <li>After a failed sync, what was unsynced has reached the medium or never will; a second sync does not help.
 *   <li>A killed process loses nothing that was written; what was unsynced stays so, and a later power loss may take it.
 *   <li>A write that fails with an errno may have transferred its first sectors; an operation that fails otherwise has done nothing.
 * </ol>
 *
 * <p>Locks: one per machine, taken by every operation on its storages. A listener is called under it.
 *
 * <p>Campaigns: the tests that take seeds run a fixed few of them. {@code -Dheartwood.seed} and {@code -Dheartwood.operations} rerun
 * one; {@code -Dheartwood.budget=PT1H} goes on with new seeds for an hour.
 */
package dev.heartwood.testkit;
