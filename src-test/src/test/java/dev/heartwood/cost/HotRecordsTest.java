package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionFilter;
import dev.heartwood.Cursor;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.TestDirectory;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Records that are read again come from the record cache, until something makes them old. */
class HotRecordsTest {
    private static final int RECORDS = 1000;

    private TestDirectory directory;

    @BeforeEach
    void make() {
        directory = new TestDirectory("hot");
    }

    @AfterEach
    void remove() {
        directory.close();
    }

    private static StoreOptions.Builder options() {
        return StoreOptions.builder().memory(ByteSize.mib(16));
    }

    /** A store all of whose records are in the tree and were read three times. */
    private KeyValueStore warm(StoreOptions options) {
        KeyValueStore store = Heartwood.open(directory.path(), options);
        Load.random(store, RECORDS);
        store.checkpoint();
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < RECORDS; i++) {
                assertArrayEquals(Load.value(i), store.get(Load.key(i)));
            }
        }
        return store;
    }

    private static long hits(KeyValueStore store) {
        return store.stats().recordHits();
    }

    @Test
    void theyAreRead() {
        try (KeyValueStore store = warm(options().build())) {
            assertTrue(hits(store) > RECORDS * 9 / 10, "hits: " + hits(store));
        }
    }

    @Test
    void whatIsWrittenSinceIsReadFirst() {
        try (KeyValueStore store = warm(options().build())) {
            store.put(Load.key(1), Load.value(-1));
            store.delete(Load.key(2));
            assertArrayEquals(Load.value(-1), store.get(Load.key(1)));
            assertNull(store.get(Load.key(2)));
            store.checkpoint();
            for (int round = 0; round < 3; round++) {
                assertArrayEquals(Load.value(-1), store.get(Load.key(1)));
                assertNull(store.get(Load.key(2)));
                assertArrayEquals(Load.value(3), store.get(Load.key(3)));
            }
        }
    }

    @Test
    void snapshotsSeeTheirOwn() {
        try (KeyValueStore store = warm(options().build());
                Snapshot snapshot = store.snapshot()) {
            store.put(Load.key(1), Load.value(-1));
            store.checkpoint();
            for (int round = 0; round < 3; round++) {
                assertArrayEquals(Load.value(-1), store.get(Load.key(1)));
                assertArrayEquals(Load.value(1), snapshot.get(Load.key(1)));
            }
        }
    }

    @Test
    void aDiscardedRangeIsGoneForReadsAsForScans() {
        try (KeyValueStore store = warm(options().build())) {
            store.discard(KeyRange.all());
            int scanned = 0;
            try (Cursor cursor = store.cursor()) {
                while (cursor.next()) {
                    scanned++;
                }
            }
            int read = 0;
            for (int i = 0; i < RECORDS; i++) {
                read += store.get(Load.key(i)) == null ? 0 : 1;
            }
            assertEquals(scanned, read);
            assertTrue(scanned < RECORDS, "nothing was discarded");
        }
    }

    @Test
    void aCompactionFilterDecidesWhatIsThere() {
        try (KeyValueStore store = warm(options().compactionFilter(new KeepsAll(false)).build())) {
            assertEquals(0, hits(store));
        }
    }

    @Test
    void aCompactionFilterMayAllowStaleReads() {
        try (KeyValueStore store = warm(options().compactionFilter(new KeepsAll(true)).build())) {
            assertTrue(hits(store) > 0);
        }
    }

    private record KeepsAll(boolean allowsStaleReads) implements CompactionFilter {
        @Override
        public String name() {
            return "keeps all";
        }

        @Override
        public Decision filter(MemorySegment key, MemorySegment value) {
            return Decision.KEEP;
        }
    }
}
