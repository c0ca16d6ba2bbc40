package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.merge.History;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.CompactionPolicy;
import dev.heartwood.engine.node.NodePlace;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkPolicies;
import org.junit.jupiter.api.Test;

class TreeCursorTest {
    private static final TreeShape SHAPE = new TreeShape(8, 8, 1 << 20, 1 << 20, 1 << 20);
    private static final int MEMTABLES = 6;
    private static final int KEYS = 3000;

    /**
     * Opening the runs of a leaf looks for the leaf's keys in them, which may read. When that failed, the runs opened before stayed
     * open, and a seek after it used closed ones.
     */
    @Test
    void aReadThatFailsWhileALeafIsOpenedLeavesNothingOpen() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            for (int i = 0; i < MEMTABLES * KEYS; i++) {
                tree.put("key" + (i * 7919L % 1_000_003), "v".repeat(60));
                if (i % KEYS == KEYS - 1) {
                    tree.pack();
                }
            }
            tree.trunk.balanceQuiet(CompactionPolicy.Urge.IDLE);
            tree.storage.file().writeBackAll();
            NodePlace root = tree.images.write(tree.trunk.version(), 1, tree.page);
            TrunkImages.Found found = new TrunkImages.Found(root.pages(), root.generation(), 1, tree.trunk.nextId());
            int failures = 0;
            for (int read = 1; read < 40; read++) {
                try (TrunkFixture cold = new TrunkFixture(tree.device, found, SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
                    failures += failAndGoOn(tree, cold, read);
                    cold.releaseAll();
                }
            }
            assertTrue(failures > MEMTABLES, failures + " failures");
            tree.storage.close();
            tree.releaseAll();
        }
    }

    /** What scans look into was taken for the few runs that filters name for a group, and AUTO believed that all scans were spared the others. */
    @Test
    void scansWithinAGroupAreNotCountedForAuto() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            int runs = 4;
            for (int i = 0; i < runs * KEYS; i++) {
                tree.put("key" + i % KEYS + "." + i / KEYS, "v");
                if (i % KEYS == KEYS - 1) {
                    tree.pack();
                }
            }
            TrunkEvents events = tree.trunk.events();
            try (TreeCursor cursor = tree.cursor(tree.trunk.version())) {
                tree.seek(cursor, "key5.1");
                Span one = new Span(History.bytes("key5.1"), History.bytes("key5.1 "));
                cursor.enterGroup(tree.filterHash("key5.1"), one);
                for (int i = 0; i < 10; i++) {
                    tree.seek(cursor, "key5.1");
                    assertTrue(cursor.valid());
                    cursor.next();
                    cursor.enterGroup(tree.filterHash("key5.1"), one);
                }
                tree.seek(cursor, "key5.1");
            }
            assertEquals(1, events.leavesScanned());
            assertEquals(runs, events.leafRunsScanned());
            assertEquals(0, events.entriesScanned());
            tree.storage.close();
            tree.releaseAll();
        }
    }

    private static int failAndGoOn(TrunkFixture tree, TrunkFixture cold, int read) {
        int failures = 0;
        try (TreeCursor cursor = cold.cursor(cold.trunk.version())) {
            tree.device.failingRead = read;
            try {
                cold.seek(cursor, "key5");
            } catch (CorruptionException e) {
                failures++;
            }
            tree.device.failingRead = 0;
            cold.seek(cursor, "key5");
            assertTrue(cursor.valid());
        }
        assertEquals(
                tree.history.at(Entries.NEWEST), cold.scan(cold.trunk.version(), Entries.NEWEST, null, true));
        return failures;
    }
}
