package dev.heartwood;

/**
 * What a backup did.
 *
 * @param checkpoint the number of the checkpoint that the backup holds
 * @param pages pages that the backup consists of
 * @param pagesCopied pages of these that were written; the others were there from the backup before
 */
public record BackupReport(long checkpoint, long pages, long pagesCopied) {}
