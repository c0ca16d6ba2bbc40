package dev.heartwood.engine.branch;

import static dev.heartwood.engine.branch.BranchFixture.entries;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.BranchFixture.Entry;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Where large values lie, and what reading them asks of the device. */
class LargeValuesTest {
    private static final int COUNT = 600;

    private final BranchFixture fixture = new BranchFixture();

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void aValueThatCostsAFewBytesOtherwiseLiesOnOnePage() {
        // Three on a page of 4064 bytes, and 164 bytes are left.
        List<Entry> entries = entries(COUNT, 1300);
        Branch branch = fixture.write(entries);
        assertEquals(COUNT / 3, branch.overflowGroups()[0].pageCount());
        assertEquals(COUNT * 1300L, branch.overflowBytes()[0]);
        for (Entry entry : entries) {
            assertTrue(isFoundInOnePiece(branch, entry));
            BranchFixture.assertSame(entry, fixture.find(branch, entry.key(), Long.MAX_VALUE), "on one page");
        }
        assertEquals(List.of(), BranchVerifier.verify(branch).problems());
        branch.release();
    }

    @Test
    void aValueThatWouldCostMoreSpansTwoPages() {
        // Two on a page, and 1264 bytes of the next.
        List<Entry> entries = entries(COUNT, 1400);
        Branch branch = fixture.write(entries);
        int dense = (COUNT * 1400 + 4063) / 4064;
        int pages = branch.overflowGroups()[0].pageCount();
        assertTrue(pages >= dense && pages <= dense * 1.01, pages + " pages, " + dense + " if every page were full");
        int inOnePiece = 0;
        for (Entry entry : entries) {
            inOnePiece += isFoundInOnePiece(branch, entry) ? 1 : 0;
            BranchFixture.assertSame(entry, fixture.find(branch, entry.key(), Long.MAX_VALUE), "on one page or two");
        }
        assertTrue(inOnePiece > COUNT / 2 && inOnePiece < COUNT, inOnePiece + " values lie on one page");
        assertEquals(List.of(), BranchVerifier.verify(branch).problems());
        branch.release();
    }

    private boolean isFoundInOnePiece(Branch branch, Entry entry) {
        Epochs epochs = fixture.epochs;
        int epoch = epochs.enter();
        try {
            FoundEntry found = new FoundEntry();
            assertTrue(BranchReader.find(
                    fixture.file, branch, fixture.key(entry.key()), entry.key().length, Long.MAX_VALUE, found));
            return found.largeValues == null;
        } finally {
            epochs.exit(epoch);
        }
    }

    @Test
    void whetherAValueCameFromTheDeviceIsToldByItsPage() {
        List<Entry> entries = entries(30, 1300);
        Branch branch = fixture.write(entries, WriteMode.THROUGH);
        assertTrue(fixture.isFromDevice(branch, entries.get(0)), "nothing is cached");
        assertEquals(false, fixture.isFromDevice(branch, entries.get(0)));
        assertTrue(fixture.isFromDevice(branch, entries.get(29)), "the leaf is cached, the page of the value is not");
        branch.release();
    }

    @Test
    void valuesTakenOneAfterTheOtherAreThereAheadOfUse() {
        List<Entry> entries = entries(COUNT, 1400);
        Branch branch = fixture.write(entries, WriteMode.THROUGH);
        int pages = branch.overflowGroups()[0].pageCount();
        long missed = fixture.cache.stats().loads();
        long ahead = fixture.cache.stats().prefetches();
        try (BranchCursor cursor = BranchCursor.cached(branch, Span.ALL)) {
            cursor.seekFirst();
            for (Entry entry : entries) {
                assertArrayEquals(entry.value(), taken(cursor));
                cursor.next();
            }
            assertTrue(cursor.largeReads() > 0 && cursor.largeReads() < COUNT / 10, cursor.largeReads() + " reads");
        }
        missed = fixture.cache.stats().loads() - missed;
        ahead = fixture.cache.stats().prefetches() - ahead;
        assertTrue(missed <= 5, missed + " pages were missed");
        assertTrue(ahead >= pages && ahead <= pages + branch.pageCount(), ahead + " pages read ahead for " + pages);
        branch.release();
    }

