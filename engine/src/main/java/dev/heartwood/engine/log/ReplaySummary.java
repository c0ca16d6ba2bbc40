package dev.heartwood.engine.log;

/**
 * What a replay found and delivered.
 *
 * @param records records delivered; a batch is one
 * @param entries entries delivered
 * @param lastSequence the greatest sequence number delivered, or 0
 * @param lastGeneration the greatest generation in any segment, delivered or not, and at least the checkpoint's: the next
 *     generation must be greater
 * @param generations generations newer than the checkpoint that have segments; each takes files of its own, however little it has
 * @param lostRecords records known to be missing: under way when the process died, or behind the end after a loss of power
 * @param ending how the log ended
 */
public record ReplaySummary(
        long records, long entries, long lastSequence, long lastGeneration, int generations, long lostRecords, Ending ending) {
    /** How the log ended. */
    public enum Ending {
        /** There was nothing newer than the checkpoint. */
        EMPTY,
        /** No record is known to be missing. */
        COMPLETE,
        /** The process died in the middle of appending; each lane ends at its own torn tail. */
        TORN_TAILS,
        /** Power was lost; the replay stopped before the first record that had not reached the device. */
        FIRST_GAP
    }
}
