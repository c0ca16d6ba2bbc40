/**
 * Merges of runs, carried out: {@code Compactions} finds those that a tree wants, one for each call, and {@code Compactor} does one;
 * {@code MemtablePacker} makes a run of a sealed memtable in the same way.
 *
 * <p>Layer: above {@code trunk}, which plans merges and takes their results in; below {@code background}. SplinterDB (ATC'20), sections
 * 2.3 and 2.4; maplets from "SplinterDB and Maplets" (SIGMOD'23).
 *
 * <p>The rooms: {@code RunWriter} writes a run, {@code RunFingerprints} keeps what filters are built of, {@code MergedMaplet} builds
 * them, {@code MergeOutput} says how what a merge writes reaches the device. {@code VersionCollapser} drops what nobody can see,
 * {@code OperandCollapser} applies operands, of which {@code GatheredOperands} has some on the heap. {@code SpaceReclaim} says what is
 * merged for the sake of space.
 *
 * <p>Invariants: a merge takes the place of its input only within the keys that it was planned for; whatever it meets, its input stays
 * until the result is in place.
 *
 * <p>Lock order: the monitor of {@code Compactions}, then {@code trunk}'s structure lock.
 */
package dev.heartwood.engine.merge;
