package dev.heartwood.engine.branch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.cache.CacheStats;
import dev.heartwood.engine.os.Memory;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a scan beyond the cache has read: enough to be there in time, and not much more than it takes. */
class ScanReadAheadTest {
    private static final int RECORDS = 20_000;
    private static final int RECORDS_PER_LEAF = 4;

    private final BranchFixture fixture = new BranchFixture(2 << 20);
    private final Branch branch = write();
    /** Scans begin where nothing was read before. */
    private int leaf;

    private Branch write() {
        Random random = new Random(1);
        List<BranchFixture.Entry> entries = new ArrayList<>();
        for (int i = 0; i < RECORDS; i++) {
            byte[] value = new byte[1000];
            random.nextBytes(value);
            entries.add(new BranchFixture.Entry(key(i), 1, Entries.PUT, value));
        }
        return fixture.write(entries, WriteMode.THROUGH);
    }

    private static byte[] key(int number) {
        return ByteBuffer.allocate(8).putLong(number).array();
    }

    @BeforeEach
    void readTheIndex() {
        assertEquals(RECORDS / RECORDS_PER_LEAF, branch.leafPages());
        for (int i = 0; i < RECORDS; i += RECORDS_PER_LEAF) {
            LeafRanges.leafFor(branch, fixture.key(key(i)), Long.BYTES);
        }
    }

