/**
 * Copies a checkpoint of a store, open or closed, to another directory, which then is a store.
 *
 * <p>Layer: above {@code verify}; driven by {@code store}.
 *
 * <h2>How it works</h2>
 *
 * The checkpoint's pages go to the same places of the other data file, so nothing in them changes; then its superblocks. Pages are
 * never changed where they are, so a page that the target has with the right type, store, address and generation, and its checksum, is
 * the page, and is not copied again. That holds only within one history of the store: a store that went back to an older copy
 * gives the same numbers to other pages, and to other checkpoints. So each backup that is completed has a name of its own, drawn at random,
 * which the target notes in {@code backup} and the store in {@code backups-made}. Pages are recognised by their headers only when both name
 * the same one; else (also when an older version made it, or it was not noted), and for the pages of the trunk always, they are compared
 * byte by byte. What is recognised has been read and its checksum verified, so rot in the target is found and mended by the next backup.
 * Pages that no record of the target names are written, whatever is there: after a sync that failed they may be in the page cache alone.
 *
 * <h2>Invariants</h2>
 *
 * <ol>
 *   <li>No page that the superblocks of a whole backup reach is overwritten before a copy of it, and of the superblocks, is durable
 *       beside it: pages that are in nobody's use there are written first. While the file {@code copy-unfinished} names the pages,
 *       who takes the lock next, to open the store or to make a backup, puts them back. A page that cannot be read is lost: it counts
 *       as not there, is kept as zeroes, and written anew.
 *   <li>While that file names none, there was no backup before, and every open refuses the directory. It goes when both superblocks
 *       are durable.
 *   <li>Superblocks are written when all pages have been synced, read back and verified.
 *   <li>Every page of the source that is copied is verified first. Damage found there leaves the backup that is there, and an open
 *       source is told of it.
 *   <li>Only an empty directory, one with nothing but what a first backup left that was broken off, or a backup of the same store is
 *       written to, and not one that was opened since: the number of its superblock, a mark of a session or a file of a log tells. Nor is one within the
 *       store's own directory. The target's lock is held throughout.
 *   <li>The target is written with the I/O mode of the source, or through the page cache where its file system refuses O_DIRECT.
 * </ol>
 */
package dev.heartwood.engine.backup;
