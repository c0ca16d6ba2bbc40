/**
 * What the benchmark asks of an engine: keys, values, request distributions and the mix of each phase. Lowest
 * layer of the benchmark; knows no engine and no process.
 *
 * <p>Invariants:
 *
 * <ol>
 *   <li>Everything is a function of its seed: two runs with the same options make the same requests, thread by
 *       thread.
 *   <li>Nothing allocates once it has been made; keys and values are written into the caller's segments.
 *   <li>Distinct record numbers have distinct keys, and a number from {@link
 *       dev.heartwood.bench.workload.KeySpace#absentNumber} is never loaded.
 *   <li>A value is a function of its key and of the version in its first 8 bytes, so that any mixture of two
 *       values, and any value under the wrong key, is told from a right one. A stale value is not.
 * </ol>
 *
 * <p>Keys are those of YCSB: "user" and a hashed record number in decimal digits, padded with zeros. YCSB
 * hashes by FNV-1 and hopes for no collision; here the hash permutes the numbers, so there is none at any key
 * length. Request distributions are YCSB's: zipfian with exponent 0.99 after Gray et al., "Quickly Generating
 * Billion-Record Synthetic Databases" (SIGMOD 1994), scrambled by a hash of ranks among 10<sup>10</sup>, and
 * for workload D the same curve over the distance from the newest record.
 */
package dev.heartwood.bench.workload;
