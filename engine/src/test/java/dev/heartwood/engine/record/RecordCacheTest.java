package dev.heartwood.engine.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is taken in, what stays, and what is never found again. */
class RecordCacheTest {
    private final RecordFixture fixture = new RecordFixture(1 << 20);

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void aRecordIsTakenInWhenItsKeyIsMetAgain() {
        fixture.read("key", "value");
        assertNull(fixture.find("key"));
        fixture.read("key", "value");
        assertEquals("value", fixture.find("key"));
        assertEquals(1, fixture.cache.hits());
        assertNull(fixture.find("other"));
    }

    @Test
    void emptyValuesAndKeysAreRecords() {
        fixture.readTwice("", "value");
        fixture.readTwice("key", "");
        assertEquals("value", fixture.find(""));
        assertEquals("", fixture.find("key"));
    }

    @Test
    void largeRecordsAreNotTakenIn() {
        String most = "v".repeat(RecordLayout.PAYLOAD_BYTES_MAX - 3);
        fixture.readTwice("key", most);
        fixture.readTwice("kez", most + "v");
        assertEquals(most, fixture.find("key"));
        assertNull(fixture.find("kez"));
    }

    @Test
    void packingDropsRecords() {
        fixture.readTwice("a", "1");
        fixture.readTwice("b", "2");
        fixture.pack("b");
        assertEquals("1", fixture.find("a"));
        assertNull(fixture.find("b"));
        fixture.read("b", "3");
        assertEquals("3", fixture.find("b"), "what was dropped is remembered");
    }

    @Test
    void whatWasReadBeforeAPackingIsRefused() {
        fixture.readTwice("a", "1");
        long ticket = fixture.store.ticket();
        fixture.pack("b");
        fixture.read(fixture.store, ticket, "b", "old");
        fixture.read(fixture.store, ticket, "b", "old");
        assertNull(fixture.find("b"));
        fixture.read("b", "new");
        assertEquals("new", fixture.find("b"));
    }

    @Test
    void storesDoNotSeeEachOther() {
        StoreRecords other = fixture.cache.store(true);
        fixture.readTwice("key", "mine");
        assertNull(fixture.find(other, "key"));
        fixture.read(other, other.ticket(), "key", "theirs");
        fixture.read(other, other.ticket(), "key", "theirs");
        assertEquals("mine", fixture.find("key"));
        assertEquals("theirs", fixture.find(other, "key"));
    }

    @Test
    void aStoreForgetsAll() {
        fixture.readTwice("key", "value");
        long ticket = fixture.store.ticket();
        fixture.store.forgetAll();
        assertNull(fixture.find("key"));
        fixture.read(fixture.store, ticket, "key", "old");
        fixture.read(fixture.store, ticket, "key", "old");
        assertNull(fixture.find("key"), "read before all was forgotten");
        fixture.readTwice("key", "new");
        assertEquals("new", fixture.find("key"));
    }

    @Test
    void ofManyRecordsThoseThatAreReadStay() {
        String value = "v".repeat(100);
        for (int i = 0; i < 100; i++) {
            fixture.readTwice("hot" + i, value);
        }
        // Ten times what there is room for; every hot record is read between any two rounds of the ring.
        for (int i = 0; i < 80_000; i++) {
            fixture.readTwice("cold" + i, value);
            if (i % 1000 == 0) {
                for (int j = 0; j < 100; j++) {
                    if (fixture.find("hot" + j) == null) {
                        fixture.read("hot" + j, value);
                    }
                }
            }
        }
        int hot = 0;
        for (int i = 0; i < 100; i++) {
            hot += fixture.find("hot" + i) == null ? 0 : 1;
        }
        int cold = 0;
        for (int i = 0; i < 80_000; i++) {
            cold += fixture.find("cold" + i) == null ? 0 : 1;
        }
        assertTrue(hot >= 90, hot + " of 100 hot records");
        assertTrue(cold > 3_000 && cold < 9_000, cold + " cold records in a megabyte");
    }

    @Test
    void whatAReaderMayStillSeeIsNotOverwritten() {
        String value = "v".repeat(1000);
        fixture.readTwice("key", value);
        int slot = fixture.epochs.enter();
        for (int i = 0; i < 10_000; i++) {
            fixture.readTwice("other" + i, value);
        }
        long hits = fixture.cache.hits();
        fixture.epochs.exit(slot);
        for (int i = 0; i < 10_000; i++) {
            fixture.readTwice("other" + i, value);
        }
        assertEquals(hits, fixture.cache.hits());
        assertNull(fixture.find("key"), "it was never read");
        assertEquals(value, fixture.find("other9999"), "after the reader has gone the ring goes on");
    }

