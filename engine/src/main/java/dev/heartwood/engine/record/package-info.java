/**
 * The record cache: hot records kept one by one, beside the pages they lie on, so that skewed reads need not keep a whole page of
 * cold records for one hot one.
 *
 * <p>Layer: above {@code base} and {@code os}; a sibling of {@code memtable}. Callers see {@link
 * dev.heartwood.engine.record.RecordCache}, one for an environment, and {@link dev.heartwood.engine.record.StoreRecords}, a
 * store's part of it.
 *
 * <p>A hash table of buckets, one cache line each ({@code RecordTable}), refers to immutable records in a ring of chunks
 * ({@code RecordRing}). A record is taken in when its key is met for the second time within the memory of its bucket, which also
 * remembers keys that were met once; while the ring has not come round yet, also when its page had to be read from the device.
 * What the page cache holds anyway is worth a copy only if it is hot, and so is what another record has to go for. When the ring comes round, records that were read since move to its head once more, and
 * the others are dropped (the clock algorithm, over a log).
 *
 * <p>The ring can be longer for a while, by blocks that are borrowed from a pool of others ({@code RecordRings}): each is a ring that has its
 * turn after the cache's own. To give a block back, what refers to its records is dropped under the rings' lock, and the
 * lender has it when the epochs of those who may read it have ended. The table is large enough for all from the beginning.
 *
 * <h2>Why a reader never sees an old value</h2>
 *
 * What the tree says of a key changes when a memtable is packed, and when a range is discarded. A point read looks at the memtables
 * first, then here, then into the tree.
 *
 * <ol>
 *   <li>A reader takes a ticket, the number of packings begun, before it reads the list of memtables. What it found in the tree it
 *       offers with the ticket, and under the lock of the bucket the offer is refused when a packing has begun since.
 *   <li>The packer begins a packing (counts it) and then goes through the buckets of all keys packed, waits for those that are
 *       locked and drops what has a key's tag. Only then the new version of the tree is published, and only after that
 *       the memtable leaves the list.
 *   <li>So an offer of a value that the memtable makes old either sees the packing and is refused, or was in its bucket before the
 *       packer came by. A reader that began after the packing finds the key in the memtable, or reads the new tree.
 *   <li>A store that is opened gets a new number for its records, and another one when a range was discarded, after a packing was
 *       counted; those with an old number are never found again.
 * </ol>
 *
 * <h2>Who does what</h2>
 *
 * <pre>
 *  shared word            read       written          guarded by
 *  bucket word 0 (lock)   volatile   CAS, release     -
 *  bucket slots           acquire    release, CAS     the bucket's lock; readers set the mark of use by CAS without it
 *  record                 plain      plain            published by the slot, never changed; its chunk is filled anew
 *                                                     only after the epochs of all who may read it
 *  ring positions         plain      plain            the rings' lock; reads and offers only ever try it
 *  packings               volatile   getAndIncrement  -
 * </pre>
 *
 * Lock order: rings, then one bucket. Nobody who reads waits for the rings: an offer that finds them taken is forgotten. Who borrows or
 * gives back waits.
 */
package dev.heartwood.engine.record;
