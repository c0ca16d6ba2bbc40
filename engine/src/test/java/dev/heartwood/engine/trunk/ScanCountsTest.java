package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.trunk.CompactionPolicy.Urge;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What scans have paid for: a node is credited for what its own runs cost them, and for as long as it has these. */
class ScanCountsTest {
    private static final TreeShape SHAPE = new TreeShape(32, 16, 1 << 14, 1 << 30, 1 << 30);
    private static final int ROOT_RUNS = 14;
    private static final int LEAF_RUNS = 2;
    private static final int RECORDS = 4000;
    private static final byte[] KEY = History.bytes("00000000");

    private final CompactionPolicy policy = TrunkPolicies.SIZE_TIERED.policy(SHAPE);
    private TrunkFixture tree;
    private TrunkNode leaf;
    private TrunkNode root;

    @BeforeEach
    void open() {
        tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null);
        leaf = new TrunkNode(0, List.of(new Pivot(Keys.EMPTY, null, 0)), runs(LEAF_RUNS));
        root = new TrunkNode(1, List.of(new Pivot(Keys.EMPTY, leaf, 0)), runs(ROOT_RUNS));
    }

    @AfterEach
    void close() {
        tree.releaseAll();
        tree.close();
    }

    /** Runs that all have keys of the whole leaf. */
    private List<Bundle> runs(int count) {
        List<Bundle> bundles = new ArrayList<>();
        for (int run = 0; run < count; run++) {
            for (int i = 0; i < RECORDS; i++) {
                tree.put(String.format("%08d", i * 10 + run), "v".repeat(100));
            }
            tree.pack();
            bundles.add(tree.trunk.version().root().bundles().getLast());
        }
        return bundles;
    }

    /** A seek that reads a page of each run. */
    private void seekCold() {
        TreePath path = TreePath.to(root, KEY, false);
        assertEquals(ROOT_RUNS + LEAF_RUNS, path.runCount());
        path.countReads(path.runCount());
    }

    /** It was rewritten after a small part of the scans, since it was credited for what the runs of the node above cost them. */
    @Test
    void aLeafIsCreditedForItsOwnRuns() {
        long spared = (LEAF_RUNS - 1) * (MergingPolicy.BYTES_PER_SPARED_READ + MergingPolicy.BYTES_PER_SPARED_RUN);
        long enough = NodeMeasure.bytes(leaf, Span.ALL) / spared + 1;
        assertTrue(enough > 2 * MergingPolicy.SCANS_MIN, enough + " scans");
        for (long scan = 1; scan < enough; scan++) {
            seekCold();
            assertNull(policy.plan(leaf, 0, Span.ALL, Urge.SCANNED, null), "after " + scan + " scans of " + enough);
        }
        seekCold();
        assertNotNull(policy.plan(leaf, 0, Span.ALL, Urge.SCANNED, null));
        assertEquals(enough * LEAF_RUNS, leaf.ownReads());
        assertEquals(enough * (ROOT_RUNS + LEAF_RUNS), leaf.pathReads());
        assertEquals(enough * ROOT_RUNS, root.ownReads());
    }

    /** Nodes above leaves that were being merged forgot their scans with each merge, and were never merged themselves. */
    @Test
    void aNodeGoesOnCountingWhileItsChildrenAreMerged() {
        seekCold();
        leaf.countLargeReads(3);
        CompactionPlan plan = new CompactionPlan(0, Span.ALL, leaf, 0, LEAF_RUNS, 0, LEAF_RUNS);
        Compactor.Result result = tree.run(plan);
        TrunkNode installed = Installer.replace(root, Span.ALL, plan, result.bundle(), result.mergedPosition());
        TrunkNode merged = installed.pivot(0).child();
        assertNotSame(root, installed);
        assertSame(result.bundle().runs()[0], merged.run(0));
        assertEquals("1 scans, 14 reads of 0, 0 large, 0 above", counts(installed));
        assertEquals("0 scans, 0 reads of 0, 0 large, 0 above", counts(merged));
        assertEquals("1 scans, 2 reads of 16, 3 large, 14 above", counts(leaf.withPolicy(TrunkPolicies.LEVEL_TIERED)));
        result.bundle().release();
    }

    private static String counts(TrunkNode node) {
        return node.scans() + " scans, " + node.ownReads() + " reads of " + node.pathReads() + ", " + node.largeReads() + " large, "
                + node.looksAbove() + " above";
    }
}