    /** Whatever is found is what was last read since the key was last packed. */
    @Test
    void randomCallsAgreeWithAMap() {
        Random random = new Random(42);
        Map<String, String> newest = new HashMap<>();
        try (RecordFixture small = new RecordFixture(64 << 10)) {
            for (int i = 0; i < 400_000; i++) {
                String key = "key" + (int) Math.abs(random.nextGaussian() * 300);
                if (random.nextInt(1000) == 0 && !small.cache.borrow() || random.nextInt(2000) == 0) {
                    small.cache.giveBack();
                    small.epochs.reclaim();
                }
                if (random.nextInt(10) == 0) {
                    newest.put(key, "v".repeat(random.nextInt(200)) + i);
                    small.pack(key);
                } else {
                    String expected = newest.computeIfAbsent(key, k -> "first of " + k);
                    String found = small.find(key);
                    if (found == null) {
                        small.read(key, expected);
                    } else {
                        assertEquals(expected, found);
                    }
                }
            }
            assertTrue(small.cache.hits() > 50_000, "hits: " + small.cache.hits());
        }
    }

    /** Records are kept in what is borrowed, too, and go when it is given back. */
    @Test
    void whatIsBorrowedHoldsMoreRecords() {
        String value = "v".repeat(100);
        int before = readAll(30_000, value);
        assertTrue(fixture.cache.isFull());
        while (fixture.cache.borrow()) {}
        assertEquals(fixture.lender.allocated(), fixture.cache.bytesBorrowed());
        assertTrue(fixture.cache.bytesBorrowed() > fixture.lender.capacity() * 9 / 10);
        assertFalse(fixture.cache.isFull());
        int more = readAll(30_000, value);
        assertTrue(fixture.cache.isFull());
        assertTrue(more > before * 3 / 2, before + " records, and " + more + " with what was borrowed");
        while (fixture.cache.giveBack()) {}
        assertEquals(fixture.lender.allocated(), fixture.cache.bytesGivenBack());
        assertFalse(fixture.epochs.reclaim());
        assertEquals(0, fixture.cache.bytesBorrowed());
        assertEquals(0, fixture.lender.allocated());
        assertTrue(fixture.cache.isFull());
        int left = found(30_000);
        assertTrue(left > before / 2 && left <= before * 11 / 10, left + " records are left of " + more);
        int after = readAll(30_000, value);
        assertTrue(after > before * 9 / 10 && after < before * 11 / 10, before + " records, and afterwards " + after);
    }

    private int readAll(int keys, String value) {
        for (int i = 0; i < keys; i++) {
            fixture.readTwice("key" + i, value);
        }
        return found(keys);
    }

    private int found(int keys) {
        int found = 0;
        for (int i = 0; i < keys; i++) {
            found += fixture.find("key" + i) == null ? 0 : 1;
        }
        return found;
    }

    @Test
    void aLenderHasItsMemoryOnceReadersHaveEnded() {
        assertTrue(fixture.cache.borrow());
        long lent = fixture.cache.bytesBorrowed();
        int slot = fixture.epochs.enter();
        assertTrue(fixture.cache.giveBack());
        assertFalse(fixture.cache.giveBack());
        assertTrue(fixture.epochs.reclaim(), "somebody may still be reading");
        assertEquals(lent, fixture.lender.allocated());
        fixture.epochs.exit(slot);
        assertFalse(fixture.epochs.reclaim());
        assertEquals(0, fixture.lender.allocated());
    }

    @Test
    void aLenderWithoutMemoryLendsNone() {
        long all = fixture.lender.allocate(fixture.lender.capacity());
        assertFalse(fixture.cache.borrow());
        fixture.lender.free(all, fixture.lender.capacity());
        assertTrue(fixture.cache.borrow());
    }

    @Test
    void aCacheTooSmallHoldsNothing() {
        try (RecordFixture tiny = new RecordFixture(16 << 10)) {
            tiny.readTwice("key", "value");
            assertNull(tiny.find("key"));
            assertFalse(tiny.cache.borrow() || tiny.cache.giveBack());
            assertEquals(0, tiny.cache.bytes());
        }
    }

    @Test
    void aStoreWhoseRecordsAreNotCachedFindsNone() {
        StoreRecords apart = fixture.cache.store(false);
        fixture.read(apart, apart.ticket(), "key", "value");
        fixture.read(apart, apart.ticket(), "key", "value");
        assertNull(fixture.find(apart, "key"));
        assertNull(apart.beginPacking());
    }
}
