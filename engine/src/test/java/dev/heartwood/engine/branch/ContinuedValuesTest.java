package dev.heartwood.engine.branch;

import static dev.heartwood.engine.branch.BranchFixture.entries;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.BranchFixture.Entry;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Values that begin on one leaf and go on in the next. */
class ContinuedValuesTest {
    private static final int PAGE_BYTES = PageLayout.PAGE_BYTES;

    private final BranchFixture fixture = new BranchFixture();

    @AfterEach
    void close() {
        fixture.close();
    }

    private Branch write(int count, int valueBytes) {
        return fixture.write(entries(count, valueBytes), WriteMode.THROUGH);
    }

    /** Leaves whose last value goes on. */
    private List<Integer> continuing(Branch branch) {
        List<Integer> leaves = new ArrayList<>();
        for (int i = 0; i < branch.leafPages(); i++) {
            if (fixture.device.block(branch.devicePage(i))[KeyedPageLayout.MORE] != 0) {
                leaves.add(i);
            }
        }
        return leaves;
    }

    /** Beside each size the most that pages may take, in hundredths of the records. */
    @ParameterizedTest
    @CsvSource({"100, 113", "300, 110", "500, 110", "700, 110", "900, 110", "1000, 110", "1100, 110", "1280, 110"})
    void pagesAreFilled(int valueBytes, int hundredths) {
        Branch branch = write(2_000, valueBytes);
        double perRecord = branch.dataBytes() * hundredths / 100.0;
        assertTrue(branch.leafPages() * (double) PAGE_BYTES <= perRecord, branch.leafPages() + " leaves for " + branch);
        branch.release();
    }

    @Test
    void smallValuesLieOnOneLeaf() {
        Branch branch = write(2_000, 250);
        assertEquals(List.of(), continuing(branch));
        branch.release();
    }

    @Test
    void noValueGoesOnInALeafThatBeginsAGroup() {
        Branch branch = write(2_000, 850);
        List<Integer> leaves = continuing(branch);
        assertTrue(leaves.size() > branch.leafPages() / 3, leaves.size() + " of " + branch.leafPages());
        for (int leaf : leaves) {
            assertFalse((leaf + 1) % KeyedPageLayout.CONTINUED_GROUP_PAGES == 0, "leaf " + leaf);
            assertEquals(branch.devicePage(leaf) + 1, branch.devicePage(leaf + 1));
        }
        branch.release();
    }

    /** Whatever the number of records, also when the last one would be alone on the next leaf with half of its value. */
    @ParameterizedTest
    @ValueSource(ints = {400, 700, 1000, 1280})
    void everyBranchEndsWhole(int valueBytes) {
        for (int count = 1; count < 60; count++) {
            List<Entry> entries = entries(count, valueBytes);
            Branch branch = fixture.write(entries);
            assertEquals(List.of(), BranchVerifier.verify(branch).problems());
            try (BranchCursor cursor = BranchCursor.cached(branch, Span.ALL)) {
                BranchFixture.assertSame(entries, BranchFixture.forward(cursor), count + " records");
                BranchFixture.assertSame(entries, BranchFixture.backward(cursor), count + " records, backwards");
            }
            for (Entry entry : entries) {
                BranchFixture.assertSame(entry, fixture.find(branch, entry.key(), Long.MAX_VALUE), count + " records");
            }
            branch.release();
        }
    }

    @Test
    void versionsOfAKeyLieOnOneLeafEach() {
        List<Entry> entries = new ArrayList<>();
        for (Entry entry : entries(1, 850)) {
            for (int version = 100; version > 0; version--) {
                entries.add(new Entry(entry.key(), version, entry.kind(), entry.value()));
            }
        }
        Branch branch = fixture.write(entries, WriteMode.THROUGH);
        assertEquals(List.of(), continuing(branch));
        for (Entry entry : entries) {
            BranchFixture.assertSame(entry, fixture.find(branch, entry.key(), entry.sequence()), "version");
        }
        branch.release();
    }

