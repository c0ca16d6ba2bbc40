/**
 * The life of a read. Of one key: {@code ReadCalls} checks and copies it, {@code PointReads} makes its value of what {@code ReadPath}
 * finds in memtables, the record cache and the tree; {@code ManyReads} begins the device's reads of several. Of a view:
 * {@code SnapshotState} is a store at one sequence number and holds what that sees ({@code ViewSources}); a cursor walks it
 * ({@code ViewWalk}; {@code CursorUse} says who has it now) and shows of each key the newest version ({@code VisibleEntries}), and need
 * not walk keys that are known to be deleted ({@code DeadWalk}).
 *
 * <p>Layer: above {@code write}; below {@code store}, which has what users hold: {@code EngineCursor} and {@code EngineSnapshot}.
 *
 * <p>Invariant: who reads a memtable that is packed never waits for a call, nor for code of the user's, unless others can take it from
 * him meanwhile.
 */
package dev.heartwood.engine.read;
