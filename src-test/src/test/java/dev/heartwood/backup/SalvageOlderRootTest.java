package dev.heartwood.backup;

import static dev.heartwood.backup.BackupFixture.DATA;
import static dev.heartwood.backup.BackupFixture.PAGE_BYTES;
import static dev.heartwood.backup.BackupFixture.STORE;
import static dev.heartwood.backup.BackupFixture.TARGET;
import static dev.heartwood.backup.SalvageFixture.generation;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.checkpoint.Superblock;
import dev.heartwood.engine.checkpoint.Superblocks;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.image.TreeWalk;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.engine.salvage.SalvageReport;
import dev.heartwood.engine.verify.OpenedStore;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.TailMergeOperator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Salvage of stores whose superblocks are whole and whose nodes are not: for the keys of those, from an older root. */
class SalvageOlderRootTest {
    private static final int KEYS = 9000;

    private static final Pattern LISTED =
            Pattern.compile("keys \\w+ \"(key\\d+)\" (?:and before|up to) \"(key\\d+)\": entries of branch");

    private final List<String> lost = new ArrayList<>();
    private final NavigableMap<byte[], byte[]> model = BackupFixture.newMap();

    /**
     * With checkpoints where they are asked for: a node that one of its own had written shortly before would lie in both of the last two, and
     * nothing older would be left of its keys.
     */
    private static KeyValueStore open(SimulatedMachine machine) {
        StoreOptions options = BackupFixture.options().toBuilder()
                .checkpointDistance(1000)
                .mergeOperator(new TailMergeOperator())
                .build();
        return BackupFixture.open(machine, STORE, options);
    }

    private static byte[] key(int number) {
        return "key%05d".formatted(number).getBytes();
    }

    private void put(KeyValueStore store, int number, String value) {
        put(store, number, Arrays.copyOf(value.getBytes(), 200));
    }

    private void put(KeyValueStore store, int number, byte[] value) {
        store.put(key(number), value);
        model.put(key(number), value);
    }

    private void merge(KeyValueStore store, int number, String operand) {
        store.merge(key(number), operand.getBytes());
        model.merge(key(number), operand.getBytes(), (before, added) ->
                new TailMergeOperator().merge(key(number), before, List.of(added)));
    }

    private void delete(KeyValueStore store, int number) {
        store.delete(key(number));
        model.remove(key(number));
    }

    /** Returns the generation of the root of a checkpoint that holds all of it. */
    private long load(SimulatedMachine machine, KeyValueStore store) {
        for (int i = 0; i < KEYS; i++) {
            put(store, i, "first");
        }
        store.settle();
        store.checkpoint();
        return superblock(machine.crash(CrashKind.KILL, new SplittableRandom(1))).rootGeneration();
    }

    private NavigableMap<byte[], byte[]> copyOfModel() {
        NavigableMap<byte[], byte[]> copy = BackupFixture.newMap();
        copy.putAll(model);
        return copy;
    }

    private SalvageReport salvage(SimulatedMachine machine) {
        lost.clear();
        return SalvageFixture.salvage(machine, lost);
    }

    private static Map<byte[], byte[]> contents(SimulatedMachine machine) {
        StoreOptions options =
                BackupFixture.options().toBuilder().mergeOperator(new TailMergeOperator()).build();
        try (KeyValueStore copy = BackupFixture.open(machine, TARGET, options)) {
            assertTrue(copy.verify().isClean());
            return History.contents(copy);
        }
    }

    private static Superblock superblock(SimulatedMachine machine) {
        try (Storage storage = machine.storage(STORE);
                OpenedStore store = new OpenedStore(storage)) {
            return store.newest();
        }
    }

    /** The nodes of the newest checkpoint that are younger than another, without the root. */
    private static List<Long> nodesBelowRoot(SimulatedMachine machine, long after) {
        byte[] bytes = machine.contents(STORE, DATA);
        return BackupFixture.nodes(machine).stream()
                .skip(1)
                .map(TreeWalk.Node::page)
                .filter(page -> generation(bytes, page) > after)
                .toList();
    }

    private static List<Long> trunkPages(SimulatedMachine machine, long generation) {
        byte[] bytes = machine.contents(STORE, DATA);
        return SalvageFixture.pages(machine, PageType.TRUNK).stream()
                .filter(page -> generation(bytes, page) == generation)
                .toList();
    }

    private static void damage(SimulatedMachine machine, long page) {
        machine.flip(STORE, DATA, page * PAGE_BYTES + 1000, 1);
    }

    /** Whether a key lies where the pages of a branch are listed as lost: those of an older checkpoint may be in use again. */
    private boolean isListed(byte[] key) {
        String text = new String(key);
        return lost.stream().map(LISTED::matcher).anyMatch(gap ->
                gap.find() && gap.group(1).compareTo(text) <= 0 && text.compareTo(gap.group(2)) <= 0);
    }

