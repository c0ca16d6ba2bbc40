package dev.heartwood.engine.log;

/**
 * A generation of the memtable, as every segment that belongs to it records it.
 *
 * @param number the generation
 * @param firstLsn the first LSN drawn in it
 * @param firstSequence no sequence in it is below this one; 0 in segments of format 1, whose records have theirs in full
 * @param previousNumber the last generation before it in which anything was appended, 0 for none
 * @param life the life it belongs to
 */
record LogGeneration(long number, long firstLsn, long firstSequence, long previousNumber, LogLife life) {}