    /** Of ranges that end within a leaf, also right before the entry that goes on and behind it. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 32})
    void rangesEndAnywhere(int chunkPages) {
        List<Entry> entries = entries(120, 900);
        Branch branch = fixture.write(entries, WriteMode.THROUGH);
        for (int from = 0; from < entries.size(); from += 7) {
            for (int to = from + 1; to < entries.size(); to++) {
                Span range = new Span(entries.get(from).key(), entries.get(to).key());
                List<Entry> expected = entries.subList(from, to);
                try (BranchCursor cursor = BranchCursor.streaming(branch, List.of(range), chunkPages, null)) {
                    BranchFixture.assertSame(expected, BranchFixture.forward(cursor), range.toString());
                }
                if (chunkPages == 1) {
                    try (BranchCursor cursor = BranchCursor.cached(branch, range)) {
                        BranchFixture.assertSame(expected, BranchFixture.forward(cursor), range.toString());
                    }
                }
            }
        }
        branch.release();
    }

    @Test
    void aReaderWithoutRoomIsToldSo() {
        List<Entry> entries = entries(100, 850);
        Branch branch = fixture.write(entries, WriteMode.THROUGH);
        Entry entry = lastOf(branch, entries, continuing(branch).get(0));
        int epoch = fixture.epochs.enter();
        try {
            long key = fixture.key(entry.key());
            assertThrows(
                    IllegalStateException.class,
                    () -> BranchReader.find(
                            fixture.file, branch, key, entry.key().length, Long.MAX_VALUE, new FoundEntry()));
        } finally {
            fixture.epochs.exit(epoch);
        }
        branch.release();
    }

    private Entry lastOf(Branch branch, List<Entry> entries, int leaf) {
        for (int i = 1; i < entries.size(); i++) {
            byte[] key = entries.get(i).key();
            if (LeafRanges.leafFor(branch, fixture.key(key), key.length) > leaf) {
                return entries.get(i - 1);
            }
        }
        throw new AssertionError("leaf " + leaf + " is the last");
    }

    @Test
    void aDamagedSecondPieceIsReported() {
        List<Entry> entries = entries(200, 850);
        Branch branch = fixture.write(entries, WriteMode.THROUGH);
        int leaf = continuing(branch).get(1);
        Entry cut = lastOf(branch, entries, leaf);
        fixture.file.discard(branch.devicePage(0), branch.pageCount());
        fixture.device.block(branch.devicePage(leaf + 1))[PAGE_BYTES - 1] ^= 1;
        refuses(branch, cut, entries, 2);
        List<byte[]> unread = new ArrayList<>();
        try (BranchSalvage salvage = new BranchSalvage(branch, (gap, why) -> {})) {
            while (salvage.next()) {
                try {
                    int index = Integer.parseInt(new String(salvage.key(), 3, 8));
                    assertArrayEquals(entries.get(index).value(), salvage.value());
                } catch (CorruptionException e) {
                    unread.add(salvage.key());
                }
            }
        }
        assertEquals(1, unread.size());
        assertArrayEquals(cut.key(), unread.get(0));
        branch.release();
    }

    /** Pages that are sealed and say what cannot be. */
    @ParameterizedTest
    @ValueSource(strings = {"longer", "nothing", "where no leaf follows", "no room", "neither yes nor no"})
    void senselessPiecesAreReported(String how) {
        List<Entry> entries = entries(200, 850);
        Branch branch = fixture.write(entries, WriteMode.THROUGH);
        int leaf = continuing(branch).get(1);
        int changed = switch (how) {
            case "no room" -> leaf + 1;
            case "where no leaf follows" -> KeyedPageLayout.CONTINUED_GROUP_PAGES - 1;
            default -> leaf;
        };
        Entry cut = lastOf(branch, entries, how.equals("where no leaf follows") ? changed : leaf);
        fixture.file.discard(branch.devicePage(0), branch.pageCount());
        change(branch, changed, page -> {
            int end = Memory.getUnsignedShort(page + KeyedPageLayout.END);
            long length = page + end - KeyedPageLayout.CONTINUATION_LENGTH_BYTES;
            switch (how) {
                case "longer" -> Memory.putShort(length, 1281);
                case "nothing" -> Memory.putShort(length, 0);
                case "no room" -> Memory.putShort(page + KeyedPageLayout.END, PAGE_BYTES);
                case "where no leaf follows" -> {
                    Memory.putByte(page + KeyedPageLayout.MORE, 1);
                    Memory.putShort(length, 10);
                }
                default -> Memory.putByte(page + KeyedPageLayout.MORE, 2);
            }
        });
        refuses(branch, cut, entries, 1);
        branch.release();
    }

