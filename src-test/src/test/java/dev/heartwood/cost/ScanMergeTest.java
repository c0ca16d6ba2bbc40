package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Cursor;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SteppedEnvironment;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Scans have the runs they pass merged, also while a snapshot is open; without scans they stay as they are. */
class ScanMergeTest {
    private static final int RECORDS = 200_000;
    private static final int SCANS = 20_000;
    private static final int RECORDS_PER_FINISH = 1000;

    @Test
    void scansPayForMergesThatASnapshotDoesNotKeepAway() {
        StoreOptions options = StoreOptions.builder()
                .memory(ByteSize.mib(64))
                .memtable(ByteSize.mib(1))
                .build();
        try (SteppedEnvironment environment =
                        new SteppedEnvironment(1, OptionMatrix.environment(options), new SimulatedMachine(1));
                KeyValueStore store = environment.open(Path.of("store"), options)) {
            for (int i = 0; i < RECORDS; i++) {
                store.put(Load.key(i), Load.value(i));
                if (i % RECORDS_PER_FINISH == 0) {
                    environment.finish();
                }
            }
            environment.finish();
            try (Snapshot snapshot = store.snapshot()) {
                StoreStats loaded = store.stats();
                assertTrue(loaded.runs() > 2 * loaded.nodes(), loaded.runs() + " runs of " + loaded.nodes() + " nodes");
                environment.passTime();
                assertEquals(loaded.runs(), store.stats().runs(), "runs merged though nobody scanned");

                scan(snapshot);
                environment.finish();
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
