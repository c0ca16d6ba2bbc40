/**
 * State stores for Kafka Streams on Heartwood.
 *
 * <p>Layer: above the public API of Heartwood and of Kafka Streams. Users touch {@link dev.heartwood.kafka.HeartwoodStores} and
 * {@link dev.heartwood.kafka.HeartwoodStoreConfig}; Kafka Streams wraps what they make with its own metering, caching
 * and change logging.
 *
 * <p>The rooms: {@code TableOpener} opens the directory of a store in the {@code SharedEnvironment} of its KafkaStreams instance.
 * {@code StateTable} is the open directory: data, offsets, position ({@code CommitState}) and the way back to the last commit
 * ({@code UndoLog}). {@code BulkRestore} fills an empty one, {@code SegmentMove} lays one out anew; a way back and a move go through a table
 * by {@code RangeRewrite}, in batches, and write what is large one by one: the new before the old goes. {@code TableFilter} lets merges drop what has expired. {@code TableStore} is what all kinds have in common; the kinds add their keys and their reads.
 *
 * <p>Invariants:
 *
 * <ol>
 *   <li>A commit is one write. It holds offsets, position, stream time and the epoch of undo records, so they cannot disagree.
 *   <li>Under at-least-once the data on disk is never behind the committed offsets.
 *   <li>Under exactly-once the data on disk and the undo records of the current epoch together are exactly the committed data
 *       (records that a restore wrote on top are committed too, and are restored again), but for time segments, and versions, later than all
 *       data of the commit, of which there was nothing then ({@code TableShape.firstNew}), and for a table that says that it has no way back (below).
 *       A table is rolled back before anybody reads it, and what a rollback removed is away for good before the next commit.
 *   <li>Under exactly-once without transactional stores a commit of what a task processed is in memory only until the next write or commit, or the table's
 *       end, because Kafka Streams also commits what it is about to delete.
 *   <li>An offset that is not known is never committed over data. So what is found with such a commit, or with none, and without {@code TableKeys.AHEAD} is of
 *       a restore that was cut short, or was not committed, and is removed before anybody reads it: a restore begins anew. Nor has what is written after
 *       such a commit another way back.
 *   <li>A table goes back only to a commit that is younger than a limit, for Kafka Streams reads the changelog from there on, and that forgets what
 *       was deleted. How old a commit is counts from when its offsets were last said to be right before data was written that has to be undone.
 *       A table that is written longer than that keeps no way back until its next commit.
 *   <li>What the last commit has leaves the disk by the time of that commit, everything else by the time of the stream.
 *   <li>What is shown, and what comes too late, goes by the time since the table was opened, which begins at -1 as in Kafka Streams' own stores
 *       and operators. Only time segments that had expired as a whole by the time of before stay hidden: some of what they had may be gone.
 *       Before a record that had expired is taken, those segments are emptied and the last commit is written anew, with the new time, and synced:
 *       so neither a merge nor going back lets go of what is taken ({@code StateTable.forgetEarlierTime}).
 *   <li>Where writes are undone, undo records and expired data go only when a commit that does not need them has been synced: what goes may be
 *       away for good while a loss of power still takes later commits.
 *   <li>A table whose writes after the last commit have no way back says so ({@code TableKeys.AHEAD}) until it is closed in order after a
 *       later commit that knows its offset; or, where writes are undone and the way back had become too long, until that commit, in one write with it.
 *       It says so for good before anything that led back goes. Until then exactly-once refuses it, and transactional stores under at-least-once keep writes as if
 *       they were not. How late its data may be is seen in the data when it is opened, since no commit knows of those writes.
 *   <li>The time segments of an open table are those that its supplier names to Kafka Streams.
 *   <li>The environment is open as long as one table of its instance is.
 *   <li>No reader takes the writer's lock.
 *   <li>The position never stands for data that readers do not see yet: it moves when the data has been written.
 * </ol>
 *
 * <p>Lock order: table, then position or iterator. The keys of a table are described in {@code TableKeys}.
 */
package dev.heartwood.kafka;
