/**
 * The write-ahead log: what was acknowledged and is not yet in a checkpoint.
 *
 * <p>Layer: above {@code device} and {@code page}; beside {@code memtable}, which it does not know. Paper: SplinterDB (ATC'20),
 * section 5.4.
 *
 * <h2>How it works</h2>
 *
 * A log has lanes. Each lane writes its own segments, mapped files, so that appends share nothing but one counter. Every record
 * carries an LSN, dense over all lanes, and the sequence number by which replay merges the lanes again. Records belong to a
 * generation, that of the memtable they went to; once a checkpoint holds a generation its segments are used again. The time from
 * an opening of the store to the next is a life; each life has generations of its own.
 *
 * <p>A lane's segments quadruple as it fills them, up to a limit, until a generation ends; from then on one has room for what a generation
 * took, and they get smaller when generations use little of them. Where memory is short only a window of a segment is in memory, which
 * slides ahead of the appends, and less of the one that is ready. Half way through a segment the next is made ready in the background, at
 * once when segments are as large as they get or the generation before filled half of one. Used files are kept for as much as the last
 * checkpoint let go of, which is what will be written until the next, and given back when the store settles or closes.
 *
 * <p>The operating system may write a segment back by itself and fail, and forgets that once nobody has the file open. So a finished segment
 * gives back its memory but is mapped until a sync has covered it or a checkpoint lets go of it, and those that an earlier life left are from
 * before they are read. Nor does the system write again what it has failed to write, once it has said so, though readers see it as long as it
 * is in memory: so those that were written since the system started are stored again, as they are, before they are read. A load that never
 * syncs has as many mapped as it writes between two checkpoints; of more than it may have the oldest are synced in the background. So a sync
 * opens nothing.
 *
 * <p>{@link dev.heartwood.engine.log.LogScan} reads the headers, {@link dev.heartwood.engine.log.LogSurvey} reads all records
 * and decides where the log ends or that it is damaged, {@link dev.heartwood.engine.log.LogReplay} delivers. The layout on disk
 * is drawn in {@link dev.heartwood.engine.log.LogLayout}.
 *
 * <h2>The rooms</h2>
 *
 * {@link dev.heartwood.engine.log.WriteAheadLog} has the doors and the log's life. Each of its rooms says at its top who may touch what:
 *
 * <ul>
 *   <li>{@link dev.heartwood.engine.log.LaneAppends}: room for a record, its LSN, its bytes. A lane ({@link
 *       dev.heartwood.engine.log.LogLane}) is its owner's; nothing else is shared but the counter.
 *   <li>{@link dev.heartwood.engine.log.SegmentStarts}: a lane's next {@link dev.heartwood.engine.log.LogSegment}, from the {@link
 *       dev.heartwood.engine.log.SegmentPool}, published and claimed.
 *   <li>{@link dev.heartwood.engine.log.LogStructure}: which segments are live, unsynced, written; what rotation and release change.
 *   <li>{@link dev.heartwood.engine.log.LogSync}: what makes records durable, led by {@link dev.heartwood.engine.log.GroupCommit}, and what
 *       has to be before a release ({@link dev.heartwood.engine.log.LossStatement}).
 * </ul>
 *
 * Calls go down that list and never up: appends have segments begun, which change the structure; syncs read it.
 *
 * <h2>Invariants</h2>
 *
 * <ol>
 *   <li>A record counts only when its checksum, changed by the salt of this use of the file, holds over all its other fields.
 *       So the order of the stores that make a record does not matter.
 *   <li>LSNs ascend within a lane, and every LSN below the counter is one record; so is every sequence within a lane ascending.
 *       Rotation happens with all lanes at rest: all LSNs and sequences of a generation are below those of the next, and records have the low
       halves of both alone, which the first ones in their segment's header make whole.
 *   <li>A header page is published by its first 8 bytes; they are zero while it is being written. It is there twice.
 *   <li>A file is used again only when a durable checkpoint holds what was in it, and at its own length.
 *       One with a page that the device no longer gives is passed over and deleted, and a lane whose file turns out to have one
 *       goes on in another: what was there is not wanted, but the system reads it before it is written. Recovery reads around such a page
 *       behind a lane's records, whether the lane had met it or not.
 *   <li>An LSN is called durable, in a record, a header or by the return of a sync, only when every lower LSN is durable or in
 *       a checkpoint. So a missing LSN that anything calls durable is damage.
 *   <li>What a sync calls durable it has synced through a mapping that was there before the first store, or before recovery has stored it again and
 *       read it. A sync that fails is final, also in the background.
 *   <li>Nothing is called durable by a life before everything it recovered from earlier lives is.
 *   <li>A segment is claimed outside of itself ({@link dev.heartwood.engine.log.LaneClaims}) before anything is appended to it, and
 *       claimed to be durable before a sync returns. So a file that is missing or emptied is damage, also the last of a lane.
 *   <li>Recovery changes no contents on the device until it has delivered everything; the first change is the deletion of files
 *       whose header a loss of power left torn, the next the first header of the new life.
 * </ol>
 *
 * <h2>Where a log ends</h2>
 *
 * <p>A page that the device no longer gives is behind the records if the next segment says that they end before it, or if the place behind the
 * last of them can be read and holds no beginning of another. Else records may have been there, and the log is refused as one that cannot be read.
 *
 * <p>After the death of the process every store into a mapping is kept. Only appends under way can be missing, one a lane, at
 * the lane's end: each lane is replayed to its own torn tail. A broken record with a valid one behind it is damage.
 *
 * <p>After a loss of power any sector not synced may be the old one, so a broken record with a valid one behind it may be just
 * that. The log ends before the first LSN that is missing, unless something says that it was durable: then it is damage. Rot in
 * records that nothing calls durable cannot be told from a loss of power; closing the log leaves marks, and a sync a claim outside of the log,
 * which the device gets when the system writes it back, so that this holds of unclean ends soon after the last write only.
 *
 * <p>A new life writes down where the one before ended (its own first LSN) and how many LSNs below are missing. A later recovery
 * finds exactly as many missing, or it is damage, or the life that wrote it down had promised nothing yet.
 *
 * <p>It is assumed that a sector of 512 bytes that is written again keeps, whatever happens, the bytes that do not change.
 *
 * <h2>Shared fields</h2>
 *
 * <p>They are listed at the top of each room, of {@link dev.heartwood.engine.log.LogLane}, {@link dev.heartwood.engine.log.LogSegment} and
 * {@link dev.heartwood.engine.log.GroupCommit}. Lock order: the lock of the log's structure, then a segment's monitor, the pool's or that of the
 * claims; those are leaves. Nobody maps, syncs, unmaps or deletes a file under the first.
 *
 * <h2>Differences from the paper</h2>
 *
 * <ul>
 *   <li>The paper orders records by the generation number of the memtable leaf they touch; here one sequence orders all.
 *   <li>The paper does not say where replay ends, nor what tells a torn tail from damage; LSNs and durability claims do here.
 *   <li>The paper's log pages go through its cache; here they are mapped, so that an append survives the process.
 * </ul>
 */
package dev.heartwood.engine.log;
