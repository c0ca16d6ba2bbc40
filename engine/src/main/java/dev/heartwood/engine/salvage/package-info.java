/**
 * Copies what can be read of a damaged store into a new one.
 *
 * <p>Layer: above {@code store}, through which the copy is written; reads the damaged store with the decoders of the packages below.
 *
 * <h2>How it works</h2>
 *
 * Of the superblocks the newest copy counts that is whole and of the store that the session's mark names; where none is of it, the
 * newest whole one.
 *
 * <p>The node images tell which branches count for which keys and which of them is younger. Leaves are read in the order in which
 * they lie, so damaged index pages and filters cost nothing. All branches are merged by key, each past its own damage; of each key
 * the newest readable state is copied. What is larger than a write of the copy's memory is made by an operator that stands in for the
 * store's ({@code StandInOperator}): merge operators may make values of any length. Then the log is applied, and where recovery would
 * refuse it, every record of it that has a valid checksum, also of segments that are cut off, and whatever other files of it look like;
 * but none that an earlier recovery made void, as the headers of later segments say.
 *
 * <p>For the keys of a node that cannot be read, which are all keys if it is the root, the tree of an older checkpoint stands in
 * ({@code DamagedTree.goOnWith}): of the newest root before below which every node can be read. Above it counts what the nodes on the way to the
 * lost one have. Operands found there are not looked for in the older tree, where they may lie too; a value below them is. The log begins after
 * the checkpoint that the superblocks name, so all of it applies. Since extents that the older tree used may have other contents
 * now, it is read through a cache of its own, which verifies each page as what that tree takes it for.
 *
 * <h2>Invariants</h2>
 *
 * <ol>
 *   <li>The damaged store is not written to, but for the number of the process in its file {@code LOCK}.
 *   <li>What was not copied is listed, with its keys or the keys between which it lay. Of the log the keys are not known, nor of what a
 *       data file does not have that is older than the session's mark, or of another store; the report says how many losses are such,
 *       since any key may have lost something there.
 *   <li>A key of which a younger version may be among what was lost is copied as the older one says, and counted as suspect; where it is
 *       known that there was a younger one, as its value or operand alone cannot be read, without what was above that. Suspect, too, is a
 *       key of which only operands were found, in the tree or in the log, if the value below them may be among what was lost, and one
 *       of which the copy could not take an operand or what the log says, and has what is below. A branch that is damaged has keys
 *       from its first to its last alone, whichever leaf it is. What an older tree has is suspect. Such keys are counted, and not
 *       remembered: they may be all of a store. Those alone are that the log has ({@code LogKeys}), which is read once before for
 *       them: it takes eight bytes of heap for each, and four for what is remembered.
 *   <li>From the first file in it on, and until the copy is complete, every open, backup and salvage refuses the directory. Where the data
 *       file of the copy cannot be made, the files before it are taken away again. The copy is complete when it is durable and verified, before
 *       it is closed: what that meets is in the report, and the copy a store all the same.
 *   <li>The copy's I/O mode is the store's, or BUFFERED where the file system it goes to refuses O_DIRECT.
 * </ol>
 *
 * <h2>What is not possible</h2>
 *
 * <ul>
 *   <li>Without a whole superblock the newest root below which every node can be read is looked for among all pages of the trunk. It
 *       may be that of a checkpoint that was being made; or a child of one that was never written, so that the root before it is taken where
 *       that is higher, or as high with greater keys, and the report says so. Options are those of a new store; operands are lost, as the name of the
 *       merge operator is not known. Of the log that is applied behind which nothing is missing, which can be told while the system
 *       has not restarted. Else nothing of it is. How much of the log the tree holds is not known: what it holds may come to older values
 *       again, and to what was deleted, where writes that no log has ({@code Durability.NONE}) were younger. So every key that the log
 *       changes counts as suspect ({@code FoundBeforeLog}).
 *   <li>Without any such root, data pages do not say whether anything still refers to them: copying all would bring back what was
 *       deleted and overwritten. Salvage refuses. A backup is then what helps.
 *   <li>What only a lost trunk node refers to, and no older checkpoint, is lost for the same reason. What was written between the older
 *       checkpoint and the one whose node is lost is, unless the log has it.
 *   <li>A value for which the Java heap has no room is listed as lost, with its length.
 *   <li>Records of the log at the very end of a lane that were damaged look like writes that were under way.
 * </ul>
 */
package dev.heartwood.engine.salvage;
