/** What operations cost in bytes, pages and filter probes, told by the counters of a store, on real files or simulated ones. */
package dev.heartwood.cost;
