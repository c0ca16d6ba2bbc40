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
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Scans have the runs they pass merged, also while a snapshot is open; without scans they stay as they are. */
class ScanMergeTest {
    /** So many leave nodes with more than two runs each: what is merged as they are loaded is in few of them. */
    private static final int RECORDS = 160_000;
    private static final int SCANS = 20_000;
    private static final int LOOKS = 40;
    private static final int RECORDS_PER_FINISH = 1000;

    private final StoreOptions options = StoreOptions.builder()
            .memory(ByteSize.mib(64))
            .memtable(ByteSize.mib(1))
            .build();
    private final SteppedEnvironment environment =
            new SteppedEnvironment(1, OptionMatrix.environment(options), new SimulatedMachine(1));
    private final KeyValueStore store = environment.open(Path.of("store"), options);
    private final SplittableRandom random = new SplittableRandom(1);

    @BeforeEach
    void load() {
        for (int i = 0; i < RECORDS; i++) {
            store.put(Load.key(i), Load.value(i));
            if (i % RECORDS_PER_FINISH == 0) {
                environment.finish();
            }
        }
        environment.finish();
    }

    @AfterEach
    void close() {
        store.close();
        environment.close();
    }

    @Test
    void scansPayForMergesThatASnapshotDoesNotKeepAway() {
        try (Snapshot snapshot = store.snapshot()) {
            StoreStats loaded = store.stats();
            assertTrue(loaded.runs() > 2 * loaded.nodes(), loaded.runs() + " runs of " + loaded.nodes() + " nodes");
            environment.passTime();
            assertEquals(loaded.runs(), store.stats().runs(), "runs merged though nobody scanned");

            scan(SCANS, snapshot::cursor);
            environment.finish();
            StoreStats scanned = store.stats();
            assertTrue(scanned.runs() <= scanned.nodes(), scanned.runs() + " runs of " + scanned.nodes() + " nodes");
        }
    }

    /** Of a store that nothing is written to; what is written moves on what nodes hold by itself. */
    @Test
    void scansPayForMovingWhatNodesAboveHold() {
        long before = store.stats().runs();
        for (int look = 0; look < LOOKS; look++) {
            scan(SCANS / 10, store::cursor);
            environment.finish();
        }
        StoreStats scanned = store.stats();
        assertEquals(2, scanned.height());
        assertEquals(scanned.nodes() - 1, scanned.runs(), "runs, one for each leaf, of " + before);

        scan(SCANS, store::cursor);
        environment.finish();
        assertEquals(scanned.compactions(), store.stats().compactions(), "merges of what has been merged");
    }

    private void scan(int scans, Function<KeyRange, Cursor> cursors) {
        for (int i = 0; i < scans; i++) {
            try (Cursor cursor = cursors.apply(KeyRange.all())) {
                cursor.seek(Load.key(random.nextInt(RECORDS)));
                for (int n = 0; n < 10 && cursor.valid(); n++) {
                    cursor.next();
                }
            }
        }
    }
}
