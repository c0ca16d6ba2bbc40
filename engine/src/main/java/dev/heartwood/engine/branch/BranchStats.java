package dev.heartwood.engine.branch;

/**
 * What a branch holds.
 *
 * @param entries messages of all kinds
 * @param tombstones deletes among them
 * @param dataBytes bytes of keys and values, large values included
 * @param sequenceMax the greatest sequence number
 */
public record BranchStats(long entries, long tombstones, long dataBytes, long sequenceMax) {}
