/** What becomes of a store whose files are not what was written: rot, lost and misdirected writes, files of other times. */
package dev.heartwood.damage;