    @Test
    void aScanThatEndsSoonReadsLittleMoreThanItTakes() {
        List<Entry> entries = entries(COUNT, 1400);
        Branch branch = fixture.write(entries, WriteMode.THROUGH);
        long before = fixture.cache.stats().prefetches();
        try (BranchCursor cursor = BranchCursor.cached(branch, Span.ALL)) {
            cursor.seekFirst();
            assertArrayEquals(entries.get(0).value(), taken(cursor));
        }
        long ahead = fixture.cache.stats().prefetches() - before;
        assertTrue(ahead <= 6, ahead + " pages read for one value");
        branch.release();
    }

    /** The first scans ask for more and more as they go on, those after them for all of it. */
    @Test
    void aScanIsReadAheadAsFarAsThoseBeforeItWent() {
        List<Entry> entries = entries(COUNT, 1400);
        Branch branch = fixture.write(entries, WriteMode.THROUGH);
        long first = readsOfScan(branch, entries, 0);
        for (int from = 40; from < 400; from += 40) {
            readsOfScan(branch, entries, from);
        }
        long before = fixture.cache.stats().prefetches();
        long later = readsOfScan(branch, entries, 480);
        assertTrue(later < first, later + " reads, " + first + " at first");
        long ahead = fixture.cache.stats().prefetches() - before;
        assertTrue(ahead <= 2 * 40 * 1400 / 4064, ahead + " pages for 40 values");
        branch.release();
    }

    private long readsOfScan(Branch branch, List<Entry> entries, int from) {
        long before = fixture.device.reads();
        try (BranchCursor cursor = BranchCursor.cached(branch, Span.ALL)) {
            cursor.seekFirst();
            for (int i = 0; i < from; i++) {
                cursor.next();
            }
            for (int i = from; i < from + 40; i++) {
                assertArrayEquals(entries.get(i).value(), taken(cursor));
                cursor.next();
            }
        }
        return fixture.device.reads() - before;
    }

    /** It sleeps less for its own read than for one that was begun ahead; only what lies in another extent is. */
    @Test
    void aValueOfSeveralPagesIsReadByWhoAsksForIt() {
        List<Entry> entries = entries(60, 20_000);
        Branch branch = fixture.write(entries, WriteMode.THROUGH);
        int pages = branch.overflowGroups()[0].pageCount();
        int extents = branch.overflowGroups()[0].extents().length;
        assertTrue(fixture.isFromDevice(branch, entries.get(0)));
        long reads = fixture.device.reads();
        for (Entry entry : entries) {
            BranchFixture.assertSame(entry, fixture.find(branch, entry.key(), Long.MAX_VALUE), "of several pages");
        }
        reads = fixture.device.reads() - reads;
        assertTrue(reads <= entries.size() + extents, reads + " reads in " + extents + " extents");
        long ahead = fixture.cache.stats().prefetches();
        assertTrue(ahead > 0 && ahead <= extents * 5L, ahead + " of " + pages + " pages were read ahead");
        branch.release();
    }

    /** It was read past the cache, again and again. */
    @Test
    void ofAValueTheOnePageThatIsAbsentIsCached() {
        List<Entry> entries = entries(60, 6_000);
        Branch branch = fixture.write(entries, WriteMode.THROUGH);
        for (Entry entry : entries) {
            fixture.find(branch, entry.key(), Long.MAX_VALUE);
            long reads = fixture.device.reads();
            fixture.find(branch, entry.key(), Long.MAX_VALUE);
            assertEquals(reads, fixture.device.reads());
        }
        branch.release();
    }

