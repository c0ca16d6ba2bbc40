/**
 * The life of a write: {@code WritePath} owns a lane ({@code Lanes}), draws a sequence number, appends to the log and inserts into the
 * memtable; {@code MemtableRotation} seals a full memtable and has writers wait that find no room; {@code WriteThrottle} has them pay for
 * what the background owes. A batch is {@code BatchEntries}. {@code DeadRanges} are the ranges in which cursors found nothing but deleted
 * keys; a write cuts them.
 *
 * <p>Layer: above {@code background}; below {@code read}, since what a view sees ends with the last write.
 *
 * <h2>Invariants</h2>
 *
 * <ol>
 *   <li>A sequence number is drawn only when memtable and log have room for the write, so nothing can fail after it.
 *   <li>A write is visible when its call returns; a batch is visible as a whole.
 *   <li>A write waits for memory as long as some memtable, of any store, is about to be packed, or is by now and still read by somebody,
 *       or the record cache has borrowed some ({@code MemtableLoan}; what the page cache has comes back at once); then it fails, with
 *       nothing changed ({@code WritePath.RoomSearch}). Before, memtables without entries give back what they have, once for each write
 *       that would fail.
 * </ol>
 *
 * <p>Lock order: rotation ({@code MemtableRotation}), lanes (ascending), and that of {@code DeadRanges}. Lanes are held for nanoseconds
 * and never across I/O except at a rotation.
 */
package dev.heartwood.engine.write;