    private void refuses(Branch branch, Entry cut, List<Entry> entries, int problems) {
        assertThrows(CorruptionException.class, () -> fixture.find(branch, cut.key(), Long.MAX_VALUE));
        try (BranchCursor cached = BranchCursor.cached(branch, Span.ALL);
                BranchCursor streamed = BranchCursor.streaming(branch, List.of(Span.ALL))) {
            assertThrows(CorruptionException.class, () -> BranchFixture.forward(cached));
            assertThrows(CorruptionException.class, () -> BranchFixture.forward(streamed));
        }
        BranchFixture.assertSame(entries.get(0), fixture.find(branch, entries.get(0).key(), Long.MAX_VALUE), "another");
        List<String> found = BranchVerifier.verify(branch).problems();
        assertEquals(problems, found.size(), found.toString());
    }

    private interface Change {
        void on(long page);
    }

    private void change(Branch branch, int leaf, Change change) {
        long page = fixture.pool.allocate(PAGE_BYTES);
        byte[] block = fixture.device.block(branch.devicePage(leaf));
        Memory.copyFrom(block, 0, page, block.length);
        change.on(page);
        PageSeal.seal(page, PageType.BRANCH_LEAF, BranchFixture.STORE_ID, branch.devicePage(leaf), branch.id());
        Memory.copyTo(page, block, 0, block.length);
        fixture.pool.free(page, PAGE_BYTES);
    }

    /** Of entries that go on both leaves are read at once, of others the one. */
    @Test
    void theIndexSaysWhichEntriesGoOn() {
        List<Entry> entries = entries(200, 850);
        Branch branch = fixture.write(entries, WriteMode.THROUGH);
        List<Integer> leaves = continuing(branch);
        fixture.find(branch, entries.get(0).key(), Long.MAX_VALUE);
        int pairs = 0;
        for (Entry entry : entries) {
            fixture.file.discard(branch.devicePage(0), branch.leafPages());
            long pagesBefore = fixture.cache.stats().loads();
            long readsBefore = fixture.device.reads();
            BranchFixture.assertSame(entry, fixture.find(branch, entry.key(), Long.MAX_VALUE), "found");
            long pages = fixture.cache.stats().loads() - pagesBefore;
            assertTrue(pages <= 2, pages + " pages");
            assertEquals(1, fixture.device.reads() - readsBefore);
            pairs += pages == 2 ? 1 : 0;
        }
        assertEquals(leaves.size(), pairs);
        branch.release();
    }

    /** Cursors that show what goes on take no memory for it: what a scan was lent, and what a merge has anyway, is enough. */
    @Test
    void cursorsNeedNoMemoryOnTheWay() {
        List<Entry> entries = entries(200, 850);
        Branch branch = fixture.write(entries);
        long lent = fixture.pool.allocate(BranchCursor.LENT_BYTES);
        try (BranchCursor scanning = BranchCursor.scanning(branch, Span.ALL, false, lent);
                BranchCursor merging = BranchCursor.streaming(branch, List.of(Span.ALL), 4, null)) {
            scanning.seekFirst();
            merging.seekFirst();
            merging.next();
            long before = fixture.pool.allocated();
            merging.seekFirst();
            for (Entry entry : entries) {
                assertArrayEquals(entry.value(), scanning.value());
                assertArrayEquals(entry.value(), Memory.bytes(merging.valueAddress(), merging.valueLength()));
                scanning.next();
                merging.next();
                assertTrue(fixture.pool.allocated() <= before, "more memory than before");
            }
        }
        fixture.pool.free(lent, BranchCursor.LENT_BYTES);
        branch.release();
    }

    @Test
    void whetherAPieceCameFromTheDeviceIsTold() {
        List<Entry> entries = entries(100, 850);
        Branch branch = fixture.write(entries, WriteMode.THROUGH);
        int leaf = continuing(branch).get(0);
        Entry cut = lastOf(branch, entries, leaf);
        fixture.file.discard(branch.devicePage(leaf + 1), 1);
        assertTrue(fixture.isFromDevice(branch, cut), "the second piece is not");
        assertFalse(fixture.isFromDevice(branch, cut));
        branch.release();
    }
}
