package dev.heartwood.engine.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Span;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is remembered of a node is what would be found out anew; assertions compare the two whenever it is asked, in every other test too. */
class NodeMemoTest {
    private static final byte[] FROM = {1};
    private static final byte[] TO = {9};
    private static final Span SPAN = new Span(FROM, TO);

    /** Wants what it is told to. */
    private static final class Moody implements CompactionPolicy {
        CompactionPlan merge;
        final BitSet flushed = new BitSet();

        @Override
        public BitSet flushes(TrunkNode node, Span span, Urge urge) {
            return (BitSet) flushed.clone();
        }

        @Override
        public CompactionPlan plan(TrunkNode node, int bundlesFrom, Span span, Urge urge, RunUsage usage) {
            return merge;
        }

        @Override
        public int tiersMax(TrunkNode node) {
            return 1;
        }
    }

    private final TrunkNode leaf = TrunkNode.emptyLeaf(FROM);

    @Test
    void belongsToTheKeysAndToWhatIsHeldForThem() {
        NodeMemo memo = leaf.memo(SPAN);
        assertSame(memo, leaf.memo(new Span(FROM, TO)));
        assertSame(memo, leaf.withChildren(leaf.pivots()).memo(SPAN), "children do not matter");
        assertNotSame(memo, leaf.with(leaf.pivots(), List.of()).memo(SPAN));
        assertNotSame(memo, leaf.memo(new Span(FROM, null)));
    }

    @Test
    void isOfOnePolicy() {
        Moody lazy = new Moody();
        Moody eager = new Moody();
        eager.merge = new CompactionPlan(0, SPAN, leaf, 0, 0, 0, 0);
        eager.flushed.set(0);
        for (int i = 0; i < 2; i++) {
            assertNull(NodeMemo.mergeNeeded(leaf, lazy, SPAN));
            assertEquals(eager.merge, NodeMemo.mergeNeeded(leaf, eager, SPAN));
            assertTrue(NodeMemo.flushesNeeded(leaf, lazy, SPAN).isEmpty());
            assertEquals(eager.flushed, NodeMemo.flushesNeeded(leaf, eager, SPAN));
        }
    }

    /** A copy has the merges of its own, whose input is looked up in the node of the plan. */
    @Test
    void aMergeIsOfTheNodeThatAsks() {
        Moody policy = new Moody();
        policy.merge = new CompactionPlan(0, SPAN, leaf, 0, 0, 0, 0);
        NodeMemo.mergeNeeded(leaf, policy, SPAN);
        TrunkNode copy = leaf.withChildren(leaf.pivots());
        policy.merge = new CompactionPlan(0, SPAN, copy, 0, 0, 0, 0);
        assertSame(copy, NodeMemo.mergeNeeded(copy, policy, SPAN).node());
    }

    @Test
    void aPolicyThatChangesItsMindIsNoticed() {
        Moody policy = new Moody();
        NodeMemo.mergeNeeded(leaf, policy, SPAN);
        NodeMemo.flushesNeeded(leaf, policy, SPAN);
        policy.merge = new CompactionPlan(0, SPAN, leaf, 0, 0, 0, 0);
        policy.flushed.set(0);
        assertThrows(AssertionError.class, () -> NodeMemo.mergeNeeded(leaf, policy, SPAN));
        assertThrows(AssertionError.class, () -> NodeMemo.flushesNeeded(leaf, policy, SPAN));
    }
}
