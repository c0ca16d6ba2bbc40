/**
 * The facade: implements the API over the layers below.
 *
 * <p>Layer: above {@code checkpoint}. A put goes {@code EngineStore → WritePath → log → memtable}; a get goes {@code EngineStore →
 * ReadCalls → PointReads → ReadPath → memtable → trunk}; a sealed memtable goes {@code Generations → Packer → trunk}. No layer below calls
 * up; background work is driven from here by {@code Background}, packing by its {@code MemtablePacking}.
 *
 * <h2>Who does what</h2>
 *
 * <pre>
 *  EngineStore ----- calls: StoreCalls                     (is it open; who closes it waits for them)
 *     |------------- a write: WritePath -> MemtableRotation  (seals memtables; who finds no room waits there)
 *     |------------- a read of a key: ReadCalls -> PointReads -> ReadPath
 *     |------------- views: StoreViews -> OpenViews        (those that are open)
 *     |------------- as a whole: StoreLifecycle            (checkpoint, settle, close; LongCalls)
 *     `------------- for the environment: MemoryShare
 *  EngineSnapshot -> SnapshotHold -> SnapshotState -> ViewSources
 *  EngineCursor ---> VisibleEntries                        (of each key the newest version)
 *     |                |-> ViewWalk -> CursorUse           (what is walked, and who has it now: others may take it between moves)
 *     |                `-> DeadWalk -> DeadRanges          (deleted keys that need not be walked; a write cuts what is known of them)
 *     `------------- closed, as a snapshot is: StoreViews
 *  Background -----> MemtablePacking                       (packs; the one above merges, makes checkpoints and settles)
 *     `------------- for both: BackgroundTasks             (whether any may begin, and who waits for them)
 * </pre>
 *
 * <h2>Invariants</h2>
 *
 * <ol>
 *   <li>Every call runs inside an epoch while it touches shared memory, and never waits for another call's memory inside one.
 *   <li>A sequence number is drawn only when memtable and log have room for the write, so nothing can fail after it.
 *   <li>A write is visible when its call returns; a batch is visible as a whole.
 *   <li>A memtable is in the list of generations, or its run is in the tree, at every moment; readers look at the list first and
 *       then at the tree, and pass over memtables whose generation the tree already has.
 *   <li>What takes long and disturbs nobody (verification, backup) runs beside everything else and ends when the store closes ({@code
 *       LongCalls}).
 *   <li>The scrubber calls a page damaged only when a checkpoint that is held reaches it; the listener is called by a worker,
 *       without locks ({@code Scrubber}, {@code Damage}).
 *   <li>A write waits for memory as long as some memtable, of any store, is about to be packed, or is by now and still read by somebody, or the
 *       record cache has borrowed some ({@code MemtableLoan}; what the page cache has comes back at once); then it fails, with nothing changed ({@code WritePath.RoomSearch}). Before, memtables without
 *       entries give back what they have, once for each write that would fail. A store that replays its log waits likewise, also while another is being opened that does not wait itself ({@code Recovery}).
 *   <li>Who reads a memtable that is packed never waits for a call, nor for code of the user's, unless others can take it from him meanwhile.
 *   <li>A memtable that finds no memory to be packed with waits until no merge and no packing of any store is under way; only when it
 *       finds none then, that is a lack of memory ({@code MemtablePacking}, {@code Recovery}). All others wait for it meanwhile, so
 *       each further attempt begins beside them.
 *   <li>Keys change their form where they enter and leave ({@code KeyForm}); log, memtable and tree see stored keys only, and order
 *       them by bytes. So do operators and filters of the user see the user's keys only.
 *   <li>What a store decides by itself goes through the same doors as what its user tunes ({@code Tuner}), and ends with the next tuning to
 *       a policy, the next opening, or a failure.
 *   <li>After a failed write or sync the store takes no more writes ({@code FailStop}).
 *   <li>Whatever fails while a store or an environment closes, the rest of it is closed ({@code Closing}); the memory of all goes only when
 *       no store is open or being opened, and no worker is left.
 *   <li>Within an operator or a filter of the user's nothing begins that may wait for merges, packing or calls ({@code UserCode}).
 * </ol>
 *
 * <p>Lock order: settlings, lifecycle (both {@code StoreLifecycle}), background ({@code BackgroundTasks}), rotation
 * ({@code MemtableRotation}), lanes (ascending), then nothing above {@code store}, and that of {@code DeadRanges}. Lanes are held for nanoseconds and never across I/O except at a rotation.
 */
package dev.heartwood.engine.store;
