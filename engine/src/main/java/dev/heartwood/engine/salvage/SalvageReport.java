package dev.heartwood.engine.salvage;

/**
 * What salvage got.
 *
 * @param records keys copied from the tree
 * @param logEntries writes applied from the log
 * @param suspects of the keys copied, those whose newest version may be among what was lost: they may be older than they should be, or
 *     deleted; and those with operands whose value may be. Without superblocks also those of which the log says something else than the tree,
 *     deleted ones too: either may be the younger
 * @param losses what could not be read, counted as it was listed
 * @param lossesOfAnyKey of them, those of the log, and of checkpoints newer than the data file, of which the keys are not known: any key may be
 *     older than it should be, or deleted
 * @param closingFailure why the copy could not be closed, or null: it was whole and durable before, and opens all the same
 */
public record SalvageReport(
        long records, long logEntries, long suspects, long losses, long lossesOfAnyKey, Throwable closingFailure) {
    SalvageReport unclosed(Throwable why) {
        return new SalvageReport(records, logEntries, suspects, losses, lossesOfAnyKey, why);
    }
}
