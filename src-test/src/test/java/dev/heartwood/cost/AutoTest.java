package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.Cursor;
import dev.heartwood.KeyOrder;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.PolicyChange;
import dev.heartwood.PolicyChange.Part;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.engine.store.StorePolicies;
import dev.heartwood.engine.trunk.Trunk.Heights;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SteppedEnvironment;
import java.nio.file.Path;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A store that decides by itself, while nothing happens in the background but when the tests say so: a second is so many calls. */
class AutoTest {
    private static final Path DIRECTORY = Path.of("store");
    private static final int RECORDS = 60_000;
    private static final int WRITES_PER_SECOND = 5_000;
    private static final int SCANS_PER_SECOND = 400;
    private static final int SCANNED = 20;
    private static final int WRITES_BESIDE_SCANS = 1_000;
    private static final int SECONDS_MAX = 60;

    private final PolicyChanges listener = new PolicyChanges();
    private final List<PolicyChange> events = listener.all;
    private final StoreOptions options = StoreOptions.builder()
            .memory(ByteSize.mib(64))
            .memtable(ByteSize.kib(128))
            .policy(CompactionPolicyKind.AUTO)
            // Merges for space would leave scans little to be spared.
            .spaceAmplificationTarget(100)
            .listener(listener)
            .build();
    private SimulatedMachine machine = new SimulatedMachine(1);
    private final SplittableRandom random = new SplittableRandom(1);
    private final NavigableMap<byte[], byte[]> expected = new TreeMap<>(java.util.Arrays::compareUnsigned);
    private SteppedEnvironment environment;
    private KeyValueStore store;
    private int written;

    AutoTest() {
        open(options);
    }

    private void open(StoreOptions with) {
        environment = new SteppedEnvironment(1, OptionMatrix.environment(with), machine);
        store = environment.open(DIRECTORY, with);
    }

    @AfterEach
    void close() {
        environment.close();
    }

    private void write(int records) {
        for (int i = 0; i < records; i++) {
            byte[] key = Load.key(random.nextInt(RECORDS));
            byte[] value = Load.value(written++);
            store.put(key, value);
            expected.put(key, value);
            if (i % 200 == 0) {
                environment.finish();
            }
        }
    }

    private void writeForSeconds(int seconds) {
        for (int second = 0; second < seconds; second++) {
            write(WRITES_PER_SECOND);
            environment.passTime();
        }
    }

    /** Scans beside some writes, until a part of the store is as it is meant to be. */
    private void scanUntilEager(Part part) {
        for (int second = 0; second < SECONDS_MAX && !isEager(part); second++) {
            scanForASecond();
        }
        assertTrue(isEager(part), part + " is not eager: " + events);
    }

    private void scanForASecond() {
        for (int i = 0; i < SCANS_PER_SECOND; i++) {
            scan(Load.key(random.nextInt(RECORDS)));
        }
        write(WRITES_BESIDE_SCANS);
        environment.passTime();
    }

    private void scan(byte[] from) {
        var model = expected.tailMap(from, true).entrySet().iterator();
        try (Cursor cursor = store.cursor()) {
            boolean more = cursor.seek(from);
            for (int i = 0; i < SCANNED && more; i++) {
                var entry = model.next();
                assertArrayEquals(entry.getKey(), cursor.key());
                assertArrayEquals(entry.getValue(), cursor.value());
                more = cursor.next();
            }
        }
    }

    private boolean isEager(Part part) {
        return listener.last(part) != null && !listener.last(part).to().equals("SIZE_TIERED");
    }

    private void assertContents() {
        for (var entry : expected.entrySet()) {
            assertArrayEquals(entry.getValue(), store.get(entry.getKey()));
        }
        assertTrue(store.verify().isClean());
    }

    @Test
    void itFollowsTheLoadAndSaysWhy() {
        writeForSeconds(20);
        assertFalse(isEager(Part.LEAVES) || isEager(Part.INNER_NODES), events.toString());
        long lazyRuns = store.stats().runs();
        scanUntilEager(Part.LEAVES);
        scanUntilEager(Part.INNER_NODES);
        assertTrue(store.stats().runs() < lazyRuns, lazyRuns + " runs became " + store.stats().runs());
        PolicyChange leaves = listener.last(Part.LEAVES);
        assertEquals("SIZE_TIERED", leaves.from());
        assertEquals(KeyRange.all(), leaves.range());
        assertTrue(leaves.toString().contains("runs at a leaf"), leaves.toString());
        assertContents();
        writeForSeconds(30);
        assertFalse(isEager(Part.LEAVES) || isEager(Part.INNER_NODES), events.toString());
        assertContents();
        assertEquals(0, store.stats().listenerFailures());
    }

    /** A few of its leaves are scanned, and a range of hashes tells nobody which keys those have. */
    @Test
    void ofAHashedStoreAllKeysAreTold() {
        StoreOptions hashed = options.toBuilder().keyOrder(KeyOrder.HASHED).build();
        try (KeyValueStore other = environment.open(Path.of("hashed"), hashed)) {
            for (int second = 0; second < SECONDS_MAX && !isEager(Part.LEAVES); second++) {
                for (int i = 0; i < WRITES_PER_SECOND; i++) {
                    other.put(Load.key(random.nextInt(RECORDS)), Load.value(i));
                    if (i % 10 == 0) {
                        try (Cursor cursor = other.cursor()) {
                            assertTrue(cursor.first());
                        }
                    }
                }
                environment.passTime();
            }
            assertTrue(isEager(Part.LEAVES), events.toString());
            assertEquals(KeyRange.all(), listener.last(Part.LEAVES).range());
        }
    }

