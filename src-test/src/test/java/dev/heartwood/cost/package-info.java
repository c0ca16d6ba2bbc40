/** What operations cost in bytes, pages and filter probes, told by the counters of a store on real files. */
package dev.heartwood.cost;
