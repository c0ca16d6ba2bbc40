/**
 * Long mixed load on real files, with kills. {@code SoakTest}: one store, and whether what a process uses stays where it is. {@code StressTest}:
 * several stores of an environment, whose options change, and whether all of them lose nothing.
 */
package dev.heartwood.soak;