    /** Frames evicted for a value are free only once who reads it has left its epoch: it read page after page from where there were none. */
    @Test
    void aValueLargerThanTheCacheIsReadByTheExtent() {
        try (BranchFixture small = new BranchFixture(1 << 20)) {
            List<Entry> entries = entries(4, 1_700_000);
            Branch branch = small.write(entries, WriteMode.THROUGH);
            int extents = branch.overflowGroups()[0].extents().length;
            for (int round = 0; round < 2; round++) {
                long reads = small.device.reads();
                for (Entry entry : entries) {
                    BranchFixture.assertSame(entry, small.find(branch, entry.key(), Long.MAX_VALUE), "a large value");
                }
                reads = small.device.reads() - reads;
                assertTrue(reads <= 3L * extents, reads + " reads of " + extents + " extents");
            }
            branch.release();
        }
    }

    /** All of it was read ahead, which drove out all else and then itself, and what was gone by then read again. */
    @Test
    void aCursorReadsAValueLargerThanTheCacheOnce() {
        try (BranchFixture small = new BranchFixture(1 << 20)) {
            List<Entry> entries = entries(3, 3_000_000);
            Branch branch = small.write(entries, WriteMode.THROUGH);
            long pages = branch.overflowGroups()[0].pageCount();
            long read = small.device.bytesRead();
            try (BranchCursor cursor = BranchCursor.cached(branch, Span.ALL)) {
                cursor.seekFirst();
                for (Entry entry : entries) {
                    assertArrayEquals(entry.value(), taken(cursor));
                    cursor.next();
                }
            }
            read = small.device.bytesRead() - read >>> PageLayout.PAGE_SHIFT;
            assertTrue(read >= pages && read <= pages * 1.2, read + " pages read of " + pages);
            branch.release();
        }
    }

    @Test
    void aCursorThatGoesBackReadsNothingOfWhatItLeaves() {
        List<Entry> entries = entries(COUNT, 1400);
        Branch branch = fixture.write(entries, WriteMode.THROUGH);
        int pages = branch.overflowGroups()[0].pageCount();
        try (BranchCursor cursor = BranchCursor.cached(branch, Span.ALL)) {
            cursor.seekLast();
            for (Entry entry : entries.reversed()) {
                assertArrayEquals(entry.value(), taken(cursor));
                cursor.previous();
            }
            int leaves = branch.leafPages();
            assertTrue(cursor.largeReads() <= 2 * leaves, cursor.largeReads() + " reads of " + leaves + " leaves");
        }
        long read = fixture.cache.stats().loads() + fixture.cache.stats().prefetches();
        assertTrue(read <= pages + branch.pageCount() + 5, read + " pages read of " + pages);
        branch.release();
    }

    /** Nobody reads these ahead, and they are long. */
    @Test
    void whatACursorReadsThatGoesBackGoesBeforeWhatIsLookedUp() {
        List<Entry> entries = entries(400, 40_000);
        Branch branch = fixture.write(entries, WriteMode.THROUGH);
        List<Entry> hot = entries.subList(0, 20);
        List<Entry> scanned = entries.subList(20, entries.size());
        for (int round = 0; round < 3; round++) {
            findAll(branch, hot);
        }
        for (int round = 0; round < 2; round++) {
            try (BranchCursor cursor = BranchCursor.cached(branch, Span.ALL)) {
                cursor.seekLast();
                for (Entry entry : scanned.reversed()) {
                    assertArrayEquals(entry.value(), taken(cursor));
                    cursor.previous();
                }
            }
        }
        long reads = fixture.device.reads();
        findAll(branch, hot);
        reads = fixture.device.reads() - reads;
        assertTrue(reads <= hot.size() / 4, reads + " reads of what was in the cache");
        branch.release();
    }

    private void findAll(Branch branch, List<Entry> entries) {
        for (Entry entry : entries) {
            BranchFixture.assertSame(entry, fixture.find(branch, entry.key(), Long.MAX_VALUE), "looked up");
        }
    }

