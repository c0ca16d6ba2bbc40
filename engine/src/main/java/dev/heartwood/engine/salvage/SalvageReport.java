package dev.heartwood.engine.salvage;

/**
 * What salvage got.
 *
 * @param records keys copied from the tree
 * @param logEntries writes applied from the log
 * @param suspects of the keys copied, those whose newest version may be among what was lost: they may be older than they should be, or
 *     deleted; and those with operands whose value may be
 * @param losses what could not be read, counted as it was listed
 */
public record SalvageReport(long records, long logEntries, long suspects, long losses) {}
