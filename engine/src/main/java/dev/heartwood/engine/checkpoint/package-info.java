/**
 * Makes a version of the tree durable and finds it again: superblocks, the checkpointer.
 *
 * <p>Layer: above {@code trunk} and {@code log}. Data is copy-on-write, so a checkpoint writes what the version references, syncs,
 * and then writes the superblock that names the version's root.
 *
 * <p>Invariants:
 *
 * <ol>
 *   <li>A superblock is written only after a sync that covers everything it reaches.
 *   <li>There are two copies. One is written and synced, then the other, and after an opening the one that was read last, once it is
 *       durable, which it need not be where an earlier life ended beside it: at every moment one of them is whole, and once a checkpoint is complete both name it.
 *   <li>The version named by the superblocks is pinned, so nothing that it reaches is reused before the next checkpoint is
 *       complete.
 *   <li>The log is released, and extents are reused, only after both copies are synced.
 *   <li>After a sync or a superblock's write has failed, no checkpoint is made until the store is opened again: a second sync may
 *       succeed although the pages of the first are lost.
 * </ol>
 *
 * <p>Extent 0 holds the superblocks, on its pages 0 and 16, and nothing else.
 */
package dev.heartwood.engine.checkpoint;