    @Test
    void aCursorThatJumpsAboutOrGoesBackReadsTheSame() {
        List<Entry> entries = entries(COUNT, 1400);
        Branch branch = fixture.write(entries, WriteMode.THROUGH);
        Random random = new Random(1);
        try (BranchCursor cursor = BranchCursor.cached(branch, Span.ALL)) {
            for (int jump = 0; jump < 50; jump++) {
                int at = random.nextInt(COUNT);
                cursor.seek(fixture.key(entries.get(at).key()), entries.get(at).key().length);
                int step = random.nextBoolean() ? 1 : -1;
                for (int i = at; cursor.valid() && Math.abs(i - at) < 120; i += step) {
                    assertArrayEquals(entries.get(i).value(), taken(cursor));
                    if (step > 0) {
                        cursor.next();
                    } else {
                        cursor.previous();
                    }
                }
            }
        }
        branch.release();
    }

    private static byte[] taken(BranchCursor cursor) {
        byte[] value = new byte[cursor.valueLength()];
        cursor.readAheadLarge();
        cursor.largeGroup().readPatiently(cursor.largePosition(), MemorySegment.ofArray(value), 0, value.length);
        return value;
    }

    @Test
    void gatheredValuesLieInTheOrderOfKeysWhateverGroupTheyCameFrom() {
        List<Entry> entries = entries(COUNT, 1300);
        List<Entry> even = new ArrayList<>();
        List<Entry> odd = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            (i % 2 == 0 ? even : odd).add(entries.get(i));
        }
        Branch one = fixture.write(even, WriteMode.THROUGH);
        Branch other = fixture.write(odd, WriteMode.THROUGH);
        Branch shared = merge(one, other, false);
        assertEquals(2, shared.overflowGroups().length);
        Branch gathered = merge(one, other, true);
        assertEquals(1, gathered.overflowGroups().length);
        assertEquals(gathered.id(), gathered.overflowGroups()[0].id());
        assertEquals(COUNT / 3, gathered.overflowGroups()[0].pageCount());
        try (BranchCursor cursor = BranchCursor.cached(gathered, Span.ALL)) {
            cursor.seekFirst();
            long last = -1;
            for (Entry entry : entries) {
                BranchFixture.assertSame(entry, BranchFixture.entry(cursor), "gathered");
                assertTrue(cursor.largePosition() > last);
                last = cursor.largePosition();
                cursor.next();
            }
        }
        assertEquals(List.of(), BranchVerifier.verify(gathered).problems());
        for (Branch branch : List.of(one, other, shared, gathered)) {
            branch.release();
        }
        assertEquals(0, fixture.extents.allocatedCount());
    }

    private Branch merge(Branch one, Branch other, boolean gathers) {
        BranchWriter writer = new BranchWriter(fixture.storage, fixture.newId(), WriteMode.THROUGH);
        if (gathers) {
            writer.gatherLargeValues();
        }
        try (MergeCursor cursor = new MergeCursor(
                BranchCursor.streaming(one, List.of(Span.ALL)), BranchCursor.streaming(other, List.of(Span.ALL)))) {
            cursor.seekFirst();
            while (cursor.valid()) {
                cursor.readAheadLarge();
                writer.add(cursor);
                cursor.next();
            }
        }
        return writer.finish();
    }

    /** Each page of a value that was put together in memory was a read of its own. */
    @Test
    void aValueThatIsPutTogetherTakesFewReads() {
        List<Entry> written = BranchFixture.entries(3, 20_000);
        Branch branch = fixture.write(written, WriteMode.THROUGH);
        byte[] expected = written.get(1).value();
        long reads = fixture.device.reads();
        branch.groups[0].read(expected.length, fixture.scratch, expected.length);
        reads = fixture.device.reads() - reads;
        assertArrayEquals(expected, Memory.bytes(fixture.scratch, expected.length));
        assertTrue(reads <= 2, reads + " reads");
        branch.release();
    }
}
