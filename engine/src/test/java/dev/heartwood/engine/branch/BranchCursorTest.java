package dev.heartwood.engine.branch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.BranchFixture.Entry;
import dev.heartwood.engine.cache.ExtentReader;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BranchCursorTest {
    private static final int COUNT = 20_000;

    private BranchFixture fixture;
    private Branch branch;
    private List<Entry> entries;

    @BeforeEach
    void open() {
        fixture = new BranchFixture();
        entries = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            entries.add(new Entry(key(i), 0, Entries.PUT, new byte[100]));
        }
        branch = fixture.write(entries, WriteMode.THROUGH);
    }

    @AfterEach
    void close() {
        branch.release();
        fixture.close();
    }

    private static byte[] key(int i) {
        return BranchFixture.bytes("user%020d".formatted(i));
    }

    @Test
    void aMergeReadsOnlyTheLeavesOfItsRanges() {
        List<Span> ranges = List.of(
                new Span(key(100), key(150)),
                new Span(key(5000), key(9000)),
                new Span(key(9000), key(9010)),
                new Span(key(19_990), null));
        fixture.device.pagesRead.clear();
        try (BranchCursor cursor = BranchCursor.streaming(branch, ranges)) {
            assertEquals(50 + 4000 + 10 + 10, BranchFixture.forward(cursor).size());
        }
        Set<Long> leaves = new HashSet<>();
        for (long page : fixture.device.pagesRead) {
            for (int leaf = 0; leaf < branch.leafPages(); leaf++) {
                if (branch.devicePage(leaf) == page) {
                    assertTrue(leaves.add(page), "leaf " + leaf + " was read twice");
                }
            }
        }
        int perLeaf = COUNT / branch.leafPages();
        assertTrue(leaves.size() <= 4070 / perLeaf + 8, leaves.size() + " leaves read");
    }

    @Test
    void theCursorsOfAMergeCanShareAReader() {
        try (ExtentReader reader = new ExtentReader(fixture.file, 8)) {
            try (MergeCursor merge = new MergeCursor(
                    BranchCursor.streaming(branch, List.of(new Span(null, key(10_000))), 32, reader),
                    BranchCursor.streaming(branch, List.of(new Span(key(10_000), null)), 32, reader))) {
                BranchFixture.assertSame(entries, BranchFixture.forward(merge), "merged");
            }
            assertEquals(0, reader.pending());
        }
    }

    @Test
    void theInputsOfAMergeAreReadTogetherBeforeAnyIsNeeded() {
        try (MergeInputs inputs = new MergeInputs(fixture.file, 4)) {
            inputs.add(branch, List.of(new Span(null, key(10_000))));
            inputs.add(branch, List.of());
            inputs.add(branch, List.of(new Span(key(10_000), null)));
            fixture.device.pagesRead.clear();
            EntryCursor merged = inputs.merged();
            long behindFirst = branch.devicePage(4);
            assertEquals(4, fixture.device.pagesRead.stream().filter(page -> page < behindFirst).count(), "a chunk of the first");
            assertTrue(fixture.device.pagesRead.size() > 4, "and one of the other");
            BranchFixture.assertSame(entries, BranchFixture.forward(merged), "merged");
        }
    }

    @Test
    void noRangesIsNothing() {
        try (BranchCursor cursor = BranchCursor.streaming(branch, List.of())) {
            assertEquals(List.of(), BranchFixture.forward(cursor));
            assertEquals(List.of(), BranchFixture.backward(cursor));
        }
    }

    @Test
    void aCursorKeepsItsBranch() {
        int held = fixture.extents.allocatedCount();
        branch.retain();
        try (BranchCursor cursor = BranchCursor.cached(branch, Span.ALL)) {
            branch.release();
            branch.release();
            assertEquals(held, fixture.extents.allocatedCount());
            BranchFixture.assertSame(entries, BranchFixture.forward(cursor), "held");
        }
        assertEquals(0, fixture.extents.allocatedCount());
        branch = fixture.write(entries, WriteMode.THROUGH);
    }
}
