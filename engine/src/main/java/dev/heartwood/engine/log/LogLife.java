package dev.heartwood.engine.log;

/**
 * The time from one opening of the store to the next, as every segment written in it records it.
 *
 * @param number counts lives from 1
 * @param firstLsn the LSN at which it began: records of earlier lives from there on are void
 * @param lost the LSNs below that are missing from the life before and were accepted as never completed
 * @param laneCount the lanes it had, so the most appends that can be under way at once
 * @param bootId the running system it belongs to
 */
record LogLife(long number, long firstLsn, long lost, int laneCount, String bootId) {}
