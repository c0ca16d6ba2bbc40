/** Threads that meet: readers, scanners and writers against a checker, and closing in the middle of everything. */
package dev.heartwood.concurrency;
