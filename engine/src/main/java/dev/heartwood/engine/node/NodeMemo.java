package dev.heartwood.engine.node;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import java.util.BitSet;
import java.util.Objects;

/**
 * What was found out about a node, and holds as long as its keys and what it holds for them are the same: so that a change of one leaf
 * does not have all others looked at again. Guarded by the trunk's structure lock.
 */
public final class NodeMemo {
    private static final long UNKNOWN = -1;

    private final Span span;
    private long bytes = UNKNOWN;
    private long unsettledBytes = UNKNOWN;
    /** The policy under which nothing needs to be flushed; null while that is not known. */
    private CompactionPolicy flushesNothing;

    /** The policy under which the merge is needed, or none for null; null while that is not known. */
    private CompactionPolicy merges;

    private CompactionPlan merge;

    NodeMemo(Span span) {
        this.span = span;
    }

    /** Whether this is about a node with these keys: the same arrays, as the pivots of a tree hand them out. */
    boolean isOf(Span other) {
        return span.from() == other.from() && span.to() == other.to();
    }

    /** {@link NodeMeasure#bytes}. */
    public static long bytes(TrunkNode node, Span span) {
        NodeMemo memo = node.memo(span);
        if (memo.bytes == UNKNOWN) {
            memo.bytes = NodeMeasure.bytes(node, span);
        }
        assert memo.bytes == NodeMeasure.bytes(node, span);
        return memo.bytes;
    }

    /** {@link NodeMeasure#unsettledBytes} of all bundles. */
    public static long unsettledBytes(TrunkNode node, Span span) {
        NodeMemo memo = node.memo(span);
        if (memo.unsettledBytes == UNKNOWN) {
            memo.unsettledBytes = NodeMeasure.unsettledBytes(node, 0, span);
        }
        assert memo.unsettledBytes == NodeMeasure.unsettledBytes(node, 0, span);
        return memo.unsettledBytes;
    }

    /** What of a node is flushed because it needs to be. */
    public static BitSet flushesNeeded(TrunkNode node, CompactionPolicy policy, Span span) {
        NodeMemo memo = node.memo(span);
        if (memo.flushesNothing == policy) {
            assert policy.flushes(node, span, Urge.NEEDED).isEmpty();
            return new BitSet();
        }
        BitSet flushed = policy.flushes(node, span, Urge.NEEDED);
        memo.flushesNothing = flushed.isEmpty() ? policy : memo.flushesNothing;
        return flushed;
    }

    /** The merge that a node needs, of any of its bundles, or null. */
    public static CompactionPlan mergeNeeded(TrunkNode node, CompactionPolicy policy, Span span) {
        NodeMemo memo = node.memo(span);
        if (memo.merges != policy || memo.merge != null && memo.merge.node() != node) {
            memo.merge = policy.plan(node, 0, span, Urge.NEEDED, null);
            memo.merges = policy;
        }
        assert Objects.equals(memo.merge, policy.plan(node, 0, span, Urge.NEEDED, null));
        return memo.merge;
    }
}
