/** Copies of a store: backups of one that is written, and what salvage gets out of a damaged one. */
package dev.heartwood.backup;
