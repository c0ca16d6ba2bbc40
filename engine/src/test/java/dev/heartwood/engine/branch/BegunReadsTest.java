package dev.heartwood.engine.branch;

import static dev.heartwood.engine.branch.BranchFixture.entries;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.base.FoundEntry.Waits;
import dev.heartwood.engine.branch.BranchFixture.Entry;
import dev.heartwood.engine.branch.BranchReader.Answer;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Searches that begin the reads of the device that they would have to wait for. */
class BegunReadsTest {
    private final BranchFixture fixture = new BranchFixture();
    private Branch branch;

    @AfterEach
    void close() {
        branch.release();
        fixture.close();
    }

    /** A branch of which the indexes are in the cache, and no leaf or value is but those of the first entry. */
    private List<Entry> write(int count, int valueBytes) {
        List<Entry> entries = entries(count, valueBytes);
        branch = fixture.write(entries, WriteMode.THROUGH);
        fixture.search(branch, entries.getFirst(), Waits.FOR_ALL, false);
        return entries;
    }

    private long synchronousReads() {
        return fixture.cache.stats().loads();
    }

    @Test
    void aSearchBeginsWhatTheNextWaitsFor() {
        Entry entry = write(1_000, 100).get(500);
        long reads = synchronousReads();
        FoundEntry begun = fixture.search(branch, entry, Waits.FOR_NOTHING, false);
        assertTrue(begun.hasBegun);
        assertEquals(0, begun.valueLength, "told although nothing is known");
        assertTrue(fixture.search(branch, entry, Waits.FOR_NOTHING, false).hasBegun, "waited for what is under way");

        FoundEntry found = fixture.search(branch, entry, Waits.FOR_KEYS, true);
        assertFalse(found.hasBegun);
        assertEquals(entry.value().length, found.valueLength);
        assertTrue(found.isFromDevice, "what was begun for it counts as having been in the cache");
        assertEquals(reads, synchronousReads(), "read, although it was begun");
        assertFalse(fixture.isFromDevice(branch, entry));
        assertFalse(fixture.search(branch, entry, Waits.FOR_NOTHING, false).hasBegun, "begun, although it is there");
    }

    /** A filter is asked before the device, as by a search that waits; and what is under way is waited for by who waits. */
    @Test
    void whoLooksIntoTheCacheAloneBeginsNothing() {
        Entry entry = write(1_000, 100).get(500);
        for (Waits waits : Waits.values()) {
            assertEquals(Answer.UNKNOWN, lookIntoCache(entry, waits));
            assertEquals(0, fixture.cache.stats().prefetches());
        }
        assertTrue(fixture.search(branch, entry, Waits.FOR_NOTHING, false).hasBegun);
        assertEquals(Answer.UNKNOWN, lookIntoCache(entry, Waits.FOR_NOTHING));
        assertEquals(Answer.FOUND, lookIntoCache(entry, Waits.FOR_KEYS));
    }

    private Answer lookIntoCache(Entry entry, Waits waits) {
        FoundEntry found = new FoundEntry();
        found.begin(waits, false);
        int slot = fixture.epochs.enter();
        try {
            long key = fixture.key(entry.key());
            return BranchReader.findCached(fixture.file, branch, key, entry.key().length, Long.MAX_VALUE, found);
        } finally {
            fixture.epochs.exit(slot);
        }
    }

    @Test
    void aValueThatGoesOnInTheNextLeafIsBegunAsAWhole() {
        List<Entry> entries = write(2_000, 900);
        int continued = 0;
        for (Entry entry : entries.subList(100, 140)) {
            FoundEntry begun = fixture.search(branch, entry, Waits.FOR_NOTHING, false);
            long reads = synchronousReads();
            FoundEntry found = fixture.search(branch, entry, Waits.FOR_KEYS, begun.hasBegun);
            assertEquals(entry.value().length, found.valueLength);
            assertEquals(reads, synchronousReads(), entry + " was waited for");
            continued += found.valueAddress == found.room ? 1 : 0;
        }
        assertTrue(continued > 0, "no value goes on");
    }

    @Test
    void aValueThatLiesApartIsBegunOnceItsPlaceIsKnown() {
        for (int valueBytes : new int[] {2_000, 9_000, 200_000}) {
            List<Entry> entries = write(200_000 / valueBytes + 30, valueBytes);
            Entry entry = entries.getLast();
            // Its leaf, if that is not the first one's.
            fixture.search(branch, entry, Waits.FOR_NOTHING, false);
            long reads = synchronousReads();
            assertTrue(fixture.search(branch, entry, Waits.FOR_KEYS, true).hasBegun, valueBytes + " bytes");
            assertEquals(reads, synchronousReads(), valueBytes + " bytes");
            FoundEntry found = fixture.search(branch, entry, Waits.FOR_ALL, true);
            assertFalse(found.hasBegun);
            assertEquals(valueBytes, found.valueLength);
            assertEquals(reads, synchronousReads(), "read, although it was begun");
            if (valueBytes < 200_000) {
                branch.release();
            }
        }
    }
}
