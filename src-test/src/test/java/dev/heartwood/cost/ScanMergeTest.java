package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Cursor;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.testkit.TestDirectory;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Scans have the runs they pass merged, also while a snapshot is open; without scans they stay as they are. */
class ScanMergeTest {
    private static final int RECORDS = 200_000;
    private static final int SCANS = 20_000;

    @Test
    void scansPayForMergesThatASnapshotDoesNotKeepAway() {
        StoreOptions options = StoreOptions.builder()
                .memory(ByteSize.mib(64))
                .memtable(ByteSize.mib(1))
                .build();
        try (TestDirectory directory = new TestDirectory("scans");
                KeyValueStore store = Heartwood.open(directory.path(), options)) {
            Load.random(store, RECORDS);
            store.settle();
            try (Snapshot snapshot = store.snapshot()) {
                StoreStats loaded = store.stats();
                assertTrue(loaded.runs() > loaded.nodes(), loaded.runs() + " runs of " + loaded.nodes() + " nodes");
                store.settle();
                assertEquals(loaded.runs(), store.stats().runs(), "runs merged though nobody scanned");

                scan(snapshot);
                store.settle();
                StoreStats scanned = store.stats();
                assertTrue(scanned.runs() <= scanned.nodes(), scanned.runs() + " runs of " + scanned.nodes() + " nodes");
            }
        }
    }

    private static void scan(Snapshot snapshot) {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < SCANS; i++) {
            try (Cursor cursor = snapshot.cursor(KeyRange.all())) {
                cursor.seek(Load.key(random.nextInt(RECORDS)));
                for (int n = 0; n < 10 && cursor.valid(); n++) {
                    cursor.next();
                }
            }
        }
    }
}
