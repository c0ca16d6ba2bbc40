package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Cursor;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a long scan of a store that was just opened, so that nothing is cached, asks of the device, page by page. */
class ScanReadTest {
    private static final Path DIRECTORY = SimulatedStoreHost.DIRECTORY;
    private static final String DATA = "data.hw";
    private static final int PAGE_BYTES = 4096;
    private static final int TYPE_OFFSET = 4;
    private static final int RECORDS = 300_000;

    /** Far less than the records take: what is dropped before it is used would be read again. */
    private static final StoreOptions OPTIONS = StoreOptions.builder()
            .memory(EnvironmentOptions.MEMORY_MIN)
            .memtable(ByteSize.mib(1))
            .build();

    private final SimulatedMachine machine = new SimulatedMachine(1);

    @BeforeEach
    void load() {
        try (KeyValueStore store = SimulatedStoreHost.open(machine, OPTIONS)) {
            Load.random(store, RECORDS);
            store.settle();
        }
    }

    @Test
    void eachPageIsReadOnceAndAheadOfUse() {
        scan(Cursor::next);
    }

    @Test
    void onTheWayBackToo() {
        scan(new Move() {
            private boolean goesOn;

            @Override
            public boolean move(Cursor cursor) {
                boolean found = goesOn ? cursor.previous() : cursor.last();
                goesOn = true;
                return found;
            }
        });
    }

    private interface Move {
        boolean move(Cursor cursor);
    }

    private void scan(Move move) {
        byte[] contents = machine.contents(DIRECTORY, DATA);
        try (KeyValueStore store = SimulatedStoreHost.open(machine, OPTIONS)) {
            int[] before = machine.pageReads(DIRECTORY, DATA);
            StoreStats opened = store.stats();
            int records = 0;
            try (Cursor cursor = store.cursor()) {
                while (move.move(cursor)) {
                    records++;
                }
            }
            assertEquals(RECORDS, records);
            StoreStats scanned = store.stats();
            int[] after = machine.pageReads(DIRECTORY, DATA);

            int read = 0;
            int leaves = 0;
            for (int page = 0; page < before.length; page++) {
                int reads = after[page] - before[page];
                byte type = contents[page * PAGE_BYTES + TYPE_OFFSET];
                assertTrue(reads <= 1, "page " + page + " of type " + type + " was read " + reads + " times");
                assertTrue(reads == 0 || type != PageType.FILTER.code(), "a scan read page " + page + " of a filter");
                read += reads;
                leaves += type == PageType.BRANCH_LEAF.code() ? reads : 0;
            }
            long ahead = scanned.pagesPrefetched() - opened.pagesPrefetched();
            long missed = scanned.pageReads() - opened.pageReads();
            assertEquals(read, ahead + missed, "the counters and the device disagree");
            assertTrue((long) leaves * PAGE_BYTES >= (long) RECORDS * Load.VALUE_BYTES, leaves + " leaves were read");
            // Where a run begins and ends in a node of the tree, and the way there in its index, is found by need.
            assertTrue(50 * missed <= ahead, missed + " pages were missed, " + ahead + " were there ahead");
        }
    }
}
