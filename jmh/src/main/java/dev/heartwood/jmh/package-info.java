/**
 * Micro-benchmarks of the engine's hot structures, one class for each, and what they stand on.
 *
 * <p>Nothing here is part of a store, and no class of the project depends on it. {@code BranchStore} gives a benchmark a page
 * cache over a file in native memory, so that a measurement contains no device; {@code BlockedBloomFilter} is what the maplet is
 * compared with.
 */
package dev.heartwood.jmh;
