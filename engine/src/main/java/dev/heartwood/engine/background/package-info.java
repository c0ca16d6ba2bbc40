/**
 * What a store does beside its calls: {@code Background} merges, makes checkpoints and settles, {@code MemtablePacking} packs the sealed
 * of its memtables ({@code Generations}), {@code BackgroundTasks} has what both have in common: whether any may begin, and who waits for
 * them. Before a write is refused for want of space {@code SpaceSearch} has them free some; {@code SpacePromise} keeps what a memtable
 * takes once it is packed.
 *
 * <p>Layer: above {@code merge} and {@code checkpoint}; below {@code write}, whose writers are slowed by what is owed here.
 *
 * <h2>Invariants</h2>
 *
 * <ol>
 *   <li>A memtable is in the list of generations, or its run is in the tree, at every moment; readers look at the list first and then at
 *       the tree, and pass over memtables whose generation the tree already has.
 *   <li>A memtable that finds no memory to be packed with waits until no merge and no packing of any store is under way; only when it
 *       finds none then, that is a lack of memory ({@code MemtablePacking}). All others wait for it meanwhile, so each further attempt
 *       begins beside them.
 *   <li>After a failed write or sync the store takes no more writes ({@code FailStop}).
 * </ol>
 *
 * <p>Lock order: that of {@code BackgroundTasks} before the rotation's and the lanes' ({@code write}).
 */
package dev.heartwood.engine.background;
