/**
 * The commands over stores that are not open: verification, description, backup, salvage.
 *
 * <p>Layer: the top one. Not reached by the API: {@code Main} is started by the launcher. The work itself is in {@code verify}, {@code backup} and {@code salvage}.
 *
 * <p>Invariant: but for {@code backup}, which opens the store as its owner would, nothing is written to the store that is read but what taking its lock writes, the number of the process in the file
 * {@code LOCK}. The lock is held from before the first read, so a store that is open is refused.
 */
package dev.heartwood.engine.inspect;
