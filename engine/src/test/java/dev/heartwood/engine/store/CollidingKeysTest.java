package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.DeviceKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.WriteBatch;
import dev.heartwood.engine.background.QueuedWorkers;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.KeyHash;
import dev.heartwood.engine.base.Randomness;
import dev.heartwood.engine.device.FileStorage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Keys that are chosen so that their hashes agree in the top bits lie in each other's way in a memtable, which is sealed again and again. One thread
 * does everything.
 */
class CollidingKeysTest {
    /** A partition of an index, and a slot of a table that has room for more of them than ever come. */
    private static final int BITS = 14;

    private static final int KEYS = 5_000;
    private static final int BATCH = 50;

    @TempDir
    Path directory;

    private final QueuedWorkers workers = new QueuedWorkers(new ArrayDeque<>());

    private static List<byte[]> keys() {
        List<byte[]> keys = new ArrayList<>();
        for (long word = 0; keys.size() < KEYS; word++) {
            if (KeyHash.end(KeyHash.mix(KeyHash.begin(Long.BYTES), word)) >>> Long.SIZE - BITS == 1) {
                keys.add(ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(word).array());
            }
        }
        return keys;
    }

    private EngineEnvironment environment() {
        return EngineEnvironment.open(
                EnvironmentOptions.builder().build(),
                path -> new FileStorage(path, DeviceKind.POSIX, IoMode.BUFFERED),
                new Surroundings(count -> workers, Clock.SYSTEM, Randomness.SYSTEM, 1));
    }

    private KeyValueStore open(EngineEnvironment environment) {
        return environment.open(directory.resolve("store"), StoreOptions.builder().build());
    }

    @Test
    void memtablesAreSealedForThemAndKeepThem() {
        List<byte[]> keys = keys();
        try (EngineEnvironment environment = environment();
                KeyValueStore store = open(environment)) {
            for (byte[] key : keys) {
                store.put(key, key);
            }
            assertSealedOften(store, 1);
            try (WriteBatch batch = store.newBatch()) {
                for (int i = 0; i < KEYS; i++) {
                    batch.put(keys.get(i), new byte[] {(byte) i});
                    if (batch.count() == BATCH) {
                        store.write(batch);
                        batch.clear();
                    }
                }
            }
            assertSealedOften(store, 2);
            assertWritten(store, keys);
        }
        try (EngineEnvironment environment = environment();
                KeyValueStore store = open(environment)) {
            assertWritten(store, keys);
        }
    }

    private void assertSealedOften(KeyValueStore store, int rounds) {
        while (workers.runOneHere()) {}
        long sealed = store.stats().memtablesSealed();
        // At least three in four of those that there would be if each had DISTANCE_MAX of them, and at most one more for each round.
        int least = rounds * KEYS * 3 / 4 / 1024;
        assertTrue(sealed >= least && sealed <= rounds * (KEYS / 1024 + 1), sealed + " memtables");
    }

    private static void assertWritten(KeyValueStore store, List<byte[]> keys) {
        for (int i = 0; i < KEYS; i++) {
            assertArrayEquals(new byte[] {(byte) i}, store.get(keys.get(i)));
        }
    }
}