    @AfterEach
    void close() {
        branch.release();
        fixture.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 9, 20, 50, 100, 400})
    void aScanReadsAboutTwiceWhatItTakesAtMost(int leaves) {
        long read = scan(leaves);
        assertTrue(read >= leaves && read <= 2L * leaves + 2, leaves + " leaves: " + read + " pages");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 9, 20, 50, 100, 400})
    void soDoesAScanThatGoesBack(int leaves) {
        long read = scanBack(leaves);
        assertTrue(read >= leaves && read <= 2L * leaves + 2, leaves + " leaves: " + read + " pages");
    }

    /** Scans so many leaves back to the next place; returns how many pages were read for that. */
    private long scanBack(int leaves) {
        leaf += leaves + 70;
        byte[] to = key(leaf * RECORDS_PER_LEAF);
        try (BranchCursor cursor = BranchCursor.cached(branch, Span.ALL)) {
            long before = pagesRead();
            cursor.seekBeforeAhead(fixture.key(to), to.length);
            cursor.seekBefore(fixture.key(to), to.length);
            for (int i = 1; i < leaves * RECORDS_PER_LEAF; i++) {
                cursor.previous();
            }
            return pagesRead() - before;
        }
    }

    @Test
    void aSeekBackAsksForAsManyToo() {
        seekBack(2);
        for (int i = 0; i < 29; i++) {
            scanBack(12);
        }
        seekBack(12);
        for (int i = 0; i < 30; i++) {
            scan(2);
        }
        seekBack(2);
    }

    private void seekBack(int leaves) {
        leaf += 100;
        byte[] to = key(leaf * RECORDS_PER_LEAF);
        try (BranchCursor cursor = BranchCursor.cached(branch, Span.ALL)) {
            long before = fixture.cache.stats().prefetches();
            assertTrue(cursor.seekBeforeAhead(fixture.key(to), to.length));
            assertEquals(leaves, fixture.cache.stats().prefetches() - before);
            long read = pagesRead();
            cursor.seekBefore(fixture.key(to), to.length);
            assertEquals(read, pagesRead());
            assertArrayEquals(key(leaf * RECORDS_PER_LEAF - 1), Memory.bytes(cursor.keyAddress(), cursor.keyLength()));
            assertFalse(cursor.seekBeforeAhead(fixture.key(to), to.length), "it is there");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 12, 30})
    void aSeekAsksForAsManyLeavesAsScansTookLately(int leaves) {
        assertEquals(2, pagesAskedBySeek());
        for (int i = 0; i < 10; i++) {
            scan(leaves);
        }
        assertEquals(leaves, pagesAskedBySeek());
        for (int i = 0; i < 40; i++) {
            scan(2);
        }
        assertEquals(2, pagesAskedBySeek());
    }

    @Test
    void aSeekAsksForNoMoreThanItsRangeHas() {
        for (int i = 0; i < 10; i++) {
            scan(12);
        }
        leaf += 100;
        Span range = new Span(null, key((leaf + 2) * RECORDS_PER_LEAF));
        try (BranchCursor cursor = BranchCursor.cached(branch, range)) {
            cursor.seekLast();
            long before = pagesRead();
            byte[] from = key(leaf * RECORDS_PER_LEAF);
            assertTrue(cursor.seekAhead(fixture.key(from), from.length));
            assertTrue(pagesRead() - before <= 2, pagesRead() - before + " pages");
        }
    }

    /** The leaf that was found for a key stayed with the runs that were not reached, and was where the next key was looked for. */
    @Test
    void whatASeekThatFailedHadFoundIsForgotten() {
        for (int next : new int[] {100, 10_000, 10_001, 19_999}) {
            try (MergeCursor merge = new MergeCursor(failingOnce(), BranchCursor.cached(branch, Span.ALL))) {
                byte[] first = key(10_000);
                assertThrows(IllegalStateException.class, () -> merge.seek(fixture.key(first), first.length));
                byte[] second = key(next);
                merge.seekInTurn(fixture.key(second), second.length);
                for (int source = 0; source < 2; source++) {
                    assertArrayEquals(second, Memory.bytes(merge.keyAddress(), merge.keyLength()));
                    merge.next();
                }
            }
        }
    }

    @Test
    void whatASeekBackThatFailedHadFoundIsForgotten() {
        for (int next : new int[] {100, 10_000, 10_001, 19_999}) {
            try (MergeCursor merge = new MergeCursor(failingOnce(), BranchCursor.cached(branch, Span.ALL))) {
                byte[] first = key(10_000);
                assertThrows(IllegalStateException.class, () -> merge.seekBefore(fixture.key(first), first.length));
                byte[] second = key(next);
                merge.seekBeforeInTurn(fixture.key(second), second.length);
                for (int source = 0; source < 2; source++) {
                    assertArrayEquals(key(next - 1), Memory.bytes(merge.keyAddress(), merge.keyLength()));
                    merge.previous();
                }
            }
        }
    }

    /** Walks the branch, but for its first seek, which fails. */
    private EntryCursor failingOnce() {
        BranchCursor entries = BranchCursor.cached(branch, Span.ALL);
        AtomicBoolean failed = new AtomicBoolean();
        return (EntryCursor) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {EntryCursor.class}, (proxy, method, arguments) -> {
                    boolean isSeek = method.getName().equals("seek") || method.getName().equals("seekBefore");
                    if (isSeek && !failed.getAndSet(true)) {
                        throw new IllegalStateException("planted");
                    }
                    return method.invoke(entries, arguments);
                });
    }

    /** Scans so many leaves from the next place on; returns how many pages were read for that. */
    private long scan(int leaves) {
        try (BranchCursor cursor = BranchCursor.cached(branch, Span.ALL)) {
            long before = pagesRead();
            seekAhead(cursor);
            byte[] from = key(leaf * RECORDS_PER_LEAF);
            cursor.seek(fixture.key(from), from.length);
            for (int i = 1; i < leaves * RECORDS_PER_LEAF; i++) {
                cursor.next();
            }
            leaf += leaves + 70;
            return pagesRead() - before;
        }
    }

    private long pagesAskedBySeek() {
        try (BranchCursor cursor = BranchCursor.cached(branch, Span.ALL)) {
            long before = fixture.cache.stats().prefetches();
            seekAhead(cursor);
            leaf += 70;
            return fixture.cache.stats().prefetches() - before;
        }
    }

    private void seekAhead(BranchCursor cursor) {
        byte[] from = key(leaf * RECORDS_PER_LEAF);
        assertTrue(cursor.seekAhead(fixture.key(from), from.length), "the leaf is in the cache");
    }

    private long pagesRead() {
        CacheStats stats = fixture.cache.stats();
        return stats.loads() + stats.prefetches();
    }
}
