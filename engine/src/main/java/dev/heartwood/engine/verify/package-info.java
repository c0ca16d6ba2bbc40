/**
 * Checks a store as a whole, closed or open: the walk over a checkpoint's tree and everything it refers to.
 *
 * <p>Layer: above {@code checkpoint} and {@code log}; used by {@code store} for a store that is open and by {@code inspect} for one
 * that is not.
 *
 * <p>Invariants:
 *
 * <ol>
 *   <li>Nothing is written but what taking the lock of a closed store writes: the number of the process in the file {@code LOCK}.
 *       The lock is held from before the first read.
 *   <li>Pages come from the device, through a cache of the walk's own ({@code StoreView}), whatever an open store has cached.
 *   <li>Of an open store the last checkpoint is read, whose pages its checkpointer keeps from being used again meanwhile.
 *   <li>Damage is listed, not thrown: what can still be read is checked. Below a node or index page that cannot be read nothing
 *       is known; its keys are named. A lack of memory is thrown, not listed: it says nothing of what could not be read.
 *   <li>What a crash may leave and the next open puts right is no damage: records of a torn tail, a superblock copy of the
 *       checkpoint before. A copy that is not whole is listed as damage, although the other suffices.
 *   <li>Whoever has a view of an open store is told of each damaged page that is read through it, whatever its type ({@code StoreView.onDamage}).
 *   <li>Memory does not depend on the size of the data: a cache and buffers of fixed size, and the descriptors of the tree.
 * </ol>
 *
 * <p>The map of extents is rebuilt from the tree at every open, so what is reachable is what is allocated. What can be wrong is
 * that two owners reach one extent, that one lies outside the file, or that an open store takes one for free: {@code ExtentUse}.
 *
 * <p>Extents are dropped from the cache once their owner is verified, so that a second owner reads what is on the device.
 */
package dev.heartwood.engine.verify;
