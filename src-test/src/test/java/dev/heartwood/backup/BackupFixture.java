package dev.heartwood.backup;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.Environment;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.OpenMode;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** A store, where its backups go, and what they should hold. */
final class BackupFixture {
    static final Path STORE = Path.of("simulated", "store");
    static final Path TARGET = Path.of("simulated", "target");
    static final String DATA = "data.hw";
    static final int PAGE_BYTES = 4096;

    private BackupFixture() {}

    static StoreOptions options() {
        return OptionMatrix.smallTree();
    }

    static KeyValueStore open(SimulatedMachine machine, Path directory) {
        return open(machine, directory, OpenMode.CREATE_IF_MISSING);
    }

    static KeyValueStore openExisting(SimulatedMachine machine, Path directory) {
        return open(machine, directory, OpenMode.OPEN_EXISTING);
    }

    private static KeyValueStore open(SimulatedMachine machine, Path directory, OpenMode mode) {
        return open(machine, directory, options().toBuilder().openMode(mode).build());
    }

    /** A store with an environment of its own. */
    static KeyValueStore open(SimulatedMachine machine, Path directory, StoreOptions options) {
        Environment environment = EngineAccess.open(OptionMatrix.environment(options), machine);
        try {
            return environment.openOwned(directory, options);
        } catch (Throwable e) {
            environment.close();
            throw e;
        }
    }

    static NavigableMap<byte[], byte[]> newMap() {
        return new TreeMap<>(Arrays::compareUnsigned);
    }

    /** Writes to a store and to what it should hold. */
    static void write(KeyValueStore store, NavigableMap<byte[], byte[]> model, SplittableRandom random, int writes) {
        for (int i = 0; i < writes; i++) {
            byte[] key = ("key" + random.nextInt(2000)).getBytes();
            byte[] value = new byte[i % 100 == 0 ? 9000 : random.nextInt(300)];
            random.nextBytes(value);
            if (i % 15 == 3) {
                store.delete(key);
                model.remove(key);
            } else {
                store.put(key, value);
                model.put(key, value);
            }
        }
    }

    /** Fails unless a directory is a sound store with these contents. */
    static void requireContents(SimulatedMachine machine, Path directory, Map<byte[], byte[]> expected, String what) {
        try (Storage storage = machine.storage(directory)) {
            assertEquals(List.of(), EngineAccess.problems(storage), what);
        }
        try (KeyValueStore store = openExisting(machine, directory)) {
            requireSame(expected, History.contents(store), what);
        }
    }

    static void requireSame(Map<byte[], byte[]> expected, Map<byte[], byte[]> found, String what) {
        assertEquals(expected.size(), found.size(), what + ": keys");
        expected.forEach((key, value) -> assertArrayEquals(value, found.get(key), what));
    }

    static boolean isSame(Map<byte[], byte[]> expected, Map<byte[], byte[]> found) {
        return expected.size() == found.size()
                && expected.entrySet().stream().allMatch(e -> Arrays.equals(e.getValue(), found.get(e.getKey())));
    }
}
