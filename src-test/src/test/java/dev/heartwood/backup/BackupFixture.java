package dev.heartwood.backup;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import dev.heartwood.Environment;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.OpenMode;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.OverflowGroup;
import dev.heartwood.engine.checkpoint.Superblock;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.image.TreeWalk;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.engine.verify.OpenedStore;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Collectors;

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

    /** The files of a directory, with a hash of each one's contents. */
    static Map<String, Integer> files(SimulatedMachine machine, Path directory) {
        return new TreeMap<>(machine.files(directory).stream()
                .collect(Collectors.toMap(n -> n, n -> Arrays.hashCode(machine.contents(directory, n)))));
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

    /** Makes a backup of what it writes to a store, and writes as much again, so that the store is at rest and the backup has what it held before. */
    static void backUpAndChange(
            KeyValueStore store, NavigableMap<byte[], byte[]> before, NavigableMap<byte[], byte[]> after, long seed, int writes) {
        write(store, before, new SplittableRandom(seed), writes);
        store.settle();
        store.backup(TARGET);
        after.putAll(before);
        write(store, after, new SplittableRandom(seed + 1), writes);
        store.settle();
    }

    /** The nodes of the newest checkpoint, the root first. */
    static List<TreeWalk.Node> nodes(SimulatedMachine machine) {
        List<TreeWalk.Node> nodes = new ArrayList<>();
        try (Storage storage = machine.storage(STORE);
                OpenedStore store = new OpenedStore(storage)) {
            Superblock newest = store.newest();
            TreeWalk.walk(store.view().tree(), newest.rootPages(), newest.rootGeneration(), new TreeWalk.Visitor() {
                @Override
                public void node(TreeWalk.Node node) {
                    nodes.add(node);
                }

                @Override
                public void branch(Branch branch) {}

                @Override
                public void maplet(Maplet maplet) {}

                @Override
                public void group(OverflowGroup group) {}

                @Override
                public void place(long[] pages, long generation) {}

                @Override
                public void damage(long page, Span span, String text) {
                    fail(text);
                }
            });
        }
        return nodes;
    }

    /** Has nothing be left of the nodes of checkpoints before the newest. */
    static void loseOlderNodes(SimulatedMachine machine) {
        byte[] bytes = machine.contents(STORE, DATA);
        List<TreeWalk.Node> nodes = nodes(machine);
        for (int page = 0; page < bytes.length / PAGE_BYTES; page++) {
            long number = page;
            boolean isTrunk = bytes[page * PAGE_BYTES + PageLayout.TYPE] == PageType.TRUNK.code();
            if (isTrunk && nodes.stream().noneMatch(n -> n.page() <= number && number < n.page() + n.pages())) {
                Arrays.fill(bytes, page * PAGE_BYTES, (page + 1) * PAGE_BYTES, (byte) 0);
            }
        }
        machine.place(STORE, DATA, bytes);
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
