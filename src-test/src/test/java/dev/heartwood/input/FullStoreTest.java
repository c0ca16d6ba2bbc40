package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyOrder;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreOptions;
import dev.heartwood.WriteBatch;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.FileStoreHost;
import dev.heartwood.testkit.MountedFileSystem;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import dev.heartwood.testkit.TestDirectory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Stores that are full, by their own limit or because the disk is, with memtables of the usual size: what would grow them is refused for want
 * of space and for nothing else, deletes are taken, and what is deleted makes room for as much.
 */
class FullStoreTest {
    private static final ByteSize LIMIT = ByteSize.mib(20);
    /** Enough for short records, of which there are many. */
    private static final ByteSize LIMIT_OF_SHORT = ByteSize.mib(12);

    private static final int MOUNTED_MIB = 24;
    private static final int CALLERS = 3;

    /** Records and the versions that they were written with last. */
    private final Map<Integer, Integer> model = new HashMap<>();

    private final SplittableRandom random = new SplittableRandom(5);
    private IntFunction<byte[]> keys = FillRecords::key;

    private record Kind(String name, StoreOptions options, int valueBytes) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Kind> kinds() {
        return Stream.of(
                new Kind("size-tiered", limited().policy(CompactionPolicyKind.SIZE_TIERED).build(), 1000),
                new Kind("level-tiered", limited().policy(CompactionPolicyKind.LEVEL_TIERED).build(), 300),
                new Kind("lazily levelled", limited().policy(CompactionPolicyKind.LAZY_LEVELING).build(), 300),
                new Kind("hashed", limited().keyOrder(KeyOrder.HASHED).build(), 300),
                new Kind(
                        "hashed, little memtables",
                        limited().keyOrder(KeyOrder.HASHED).memtable(ByteSize.kib(128)).build(),
                        300),
                new Kind("little memtables", limited().memtable(ByteSize.kib(256)).build(), 300),
                new Kind("short records", limited().diskMax(LIMIT_OF_SHORT).build(), 60),
                new Kind("much memory", limited().memory(ByteSize.mib(96)).build(), 1000),
                new Kind("large values", limited().build(), 5000),
                new Kind("large values, level-tiered", limited().policy(CompactionPolicyKind.LEVEL_TIERED).build(), 20_000));
    }