    private String line(String what) {
        return lost.stream().filter(line -> line.contains(what)).findFirst().orElse("");
    }

    /** Superblocks before format 4 name pages as they are: one far beyond any file ended verification and salvage with an error of ours. */
    @Test
    void aRootOnAPageThatNoFileHasIsDamage() {
        SimulatedMachine machine = new SimulatedMachine(7);
        try (KeyValueStore store = open(machine)) {
            put(store, 1, "first");
            store.checkpoint();
            put(store, 2, "second");
        }
        try (Storage storage = machine.storage(STORE);
                OpenedStore store = new OpenedStore(storage);
                Superblocks superblocks = new Superblocks(store.device(), store.pool())) {
            Superblock found = superblocks.read();
            superblocks.write(new Superblock(
                    3,
                    found.storeId(),
                    found.number() + 1,
                    found.generation(),
                    found.sequence(),
                    found.nextId(),
                    new long[] {1L << 51},
                    found.rootGeneration(),
                    found.options()));
        }
        try (Storage storage = machine.storage(STORE)) {
            List<String> problems = EngineAccess.problems(storage);
            assertTrue(problems.getFirst().contains("a trunk node on page " + (1L << 51)), problems.toString());
        }
        salvage(machine);
        assertTrue(lost.getFirst().contains("a trunk node on page " + (1L << 51)), lost.toString());
        assertArrayEquals(model.get(key(1)), contents(machine).get(key(1)));
    }

    /** The log alone was copied. */
    @Test
    void withoutTheRootTheCheckpointBeforeIsCopiedAndTheLog() {
        SimulatedMachine start = new SimulatedMachine(1);
        NavigableMap<byte[], byte[]> before;
        long loaded;
        SimulatedMachine killed;
        try (KeyValueStore store = open(start)) {
            loaded = load(start, store);
            before = copyOfModel();
            for (int i = 0; i < 40; i++) {
                put(store, i, "second");
                delete(store, 100 + i);
                merge(store, 200 + i, "+");
            }
            store.checkpoint();
            for (int i = 0; i < 10; i++) {
                put(store, i, "third");
                put(store, KEYS + i, "third");
                delete(store, 100 + i);
                delete(store, 300 + i);
                merge(store, 200 + i, "-");
            }
            killed = start.crash(CrashKind.KILL, new SplittableRandom(1));
        }
        Superblock newest = superblock(killed);
        damage(killed, newest.rootPages()[0]);
        SalvageReport report = salvage(killed);

        NavigableMap<byte[], byte[]> expected = before;
        for (int i = 0; i < 10; i++) {
            expected.put(key(i), model.get(key(i)));
            expected.put(key(KEYS + i), model.get(key(KEYS + i)));
            expected.remove(key(100 + i));
            expected.remove(key(300 + i));
            expected.put(key(200 + i), new TailMergeOperator().merge(null, before.get(key(200 + i)), List.of("-".getBytes())));
        }
        BackupFixture.requireSame(expected, contents(killed), "of both");
        assertEquals(2, lost.size(), lost.toString());
        String line = line("checkpoint " + newest.number() + ": ");
        assertTrue(line.contains("of generation " + loaded + ".") && line.contains("log"), line);
        assertEquals(KEYS, report.records());
        assertEquals(50, report.logEntries());
        // All but those of which the log has a value or a deletion.
        assertEquals(KEYS - 30, report.suspects());
        assertEquals(2, report.losses());
        assertEquals(0, report.lossesOfAnyKey());
    }

    /** Their keys were missing, but for what the nodes above had of them. */
    @Test
    void theKeysOfOtherNodesComeFromTheCheckpointBefore() {
        SimulatedMachine start = new SimulatedMachine(2);
        NavigableMap<byte[], byte[]> before;
        long loaded;
        try (KeyValueStore store = open(start)) {
            loaded = load(start, store);
            before = copyOfModel();
            for (int i = 0; i < KEYS; i += 3) {
                put(store, i, "second");
            }
            store.settle();
            store.checkpoint();
        }
        int nodes = 0;
        for (long page : nodesBelowRoot(start, loaded)) {
            SimulatedMachine machine = start.crash(CrashKind.KILL, new SplittableRandom(page));
            damage(machine, page);
            SalvageReport report = salvage(machine);
            Map<byte[], byte[]> found = contents(machine);
            for (byte[] key : model.keySet()) {
                assertTrue(found.containsKey(key) || isListed(key), () -> new String(key) + " " + lost);
            }
            int stale = 0;
            for (Map.Entry<byte[], byte[]> entry : found.entrySet()) {
                byte[] key = entry.getKey();
                boolean isNewest = Arrays.equals(model.get(key), entry.getValue());
                stale += isNewest ? 0 : 1;
                assertArrayEquals(isNewest ? model.get(key) : before.get(key), entry.getValue());
            }
            assertTrue(stale <= report.suspects() && report.suspects() < KEYS, stale + " older ones, " + report + " " + lost);
            assertEquals(lost.isEmpty(), report.suspects() == 0, lost.toString());
            nodes += lost.isEmpty() ? 0 : 1;
        }
        assertTrue(nodes > 1, nodes + " nodes");
    }

