package dev.heartwood.engine.memtable;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.os.MemoryPool;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MemtableTest {
    private static final long MEBIBYTE = 1 << 20;

    private MemoryPool pool;
    private MemoryPool scratch;
    private Memtable memtable;
    private MemtableFixture fixture;

    @BeforeEach
    void open() {
        pool = MemoryPool.open(64 * MEBIBYTE);
        scratch = MemoryPool.open(MEBIBYTE);
        use(new Memtable(pool, new SortArrays(), 7, 4, 32 * MEBIBYTE));
    }

    private void use(Memtable made) {
        memtable = made;
        fixture = new MemtableFixture(made, scratch);
    }

    @AfterEach
    void close() {
        memtable.release();
        assertEquals(0, pool.allocated());
        pool.close();
        scratch.close();
    }

    /** What it counted too much made it full early, and had it look as if it held memory that it could give back. */
    @Test
    void aChunkThatTheHeapHasNoRoomForIsNotCounted() {
        pool.whenShort(64 * MEBIBYTE, isRefused -> {
            throw new OutOfMemoryError("for a test");
        });
        assertThrows(OutOfMemoryError.class, () -> memtable.reserve(0, 10, 10));
        assertEquals(0, memtable.chunkBytes());
    }

    @Test
    void emptyMemtableHoldsNothingAndFindsNothing() {
        assertEquals(0, memtable.bytesHeld());
        assertNull(fixture.find(bytes("a"), Entries.NEWEST));
        assertEquals(List.of(), MemtableFixture.forward(memtable.cursor(Entries.NEWEST)));
        assertEquals(List.of(), MemtableFixture.backward(memtable.cursor(Entries.NEWEST)));
        memtable.seal();
        assertEquals(List.of(), MemtableFixture.forward(memtable.sealedCursor()));
        assertEquals(7, memtable.generation());
    }

    @Test
    void tinyMemtableHoldsTwoSmallestBlocks() {
        fixture.put(0, bytes("key"), 1, bytes("value"));
        assertEquals(2 * MemoryPool.BLOCK_BYTES_MIN, memtable.bytesHeld());
        assertEquals(8, memtable.bytes());
        assertEquals(1, memtable.entries());
    }

    @Test
    void snapshotSeesTheNewestVersionUpToItself() {
        fixture.put(0, bytes("k"), 10, bytes("ten"));
        fixture.put(1, bytes("k"), 30, bytes("thirty"));
        fixture.insert(2, bytes("k"), 20, Entries.DELETE, bytes("")); // arrives late
        assertNull(fixture.find(bytes("k"), 9));
        assertEquals(10, fixture.find(bytes("k"), 19).sequence());
        assertEquals(Entries.DELETE, fixture.find(bytes("k"), 29).kind());
        assertEquals(30, fixture.find(bytes("k"), Entries.NEWEST).sequence());
        assertEquals(List.of(30L, 20L, 10L), sequences(memtable.cursor(Entries.NEWEST)));
        assertEquals(List.of(20L, 10L), sequences(memtable.cursor(29)));
    }

    @Test
    void batchIsInvisibleUntilItsCommit() {
        fixture.put(0, bytes("a"), 1, bytes("old"));
        EntryCursor before = memtable.cursor(Entries.NEWEST);
        assertTrue(memtable.reserveBatch(1, 2, 8));
        long batch = memtable.beginBatch(1);
        fixture.insertInBatch(batch, bytes("a"), 2, Entries.PUT, bytes("new"));
        fixture.insertInBatch(batch, bytes("b"), 3, Entries.PUT, bytes("new"));
        EntryCursor during = memtable.cursor(Entries.NEWEST);
        assertEquals(1, fixture.find(bytes("a"), Entries.NEWEST).sequence());
        assertNull(fixture.find(bytes("b"), Entries.NEWEST));

        memtable.commitBatch(batch);
        assertEquals(2, fixture.find(bytes("a"), Entries.NEWEST).sequence());
        assertEquals(3, fixture.find(bytes("b"), Entries.NEWEST).sequence());
        assertEquals(List.of(1L), sequences(before));
        assertEquals(List.of(1L), sequences(during));
        assertEquals(List.of(2L, 1L, 3L), sequences(memtable.cursor(Entries.NEWEST)));
    }

    @Test
    void laterEntryOfABatchWinsOverAnEarlierOneWithTheSameSequence() {
        assertTrue(memtable.reserveBatch(0, 3, 100));
        long batch = memtable.beginBatch(0);
        fixture.insertInBatch(batch, bytes("k"), 5, Entries.PUT, bytes("1"));
        fixture.insertInBatch(batch, bytes("k"), 5, Entries.PUT, bytes("2"));
        fixture.insertInBatch(batch, bytes("k"), 5, Entries.PUT, bytes("3"));
        memtable.commitBatch(batch);
        assertEquals("3", new String(fixture.find(bytes("k"), 5).value(), UTF_8));
        List<String> values = new ArrayList<>();
        EntryCursor cursor = memtable.cursor(Entries.NEWEST);
        for (cursor.seekFirst(); cursor.valid(); cursor.next()) {
            values.add(new String(MemtableFixture.entry(cursor).value(), UTF_8));
        }
        assertEquals(List.of("3", "2", "1"), values);
    }

    @Test
    void keysOrderAsUnsignedBytesAndPrefixesComeFirst() {
        byte[][] keys = {
            {}, {0}, {0, 0}, {0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 1}, {1}, {127}, {(byte) 128}, {-1}, {-1, -1}
        };
        for (int i = keys.length - 1; i >= 0; i--) {
            fixture.put(i % 4, keys[i], 1 + i, new byte[i]);
            memtable.cursor(Entries.NEWEST).close();
        }
        List<Long> expected = new ArrayList<>();
        for (long i = 1; i <= keys.length; i++) {
            expected.add(i);
        }
        assertEquals(expected, sequences(memtable.cursor(Entries.NEWEST)));
        for (int i = 0; i < keys.length; i++) {
            assertEquals(i, fixture.find(keys[i], Entries.NEWEST).value().length);
        }
    }

    @Test
    void recordLargerThanAChunkGetsItsOwn() {
        byte[] longKey = new byte[65536];
        byte[] value = new byte[100_000];
        value[99_999] = 42;
        fixture.put(0, bytes("a"), 1, bytes("small"));
        assertTrue(fixture.put(0, longKey, 2, value));
        fixture.put(0, bytes("b"), 3, bytes("small"));
        assertEquals(42, fixture.find(longKey, 2).value()[99_999]);
        assertEquals(List.of(2L, 1L, 3L), sequences(memtable.cursor(Entries.NEWEST)));
    }

    /** Where many share the pool, chunks that double would leave half of it unused. */
    @Test
    void chunksAreAPartOfWhatItIsExpectedToHave() {
        use(new Memtable(pool, new SortArrays(), 1, 2, 32 * MEBIBYTE, 256 << 10));
        for (long sequence = 1; memtable.bytes() < MEBIBYTE; sequence++) {
            assertTrue(fixture.put((int) (sequence % 2), bytes("key" + sequence), sequence, new byte[100]));
            assertTrue(memtable.chunkBytes() <= memtable.bytes() * 3 / 2 + (48 << 10), memtable.chunkBytes() + " for " + memtable.bytes());
        }
    }

    /** As those of one that was expected to: of small chunks large values leave much unused. */
    @Test
    void chunksGrowWithWhatItHasAllTheSame() {
        use(new Memtable(pool, new SortArrays(), 1, 2, 32 * MEBIBYTE, 64 << 10));
        for (long sequence = 1; memtable.bytes() < 8 * MEBIBYTE; sequence++) {
            assertTrue(fixture.put((int) (sequence % 2), bytes("key" + sequence), sequence, new byte[4500]));
        }
        assertTrue(memtable.chunkBytes() < memtable.bytes() * 5 / 4, memtable.chunkBytes() + " for " + memtable.bytes());
    }

    @Test
    void reserveRefusesWhenFullAndAnEmptyMemtableTakesAnything() {
        use(new Memtable(pool, new SortArrays(), 1, 2, 64 << 10));
        assertTrue(memtable.reserve(0, 10, 1 << 20));
        memtable.release();
        use(new Memtable(pool, new SortArrays(), 1, 2, 64 << 10));
        long sequence = 0;
        while (fixture.put((int) (sequence % 2), bytes("key" + sequence), sequence + 1, new byte[100])) {
            sequence++;
        }
        assertTrue(sequence > 64 * 1024 / 2 / 150, "only " + sequence);
        assertTrue(memtable.bytes() <= 64 << 10);
        assertFalse(memtable.reserveBatch(0, 10, 1000));
        for (int i = 0; i < sequence; i++) {
            assertEquals(i + 1, fixture.find(bytes("key" + i), Entries.NEWEST).sequence());
        }
    }

    @Test
    void sealedMemtableRefusesAndStaysReadable() {
        fixture.put(0, bytes("k"), 1, bytes("v"));
        memtable.seal();
        assertFalse(memtable.reserve(0, 1, 1));
        assertFalse(memtable.reserveBatch(0, 1, 1));
        assertEquals(1, fixture.find(bytes("k"), 1).sequence());
        assertEquals(List.of(1L), sequences(memtable.sealedCursor()));
    }

    @Test
    void reservedInsertSucceedsWithAnEmptyPool() {
        // A batch too small for the index to grow ahead, whose keys nevertheless all fall into one partition.
        assertTrue(fixture.put(0, bytes("first"), 1, bytes("")));
        assertTrue(memtable.reserveBatch(1, 63, 63 * 8));
        while (pool.allocate(MemoryPool.BLOCK_BYTES_MIN) != 0) {
            // taken, so that no table can grow
        }
        List<byte[]> keys = keysOfFirstPartition(63);
        long batch = memtable.beginBatch(1);
        for (byte[] key : keys) {
            fixture.insertInBatch(batch, key, 2, Entries.PUT, bytes(""));
        }
        memtable.commitBatch(batch);
        assertFalse(memtable.reserve(0, 1, 1));
        for (byte[] key : keys) {
            assertEquals(2, fixture.find(key, Entries.NEWEST).sequence());
        }
        assertNull(fixture.find(bytes("absent"), Entries.NEWEST));
        memtable.seal();
        assertEquals(64, MemtableFixture.forward(memtable.sealedCursor()).size());
        memtable.release();
        pool.close();
        open();
    }

    @Test
    void refusedBatchLeavesAnEmptyMemtableUsable() {
        List<Long> blocks = new ArrayList<>();
        for (long block = pool.allocate(4096); block != 0; block = pool.allocate(4096)) {
            blocks.add(block);
        }
        for (int freed = 0; freed < 16; freed++) {
            pool.free(blocks.removeLast(), 4096);
        }
        assertFalse(memtable.reserveBatch(0, 100_000, 0));
        blocks.forEach(block -> pool.free(block, 4096));
        assertTrue(memtable.reserveBatch(0, 100_000, 0));
        assertTrue(fixture.put(0, bytes("k"), 1, bytes("v")));
    }

    /** A table that cannot grow ahead of a batch: the chunk is there, the index is not. */
    @Test
    void refusedIndexGrowthLeavesAnEmptyMemtableUsable() {
        assertTrue(memtable.reserveBatch(0, 1, 1 << 20));
        List<Long> blocks = new ArrayList<>();
        for (long block = pool.allocate(4096); block != 0; block = pool.allocate(4096)) {
            blocks.add(block);
        }
        assertFalse(memtable.reserveBatch(0, 10_000, 0));
        assertTrue(memtable.reserve(0, 1, 1));
        blocks.forEach(block -> pool.free(block, 4096));
        assertTrue(memtable.reserveBatch(0, 10_000, 0));
    }

    /** The block of the first tables was taken all the same, from between what others gave back, and no large block was whole again. */
    @Test
    void memtableWithoutRoomForRecordsHoldsNothing() {
        List<Long> blocks = new ArrayList<>();
        for (long block = pool.allocate(4096); block != 0; block = pool.allocate(4096)) {
            blocks.add(block);
        }
        pool.free(blocks.removeFirst(), 4096);
        assertFalse(memtable.reserve(0, 1, 4096));
        assertEquals(0, memtable.bytesHeld());
        // There is room for the record, and none for the tables.
        assertFalse(memtable.reserve(0, 1, 1));
        assertFalse(memtable.reserve(0, 1, 1));
        blocks.forEach(block -> pool.free(block, 4096));
        assertTrue(fixture.put(0, bytes("k"), 1, bytes("v")));
    }

    /** By what is told beforehand a batch that no pool could hold is refused. */
    @Test
    void firstBatchTakesWhatIsTold() {
        for (int lanes : new int[] {1, 4, 16}) {
            for (int count : new int[] {1, 63, 64, 300, 3_000, 50_000, 300_000}) {
                Memtable empty = new Memtable(pool, new SortArrays(), 1, lanes, MEBIBYTE);
                assertTrue(empty.reserveBatch(lanes - 1, count, count));
                assertEquals(empty.bytesHeld(), Memtable.bytesReserved(lanes, count, count), lanes + " lanes, " + count);
                empty.release();
            }
        }
    }

    private static List<byte[]> keysOfFirstPartition(int count) {
        List<byte[]> keys = new ArrayList<>();
        try (MemoryPool memory = MemoryPool.open(4096)) {
            long address = memory.allocate(8);
            for (long i = 0; keys.size() < count; i++) {
                dev.heartwood.engine.os.Memory.putLong(address, i);
                if (dev.heartwood.engine.os.KeyHasher.hash(address, 8) >>> 58 == 0) {
                    keys.add(dev.heartwood.engine.os.Memory.bytes(address, 8));
                }
            }
        }
        return keys;
    }

    @Test
    void cursorTurnsRoundBetweenRuns() {
        for (int i = 0; i < 100; i++) {
            fixture.put(i % 4, bytes("k%02d".formatted(i * 37 % 100)), i + 1, bytes(""));
            memtable.cursor(Entries.NEWEST).close();
        }
        EntryCursor cursor = memtable.cursor(Entries.NEWEST);
        fixture.seek(cursor, bytes("k50"));
        for (int step = 0; step < 40; step++) {
            cursor.next();
            cursor.next();
            cursor.previous();
            assertEquals("k%02d".formatted(51 + step), new String(MemtableFixture.entry(cursor).key(), UTF_8));
        }
        fixture.seekBefore(cursor, bytes("k00"));
        assertFalse(cursor.valid());
        fixture.seek(cursor, bytes("k999"));
        assertFalse(cursor.valid());
    }

    private static List<Long> sequences(EntryCursor cursor) {
        List<Long> all = new ArrayList<>();
        for (cursor.seekFirst(); cursor.valid(); cursor.next()) {
            all.add(cursor.sequence());
        }
        return all;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }
}