    private static StoreOptions.Builder limited() {
        return StoreOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).diskMax(LIMIT);
    }

    private static byte[] value(int i, int version, int bytes) {
        return FillRecords.value(((long) version << 32) + i, bytes);
    }

    /** Puts records until one is refused, those that are not there already; returns how many. */
    private int fill(KeyValueStore store, int valueBytes, int recordsMax) {
        int put = 0;
        for (int i = 0; i < recordsMax; i++) {
            if (!model.containsKey(i)) {
                try {
                    store.put(keys.apply(i), value(i, put, valueBytes));
                } catch (NoSpaceException full) {
                    return put;
                }
                model.put(i, put);
                put++;
            }
        }
        return put;
    }

    /** Deletes records, in batches of some; none of it is refused. Returns how many. */
    private int delete(KeyValueStore store, int batchCount, IntPredicate chosen) {
        List<Integer> all = model.keySet().stream().filter(chosen::test).toList();
        try (WriteBatch batch = store.newBatch()) {
            for (int i : all) {
                batch.delete(keys.apply(i));
                if (batch.count() == batchCount) {
                    store.write(batch);
                    batch.clear();
                }
            }
            store.write(batch);
        }
        all.forEach(model::remove);
        return all.size();
    }

    private void check(KeyValueStore store, int valueBytes, int recordsMax) {
        for (int i = 0; i < recordsMax; i++) {
            Integer version = model.get(i);
            byte[] found = store.get(keys.apply(i));
            if (version == null) {
                assertNull(found, "record " + i);
            } else {
                assertArrayEquals(value(i, version, valueBytes), found, "record " + i);
            }
        }
    }

    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @MethodSource("kinds")
    void whatIsDeletedMakesRoomForAsMuch(Kind kind) {
        try (TestDirectory directory = new TestDirectory("full")) {
            fillAndDelete(() -> Heartwood.open(directory.path(), kind.options()), kind.options().diskMax().bytes(), kind.valueBytes());
            FileStoreHost.verify(directory.path());
        }
    }

    /** There the log needs space, too, and the store has no limit of its own. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void whatIsDeletedMakesRoomOnAFullDisk() {
        SimulatedMachine machine = new SimulatedMachine(1);
        machine.capacity(LIMIT.bytes());
        StoreOptions options = StoreOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
        fillAndDelete(() -> SimulatedStoreHost.open(machine, options), LIMIT.bytes(), 1000);
        SimulatedStoreHost.verify(machine);
    }

    /** Space that the log has for later is what records need now. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void theLogGivesBackWhatItKeepsBeforeAWriteIsRefused() {
        SimulatedMachine machine = new SimulatedMachine(1);
        machine.capacity(LIMIT.bytes());
        StoreOptions options = StoreOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
        try (KeyValueStore store = SimulatedStoreHost.open(machine, options)) {
            fill(store, 1000, (int) (2 * LIMIT.bytes() / 1000));
            long log = 0;
            for (String name : machine.files(SimulatedStoreHost.DIRECTORY)) {
                log += name.endsWith(".seg") ? machine.size(SimulatedStoreHost.DIRECTORY, name) : 0;
            }
            assertTrue(log <= 1 << 20, log + " bytes of log");
        }
    }

    /** The same on a file system of its own, where one may be mounted; else there is nothing more to try. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void whatIsDeletedMakesRoomOnAFullFileSystem() {
        try (TestDirectory parent = new TestDirectory("full")) {
            Optional<MountedFileSystem> mounted = MountedFileSystem.of(parent.path(), MOUNTED_MIB);
            Assumptions.assumeTrue(mounted.isPresent(), "no file system may be mounted here");
            try (MountedFileSystem files = mounted.get()) {
                Path directory = files.path().resolve("store");
                StoreOptions options = StoreOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
                fillAndDelete(() -> Heartwood.open(directory, options), ByteSize.mib(MOUNTED_MIB).bytes() / 2, 1000);
                FileStoreHost.verify(directory);
            }
        }
    }

    private void fillAndDelete(Supplier<KeyValueStore> opener, long limit, int valueBytes) {
        int recordsMax = (int) (2 * limit / valueBytes);
        try (KeyValueStore store = opener.get()) {
            int first = fill(store, valueBytes, recordsMax);
            assertTrue((long) first * valueBytes > limit / 3, "refused after " + first);
            for (int share : new int[] {2, 6}) {
                int deleted = delete(store, share, i -> random.nextInt(share) == 0);
                store.settle();
                int again = fill(store, valueBytes, recordsMax);
                assertTrue(again >= deleted * 2 / 3, again + " after " + deleted + " were deleted");
            }
            check(store, valueBytes, recordsMax);
            // Without settling.
            assertTrue(delete(store, 100, i -> true) > 0);
            int again = fill(store, valueBytes, recordsMax);
            assertTrue(again >= first / 2, again + " of " + first + " after all were deleted");
            check(store, valueBytes, recordsMax);
        }
        try (KeyValueStore store = opener.get()) {
            check(store, valueBytes, recordsMax);
        }
    }

    /** A memtable of a few records takes more, packed, than they can free: it is packed once they are more. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void fewDeletesAreNotPackedForSpace() {
        int valueBytes = 20_000;
        StoreOptions options = limited().policy(CompactionPolicyKind.LEVEL_TIERED).build();
        try (TestDirectory directory = new TestDirectory("full"); KeyValueStore store = Heartwood.open(directory.path(), options)) {
            int recordsMax = (int) (2 * LIMIT.bytes() / valueBytes);
            fill(store, valueBytes, recordsMax);
            long sealed = store.stats().memtablesSealed();
            int again = 0;
            for (int i = 0; i < 12; i++) {
                int last = i;
                assertTrue(delete(store, 1, record -> record == last) == 1);
                again += fill(store, valueBytes, recordsMax);
            }
            long packed = store.stats().memtablesSealed() - sealed;
            // Three puts are a sixteenth of a memtable; packing two records at a time would be four more than this.
            long most = 2 + again / 2;
            assertTrue(packed <= most, packed + " memtables packed for 12 deletes and " + again + " puts");
        }
    }

    /** What a delete frees may be much more than what a record of the store has on average; nothing is settled here. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void deletesOfFewLargeRecordsAmongManySmallOnesMakeRoom() {
        int small = 5000;
        int deleted = 120;
        byte[] large = value(0, 0, 20_000);
        try (TestDirectory directory = new TestDirectory("full");
                KeyValueStore store = Heartwood.open(directory.path(), limited().build())) {
            for (int i = 0; i < small; i++) {
                store.put(FillRecords.key(i), value(i, 0, 100));
            }
            int end = putUntilRefused(store, small, large);
            assertTrue(end - small > 3 * deleted, "refused after " + (end - small));
            for (int i = small; i < small + deleted; i++) {
                store.delete(FillRecords.key(i));
            }
            int again = putUntilRefused(store, end, large) - end;
            assertTrue(again >= deleted / 2, again + " after " + deleted + " were deleted");
        }
    }

    /** Puts records from this one on until one is refused; returns which. */
    private static int putUntilRefused(KeyValueStore store, int first, byte[] value) {
        int i = first;
        try {
            while (true) {
                store.put(FillRecords.key(i), value);
                i++;
            }
        } catch (NoSpaceException full) {
            return i;
        }
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void whatIsDiscardedMakesRoomToo() {
        try (TestDirectory directory = new TestDirectory("full");
                KeyValueStore store = Heartwood.open(directory.path(), limited().build())) {
            int recordsMax = (int) (2 * LIMIT.bytes() / 1000);
            int first = fill(store, 1000, recordsMax);
            store.discard(KeyRange.all());
            model.clear();
            int again = fill(store, 1000, recordsMax);
            assertTrue(again >= first / 2, again + " of " + first + " after all were discarded");
            check(store, 1000, again);
        }
    }

    /** Puts, overwrites, deletes and batches of both at the limit: what is refused has not happened, and all else has. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void refusedWritesChangeNothing() {
        int records = (int) (LIMIT.bytes() / 500);
        int refused = 0;
        try (TestDirectory directory = new TestDirectory("full")) {
            try (KeyValueStore store = Heartwood.open(directory.path(), limited().build());
                    WriteBatch batch = store.newBatch()) {
                fill(store, 500, records);
                for (int version = records; version < 2 * records; version++) {
                    Map<Integer, Integer> writes = new HashMap<>();
                    int count = random.nextInt(10) == 0 ? 1 + random.nextInt(30) : 1;
                    boolean deletes = random.nextInt(3) == 0;
                    for (int i = 0; i < count; i++) {
                        writes.put(random.nextInt(records), deletes || random.nextInt(8) == 0 ? null : version);
                    }
                    batch.clear();
                    writes.forEach((i, v) -> {
                        if (v == null) {
                            batch.delete(FillRecords.key(i));
                        } else {
                            batch.put(FillRecords.key(i), value(i, v, 500));
                        }
                    });
                    try {
                        store.write(batch);
                    } catch (NoSpaceException full) {
                        refused++;
                        continue;
                    }
                    writes.forEach((i, v) -> {
                        if (v == null) {
                            model.remove(i);
                        } else {
                            model.put(i, v);
                        }
                    });
                }
                check(store, 500, records);
            }
            assertTrue(refused > 100, refused + " were refused");
            FileStoreHost.verify(directory.path());
            try (KeyValueStore store = Heartwood.open(directory.path(), limited().build())) {
                check(store, 500, records);
            }
        }
    }

    /** Callers that fill a store beside others that delete: each is refused for want of space alone, and in the end all have had their way. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void callersThatDeleteMakeRoomForThoseThatPut() throws InterruptedException {
        try (TestDirectory directory = new TestDirectory("full");
                KeyValueStore store = Heartwood.open(directory.path(), limited().build())) {
            AtomicReference<Throwable> failure = new AtomicReference<>();
            int perCaller = (int) (LIMIT.bytes() / 1500);
            List<Thread> callers = new ArrayList<>();
            for (int c = 0; c < CALLERS; c++) {
                int first = c * perCaller;
                callers.add(Thread.ofPlatform().start(() -> {
                    try {
                        putAndDelete(store, first, perCaller);
                    } catch (Throwable e) {
                        failure.compareAndSet(null, e);
                    }
                }));
            }
            for (Thread caller : callers) {
                caller.join();
            }
            assertNull(failure.get());
            for (int i = 0; i < CALLERS * perCaller; i++) {
                assertNull(store.get(FillRecords.key(i)));
            }
            store.settle();
            assertTrue(fill(store, 1000, 2 * perCaller) > perCaller / 3);
        }
    }

    /** Puts each record, and deletes one of its own that it has put when one is refused; all in the end. */
    private static void putAndDelete(KeyValueStore store, int first, int count) {
        int deleted = first;
        for (int i = first; i < first + count; i++) {
            try {
                store.put(FillRecords.key(i), value(i, 0, 1000));
            } catch (NoSpaceException full) {
                if (deleted < i) {
                    store.delete(FillRecords.key(deleted++));
                }
            }
        }
        for (; deleted < first + count; deleted++) {
            store.delete(FillRecords.key(deleted));
        }
    }

    /** A store that was full when its process or the power ended, amid deletes, is full when it is opened, takes deletes at once and then as much as before. */
    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @CsvSource({"KILL, 1000", "KILL, 5000", "POWER_LOSS, 1000", "POWER_LOSS, 5000"})
    void aFullStoreThatIsOpenedAgainTakesDeletes(CrashKind kind, int valueBytes) {
        int recordsMax = (int) (2 * LIMIT.bytes() / valueBytes);
        SimulatedMachine machine = new SimulatedMachine(3);
        KeyValueStore abandoned = SimulatedStoreHost.open(machine, limited().build());
        int first = fill(abandoned, valueBytes, recordsMax);
        abandoned.sync();
        Map<Integer, Integer> filled = new HashMap<>(model);
        delete(abandoned, 1, i -> random.nextInt(3) == 0);
        SimulatedMachine crashed = machine.crash(kind, new SplittableRandom(1));
        abandoned.close();
        try (KeyValueStore store = SimulatedStoreHost.open(crashed, limited().build())) {
            if (kind == CrashKind.POWER_LOSS) {
                // Deletes that were not synced may not have happened.
                filled.forEach((i, version) -> {
                    if (store.get(FillRecords.key(i)) != null) {
                        model.put(i, version);
                    }
                });
            }
            check(store, valueBytes, recordsMax);
            delete(store, 1, i -> random.nextBoolean());
            store.settle();
            int room = first - model.size();
            int again = fill(store, valueBytes, recordsMax);
            assertTrue(again >= room * 2 / 3, again + " where " + room + " of " + first + " were deleted");
            check(store, valueBytes, recordsMax);
        }
        SimulatedStoreHost.verify(crashed);
    }

    /** Stores that share the memory and the background with a full one go on, and that takes as much again as was deleted. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void storesBesideAFullOneGoOn() {
        int recordsMax = (int) (2 * LIMIT.bytes() / 5000);
        EnvironmentOptions memory = EnvironmentOptions.builder().memory(ByteSize.mib(24)).build();
        try (TestDirectory directory = new TestDirectory("full")) {
            try (Environment environment = Heartwood.openEnvironment(memory);
                    KeyValueStore full = environment.open(directory.path().resolve("full"), StoreOptions.builder().diskMax(LIMIT).build());
                    KeyValueStore one = environment.open(directory.path().resolve("one"), StoreOptions.builder().build());
                    KeyValueStore other = environment.open(directory.path().resolve("other"), StoreOptions.builder().build())) {
                int first = fill(full, 5000, recordsMax);
                for (int i = 0; i < recordsMax; i++) {
                    one.put(FillRecords.key(i), value(i, 1, 5000));
                    other.put(FillRecords.key(i), value(i, 2, 1000));
                    if (i % 100 == 0) {
                        // Until it is refused once more.
                        fill(full, 5000, recordsMax);
                    }
                }
                assertTrue(model.size() < recordsMax, "all were put");
                int deleted = delete(full, 10, i -> random.nextBoolean());
                full.settle();
                int again = fill(full, 5000, recordsMax);
                assertTrue(again >= deleted * 2 / 3, again + " after " + deleted + " of " + first + " were deleted");
                check(full, 5000, recordsMax);
                for (int i = 0; i < recordsMax; i++) {
                    assertArrayEquals(value(i, 1, 5000), one.get(FillRecords.key(i)), "record " + i);
                    assertArrayEquals(value(i, 2, 1000), other.get(FillRecords.key(i)), "record " + i);
                }
            }
            for (String name : List.of("full", "one", "other")) {
                FileStoreHost.verify(directory.path().resolve(name));
            }
        }
    }

    /** Long keys, of which pages, and the images of nodes, hold few: what was taken in is packed, so that the store can be closed and opened. */
    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @ValueSource(ints = {1, 2, 3, 4})
    void whatAStoreOfLongKeysHasTakenIsPacked(int seed) {
        SplittableRandom chosen = new SplittableRandom(seed);
        StoreOptions options = StoreOptions.builder()
                .memory(EnvironmentOptions.MEMORY_MIN)
                .diskMax(ByteSize.mib(4))
                .keyOrder(KeyOrder.HASHED)
                .policy(CompactionPolicyKind.LEVEL_TIERED)
                .build();
        try (TestDirectory directory = new TestDirectory("full")) {
            try (KeyValueStore store = Heartwood.open(directory.path(), options)) {
                for (int i = 0; i < 4000; i++) {
                    int record = chosen.nextInt(300);
                    try {
                        if (chosen.nextInt(3) == 0) {
                            store.delete(longKey(record));
                            model.remove(record);
                        } else {
                            store.put(longKey(record), value(record, i, 1000));
                            model.put(record, i);
                        }
                    } catch (NoSpaceException full) {
                        continue;
                    }
                }
            }
            FileStoreHost.verify(directory.path());
            try (KeyValueStore store = Heartwood.open(directory.path(), options)) {
                for (int record = 0; record < 300; record++) {
                    Integer version = model.get(record);
                    byte[] found = store.get(longKey(record));
                    assertArrayEquals(version == null ? null : value(record, version, 1000), found, "record " + record);
                }
            }
        }
    }

    /** Keys so long that the images of nodes, which have some of each run, take as much as runs: they are written before anything is free. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void aFullStoreOfLongKeysTakesDeletes() {
        int keyBytes = 20_000;
        int recordsMax = (int) (2 * LIMIT.bytes() / keyBytes);
        keys = i -> longKey(i, keyBytes);
        try (TestDirectory directory = new TestDirectory("full")) {
            try (KeyValueStore store = Heartwood.open(directory.path(), limited().build())) {
                int first = fill(store, 1000, recordsMax);
                assertTrue((long) first * keyBytes > LIMIT.bytes() / 4, "refused after " + first);
                for (int round = 0; round < 4; round++) {
                    delete(store, 1, i -> random.nextBoolean());
                    store.settle();
                    fill(store, 1000, recordsMax);
                }
                check(store, 1000, recordsMax);
                delete(store, 1, i -> true);
                int again = fill(store, 1000, recordsMax);
                assertTrue(again >= first / 2, again + " of " + first + " after all were deleted");
                check(store, 1000, recordsMax);
            }
            FileStoreHost.verify(directory.path());
        }
    }

    private static byte[] longKey(int i) {
        return longKey(i, 2100);
    }

    private static byte[] longKey(int i, int bytes) {
        return ByteBuffer.allocate(bytes).put(FillRecords.key(i)).put(value(i, 0, bytes - Long.BYTES)).array();
    }
}