    @Test
    void checkpointsAreFartherApartWhileTheCacheHasRoom() {
        writeForSeconds(20);
        PolicyChange change = listener.last(Part.CHECKPOINT_DISTANCE);
        assertEquals("4", change.from());
        int distance = Integer.parseInt(change.to());
        assertTrue(distance > 16, change.toString());
        assertEquals(distance, store.stats().checkpointDistance());
        assertEquals(4, store.tuning().checkpointDistance());
        assertEquals(options, store.options());
        store.tune(store.tuning().withCheckpointDistance(2));
        assertEquals(2, store.stats().checkpointDistance());
        assertEquals(2, store.tuning().checkpointDistance());
    }

    @Test
    void whoTunesItToAPolicyIsObeyed() {
        writeForSeconds(20);
        scanUntilEager(Part.LEAVES);
        assertTrue(StorePolicies.of(store).count() > 0);
        store.tune(store.tuning().withPolicy(CompactionPolicyKind.SIZE_TIERED));
        assertEquals(CompactionPolicyKind.SIZE_TIERED, store.tuning().policy());
        assertEquals(0, StorePolicies.of(store).count());
        assertEquals(4, store.stats().checkpointDistance());
        environment.passTime();
        events.clear();
        for (int second = 0; second < SECONDS_MAX; second++) {
            scan(Load.key(0));
            environment.passTime();
        }
        assertEquals(List.of(), events);
        store.tune(store.tuning().withPolicy(CompactionPolicyKind.AUTO));
        writeForSeconds(10);
        scanUntilEager(Part.LEAVES);
        assertContents();
    }

    @Test
    void itGoesOnAfterAReopenAndACrash() {
        writeForSeconds(20);
        scanUntilEager(Part.LEAVES);
        store.checkpoint();
        write(100);
        for (CrashKind kind : new CrashKind[] {null, CrashKind.KILL}) {
            SimulatedMachine left = kind == null ? machine : machine.crash(kind, random);
            environment.close();
            machine = left;
            events.clear();
            open(options);
            assertEquals(CompactionPolicyKind.AUTO, store.tuning().policy());
            assertEquals(0, StorePolicies.of(store).count());
            assertContents();
            writeForSeconds(10);
            scanUntilEager(Part.LEAVES);
        }
        environment.close();
        open(options.toBuilder().policy(CompactionPolicyKind.LAZY_LEVELING).build());
        assertEquals(CompactionPolicyKind.LAZY_LEVELING, store.tuning().policy());
        assertEquals(0, StorePolicies.of(store).count());
        assertContents();
    }

    /** Scans that come again find one run at each leaf, and none in the nodes above. */
    @Test
    void aRestIsSpentOnWhatWasScanned() {
        scanThenWrite();
        long runs = store.stats().runs();
        assertTrue(runs > leaves(), runs + " runs");
        idle();
        assertEquals(leaves(), store.stats().runs());
        assertContents();
    }

    @Test
    void whoReadsARecordAgainAndAgainIsNotDisturbed() {
        byte[] key = Load.key(0);
        store.put(key, Load.value(0));
        expected.put(key, Load.value(0));
        assertNotDisturbed(() -> assertArrayEquals(expected.get(key), store.get(key)));
    }

    @Test
    void whoOpensCursorsIsNotDisturbed() {
        assertNotDisturbed(() -> store.cursor().close());
    }

    /** Of a cursor's moves only those that come to another leaf are counted. */
    @Test
    void whoStaysWithinALeafIsNotDisturbed() {
        List<Predicate<Cursor>> moves =
                List.of(Cursor::first, Cursor::next, Cursor::previous, cursor -> cursor.seek(Load.key(0)));
        int[] moved = new int[1];
        scanThenWrite();
        try (Cursor cursor = store.cursor()) {
            staysUndisturbed(() -> assertTrue(moves.get(moved[0]++ % moves.size()).test(cursor)));
        }
    }

    private void assertNotDisturbed(Runnable call) {
        scanThenWrite();
        staysUndisturbed(call);
    }

    private void staysUndisturbed(Runnable call) {
        for (int second = 0; second < SECONDS_MAX; second++) {
            call.run();
            environment.passTime();
        }
        assertTrue(store.stats().runs() > leaves(), store.stats().runs() + " runs");
    }

    @Test
    void aRestIsOverWhenSomethingIsWrittenAgain() {
        assertOver(() -> {});
    }

    @Test
    void aRestIsOverWhenItIsTunedToAPolicy() {
        assertOver(() -> store.tune(store.tuning().withPolicy(CompactionPolicyKind.SIZE_TIERED)));
    }

    private void assertOver(Runnable call) {
        scanThenWrite();
        idle();
        assertEquals(leaves(), store.stats().runs());
        call.run();
        writeForSeconds(20);
        assertTrue(store.stats().runs() > leaves(), store.stats().runs() + " runs");
    }

    /** Scans for so long that a rest is worth its merges. */
    private void scanThenWrite() {
        writeForSeconds(20);
        scanUntilEager(Part.LEAVES);
        for (int second = 0; second < 20; second++) {
            scanForASecond();
        }
        writeForSeconds(20);
    }

    private void idle() {
        for (int second = 0; second < SECONDS_MAX; second++) {
            environment.passTime();
        }
    }

    private long leaves() {
        StoreStats stats = store.stats();
        assertEquals(2, stats.height());
        return stats.nodes() - 1;
    }

    @Test
    void aNodeIsNeverUnderIt() {
        StorePolicies policies = StorePolicies.of(store);
        assertThrows(
                IllegalArgumentException.class,
                () -> policies.set(KeyRange.all(), Heights.ALL, CompactionPolicyKind.AUTO));
    }
}
