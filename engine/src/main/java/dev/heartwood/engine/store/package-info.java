/**
 * The facade: implements the API over the layers below.
 *
 * <p>Layer: above {@code budget}, {@code call}, {@code background}, {@code write} and {@code read}. A put goes
 * {@code EngineStore → WritePath → log → memtable}; a get goes
 * {@code EngineStore → ReadCalls → PointReads → ReadPath → memtable → trunk}; a sealed memtable goes
 * {@code Generations → MemtablePacking → trunk}. No layer below calls up.
 *
 * <h2>Who does what</h2>
 *
 * <pre>
 *  EngineStore ----- calls: StoreCalls                     (is it open; who closes it waits for them)
 *     |------------- a write: WritePath -> MemtableRotation  (seals memtables; who finds no room waits there)
 *     |------------- a read of a key: ReadCalls -> PointReads -> ReadPath
 *     |------------- views: StoreViews -> OpenViews        (those that are open)
 *     |------------- as a whole: StoreLifecycle            (checkpoint, settle, close; LongCalls)
 *     `------------- for the environment: MemoryShare      (and for the memtables of other stores: SharedMemtables)
 *  EngineSnapshot -> SnapshotHold -> SnapshotState -> ViewSources
 *  EngineCursor ---> VisibleEntries                        (of each key the newest version)
 *     |                |-> ViewWalk -> CursorUse           (what is walked, and who has it now: others may take it between moves)
 *     |                `-> DeadWalk -> DeadRanges          (deleted keys that need not be walked; a write cuts what is known of them)
 *     `------------- closed, as a snapshot is: StoreViews
 *  StoreOpener ----- makes the StoreParts: Recovery        (replays the log), Background, Tuner, Scrubber
 * </pre>
 *
 * <h2>Invariants</h2>
 *
 * <ol>
 *   <li>What takes long and disturbs nobody (verification, backup) runs beside everything else and ends when the store closes
 *       ({@code LongCalls}).
 *   <li>The scrubber calls a page damaged only when a checkpoint that is held reaches it; the listener is called by a worker, without
 *       locks ({@code Scrubber}, {@code Damage}).
 *   <li>A store that replays its log waits for memory as a write does, also while another is being opened that does not wait itself
 *       ({@code Recovery}).
 *   <li>What a store decides by itself goes through the same doors as what its user tunes ({@code Tuner}), and ends with the next tuning
 *       to a policy, the next opening, or a failure.
 *   <li>Whatever fails while a store or an environment closes, the rest of it is closed ({@code Closing}); the memory of all goes only
 *       when no store is open or being opened, and no worker is left.
 * </ol>
 *
 * <p>Lock order: settlings, lifecycle (both {@code StoreLifecycle}), background ({@code BackgroundTasks}), rotation
 * ({@code MemtableRotation}), lanes (ascending), then nothing above {@code store}, and that of {@code DeadRanges}.
 */
package dev.heartwood.engine.store;
