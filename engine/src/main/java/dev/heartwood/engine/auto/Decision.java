package dev.heartwood.engine.auto;

import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.PolicyChange.Part;
import dev.heartwood.engine.base.Span;

/**
 * Something that is to be changed.
 *
 * @param part what
 * @param span the keys of the nodes that it is about; all keys for the checkpoint distance
 * @param eager the policy that nodes with keys in the span are to be under, all others being lazy; null when all are to be
 * @param distance the checkpoint distance, in memtables; 0 for nodes
 * @param from what it was, in words
 * @param to what it is to be, in words
 * @param reason why
 */
public record Decision(Part part, Span span, CompactionPolicyKind eager, int distance, String from, String to, String reason) {
    /** Whether nodes with keys in the span are to be eager. */
    public boolean isEager() {
        return eager != null;
    }
}
