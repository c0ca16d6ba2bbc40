package dev.heartwood.engine.node;

/**
 * A child of a trunk node and what the node still holds for it.
 *
 * @param key the least key of the child; empty for the leftmost of a level
 * @param child the child, or null in a leaf, which has one pivot for all its keys
 * @param firstActive position, among all runs of the node from oldest to youngest, of the first that has not been flushed to
 *     the child
 */
public record Pivot(byte[] key, TrunkNode child, int firstActive) {
    public Pivot withChild(TrunkNode replacement) {
        return new Pivot(key, replacement, firstActive);
    }

    public Pivot withFirstActive(int position) {
        return position == firstActive ? this : new Pivot(key, child, position);
    }
}
