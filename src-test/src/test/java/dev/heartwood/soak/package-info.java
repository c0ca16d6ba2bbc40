/** Long mixed load on real files, with kills: whether what a process uses stays where it is. */
package dev.heartwood.soak;
