/**
 * {@code heartwood bench}: measures Heartwood beside RocksDB, LMDB and MVStore. This package reads the command
 * line and drives the run; the layers beneath it, highest first, are {@code report}, {@code process}, {@code
 * engine} and {@code workload}.
 *
 * <p>Invariants:
 *
 * <ol>
 *   <li>One fresh JVM per engine for the whole run, and one engine at work at a time.
 *   <li>After every phase that writes, the engine settles, and the settling is timed and counted as a row of
 *       its own; so no engine pays for another's debts and none hides its own. What an engine does besides, before its next turn, is told
 *       with that. Not in a cycle, whose steps are one load:
 *       there each step pays for the debts of those before.
 *   <li>The driver opens no store: it starts processes, passes commands and adds up what they answer.
 *   <li>Nothing is deleted but what the benchmark made, and of that nothing but stores of the engines, or settings, that it measures.
 *   <li>What was finished is reported, also of a run that is ended from outside, after its engines have been stopped.
 * </ol>
 */
package dev.heartwood.bench;