    /** Operands that lie above the lost node lie in the older tree too: they must not count twice. */
    @Test
    void operandsCountOnce() {
        SimulatedMachine start = new SimulatedMachine(3);
        long loaded;
        try (KeyValueStore store = open(start)) {
            loaded = load(start, store);
            for (int i = 0; i < KEYS; i += 90) {
                merge(store, i, "+");
            }
            store.checkpoint();
            // Nodes on the way to some leaf are written anew, and the root's runs become one: no operand moves.
            store.discard(KeyRange.between(key(2000), key(5000)));
            for (int i = 2000; i < 5000; i++) {
                model.remove(key(i));
            }
            store.checkpoint();
            for (int run = 1; run <= 5; run++) {
                for (int i = 0; i < KEYS; i += 90) {
                    put(store, i + run, new byte[10]);
                }
                store.checkpoint();
            }
            store.settle();
            store.checkpoint();
        }
        int nodes = 0;
        for (long page : nodesBelowRoot(start, loaded)) {
            SimulatedMachine machine = start.crash(CrashKind.KILL, new SplittableRandom(page));
            damage(machine, page);
            salvage(machine);
            Map<byte[], byte[]> found = contents(machine);
            for (Map.Entry<byte[], byte[]> entry : model.entrySet()) {
                byte[] value = found.get(entry.getKey());
                boolean isWhole = Arrays.equals(entry.getValue(), value);
                assertTrue(isWhole || isListed(entry.getKey()), () -> new String(entry.getKey()) + " " + lost);
            }
            nodes += lost.isEmpty() ? 0 : 1;
        }
        assertTrue(nodes > 0, "no node but the root was written");
    }

    /** The first child is older than the last. */
    private SimulatedMachine withChildrenOfDifferentAge() {
        SimulatedMachine machine = new SimulatedMachine(4);
        try (KeyValueStore store = open(machine)) {
            load(machine, store);
            for (int from : new int[] {0, KEYS - 800}) {
                for (int i = from; i < from + 800; i++) {
                    put(store, i, "second");
                }
                store.settle();
                store.checkpoint();
            }
        }
        return machine;
    }

    /** The first child, which the root refers to, was taken for an older root. */
    @Test
    void whereThereIsNoOlderRootItIsSaid() {
        SimulatedMachine start = withChildrenOfDifferentAge();
        BackupFixture.loseOlderNodes(start);
        int nodes = 0;
        for (long page : nodesBelowRoot(start, 0)) {
            SimulatedMachine machine = start.crash(CrashKind.KILL, new SplittableRandom(page));
            damage(machine, page);
            SalvageReport report = salvage(machine);
            assertTrue(lost.size() == 2 && lost.get(1).contains("no root of a checkpoint before"), lost.toString());
            assertTrue(report.records() > 0 && report.records() < KEYS, report.toString());
            nodes++;
        }
        assertTrue(nodes > 1, nodes + " nodes");
    }

    /** Of a checkpoint whose root's pages are in use again its first child may be all that is left; it looks like a root. */
    @Test
    void aChildThatIsStillThereIsNotTakenForAnOlderRoot() {
        SimulatedMachine machine = withChildrenOfDifferentAge();
        Superblock newest = superblock(machine);
        List<TreeWalk.Node> nodes = BackupFixture.nodes(machine);
        assertTrue(nodes.size() > 3, nodes.size() + " nodes");
        byte[] bytes = machine.contents(STORE, DATA);
        long firstChild = nodes.get(1).page();
        assertTrue(nodes.stream().anyMatch(node -> generation(bytes, node.page()) > generation(bytes, firstChild)));
        for (long generation = generation(bytes, firstChild); generation < newest.rootGeneration(); generation++) {
            for (long page : trunkPages(machine, generation)) {
                if (nodes.stream().noneMatch(node -> node.page() == page)) {
                    Arrays.fill(bytes, (int) page * PAGE_BYTES, (int) (page + 1) * PAGE_BYTES, (byte) 0);
                }
            }
        }
        machine.place(STORE, DATA, bytes);
        damage(machine, newest.rootPages()[0]);
        salvage(machine);
        Map<byte[], byte[]> found = contents(machine);
        for (byte[] key : model.keySet()) {
            assertTrue(found.containsKey(key) || isListed(key), () -> new String(key) + " " + lost);
        }
    }
}
