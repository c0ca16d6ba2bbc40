/** Hostile input to every decoder: pages of each type, log records, superblocks, options, and streams of operations. */
package dev.heartwood.fuzz;
