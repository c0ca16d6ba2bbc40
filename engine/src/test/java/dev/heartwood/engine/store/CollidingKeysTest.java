package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
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
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
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

    /** Those, and one more. */
    private static List<byte[]> keys() {
        List<byte[]> keys = new ArrayList<>();
        for (long word = 0; keys.size() <= KEYS; word++) {
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
            for (int i = 0; i < KEYS; i++) {
                store.put(keys.get(i), keys.get(i));
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

    /** What one batch has put into one memtable was replayed into many, for which no space was promised. */
    @Test
    void aBatchIsReplayedAsAWhole() throws IOException {
        List<byte[]> keys = keys();
        try (EngineEnvironment environment = environment();
                KeyValueStore store = open(environment)) {
            try (WriteBatch batch = store.newBatch()) {
                for (int i = 0; i < KEYS; i++) {
                    batch.put(keys.get(i), new byte[] {(byte) i});
                }
                store.write(batch);
            }
            copyFiles(directory.resolve("store"), Files.createDirectory(directory.resolve("killed")));
        }
        try (EngineEnvironment environment = environment();
                KeyValueStore store = environment.open(directory.resolve("killed"), StoreOptions.builder().build())) {
            assertEquals(0, store.stats().runs(), "all of it is in the memtable");
            assertWritten(store, keys);
            store.put(keys.get(KEYS), new byte[0]);
            store.put(new byte[0], new byte[0]);
            while (workers.runOneHere()) {}
            assertEquals(1, store.stats().memtablesSealed(), "what is written now ends a memtable again");
        }
    }

    /** A replay put all of a log into one memtable, however many there had been, and took a time quadratic in them. */
    @Test
    void whatEndedMemtablesEndsThemInAReplay() throws IOException {
        List<byte[]> keys = keys();
        StoreOptions farApart = StoreOptions.builder().checkpointDistance(1024).build();
        try (EngineEnvironment environment = environment();
                KeyValueStore store = environment.open(directory.resolve("store"), farApart)) {
            for (int i = 0; i < KEYS; i++) {
                store.put(keys.get(i), new byte[] {(byte) i});
            }
            copyFiles(directory.resolve("store"), Files.createDirectory(directory.resolve("killed")));
        }
        try (EngineEnvironment environment = environment();
                KeyValueStore store = environment.open(directory.resolve("killed"), farApart)) {
            long runs = store.stats().runs();
            assertTrue(runs >= KEYS * 3 / 4 / 1024, runs + " runs");
            assertWritten(store, keys);
        }
    }

    private static void copyFiles(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
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
