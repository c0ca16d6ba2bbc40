package dev.heartwood.engine.branch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.BranchFixture.Entry;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which memory cursors take for keys that fit into no page, how much of it, and how long. */
class LongKeyMemoryTest {
    private static final int LONG_KEY_BYTES = 9_000;
    private static final int LONG_KEY_BLOCK = 16 << 10;

    private final MemoryPool calls = MemoryPool.open(1 << 20);
    private final MemoryPool merges = MemoryPool.open(1 << 20);
    private BranchFixture fixture;
    private List<Entry> entries;
    /** One long key between short ones. */
    private Branch branch;

    @BeforeEach
    void open() {
        fixture = new BranchFixture();
        BranchStorage storage = new BranchStorage(
                fixture.file, fixture.extents, calls, merges, BranchFixture.STORE_ID, fixture.storage.releaser());
        byte[] longKey = new byte[LONG_KEY_BYTES];
        Arrays.fill(longKey, (byte) 'k');
        entries = new ArrayList<>();
        for (byte[] key : List.of(BranchFixture.bytes("a"), longKey, BranchFixture.bytes("z"))) {
            entries.add(new Entry(key, 0, Entries.PUT, new byte[10]));
        }
        BranchWriter writer = new BranchWriter(storage, fixture.newId(), WriteMode.CACHED);
        entries.forEach(entry -> fixture.add(writer, entry));
        branch = writer.finish();
        assertEquals(0, merges.allocated());
    }

    @AfterEach
    void close() {
        branch.release();
        fixture.close();
        assertEquals(0, calls.allocated());
        assertEquals(0, merges.allocated());
        calls.close();
        merges.close();
    }

    @Test
    void aMergeTakesItOfItsOwnPoolAndSaysSo() {
        try (BranchCursor cursor = BranchCursor.streaming(branch, List.of(Span.ALL), 1, null)) {
            cursor.seekFirst();
            long buffers = merges.allocated() - PageLayout.PAGE_BYTES;
            cursor.next();
            assertEquals(0, calls.allocated());
            assertTrue(merges.allocated() <= buffers + BranchCursor.memoryBytes(branch));
            assertEquals(buffers + PageLayout.PAGE_BYTES + LONG_KEY_BLOCK, merges.allocated());
            BranchFixture.assertSame(entries.get(1), BranchFixture.entry(cursor), "long key");
            cursor.next();
            assertEquals(buffers + PageLayout.PAGE_BYTES, merges.allocated(), "the long key was passed");
        }
    }

    @Test
    void aMergeWhosePoolIsUsedUpTakesItOfCalls() {
        try (BranchCursor cursor = BranchCursor.streaming(branch, List.of(Span.ALL), 1, null)) {
            cursor.seekFirst();
            List<Long> rest = takeAll(merges);
            cursor.next();
            assertEquals(LONG_KEY_BLOCK, calls.allocated());
            BranchFixture.assertSame(entries.get(1), BranchFixture.entry(cursor), "long key");
            List<Long> ofCalls = takeAll(calls);
            cursor.previous();
            ofCalls.add(calls.allocate(LONG_KEY_BLOCK));
            assertThrows(InsufficientMemoryException.class, cursor::next);
            ofCalls.stream().limit(ofCalls.size() - 1).forEach(block -> calls.free(block, PageLayout.PAGE_BYTES));
            calls.free(ofCalls.getLast(), LONG_KEY_BLOCK);
            rest.forEach(block -> merges.free(block, PageLayout.PAGE_BYTES));
        }
    }

    @Test
    void aScanKeepsNoneForAKeyThatIsNotAskedForAnyMore() {
        try (BranchCursor cursor = BranchCursor.cached(branch, Span.ALL)) {
            cursor.seekFirst();
            cursor.next();
            assertEquals(PageLayout.PAGE_BYTES + LONG_KEY_BLOCK, calls.allocated());
            cursor.forgetKey();
            assertEquals(PageLayout.PAGE_BYTES, calls.allocated());
            cursor.next();
            cursor.previous();
            BranchFixture.assertSame(entries.get(1), BranchFixture.entry(cursor), "gathered again");
            cursor.next();
            BranchFixture.assertSame(entries.get(2), BranchFixture.entry(cursor), "short key");
            assertEquals(PageLayout.PAGE_BYTES, calls.allocated());
            assertEquals(0, merges.allocated());
        }
    }

    /** The next key is short, its value is not: keys of both kinds give the memory back. */
    @Test
    void aShortKeyOfALargeValueGivesItBack() {
        BranchWriter writer = new BranchWriter(branch.storage, fixture.newId(), WriteMode.CACHED);
        fixture.add(writer, entries.get(1));
        fixture.add(writer, new Entry(BranchFixture.bytes("z"), 0, Entries.PUT, new byte[100_000]));
        Branch large = writer.finish();
        try (BranchCursor cursor = BranchCursor.cached(large, Span.ALL)) {
            cursor.seekFirst();
            assertEquals(PageLayout.PAGE_BYTES + LONG_KEY_BLOCK, calls.allocated());
            cursor.next();
            assertEquals(1, cursor.keyLength());
            assertEquals(PageLayout.PAGE_BYTES, calls.allocated());
        }
        large.release();
    }

    private static List<Long> takeAll(MemoryPool pool) {
        List<Long> blocks = new ArrayList<>();
        for (long block; (block = pool.allocate(PageLayout.PAGE_BYTES)) != 0; ) {
            blocks.add(block);
        }
        return blocks;
    }
}
