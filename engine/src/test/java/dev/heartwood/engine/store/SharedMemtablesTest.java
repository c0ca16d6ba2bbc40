package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.DeviceKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.background.Generations.Generation;
import dev.heartwood.engine.background.QueuedWorkers;
import dev.heartwood.engine.base.Randomness;
import dev.heartwood.engine.budget.MemoryPlan;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.write.LeapClock;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What several stores have of the memory of memtables, which none of them would fill: the largest is sealed in time. One thread does everything. */
class SharedMemtablesTest {
    private static final EnvironmentOptions MEMORY =
            EnvironmentOptions.builder().memory(ByteSize.mib(64)).build();
    private static final MemoryPlan PLAN = MemoryPlan.of(MEMORY);
    private static final int VALUE_BYTES = 200;
    private static final int STORES = 9;

    @TempDir
    Path directory;

    private final LeapClock clock = new LeapClock();
    private final QueuedWorkers workers = new QueuedWorkers(new ArrayDeque<>());
    private final EngineEnvironment environment = environment(MEMORY);
    private final SplittableRandom random = new SplittableRandom(3);

    @AfterEach
    void close() {
        environment.close();
    }

    private EngineEnvironment environment(EnvironmentOptions options) {
        return EngineEnvironment.open(
                options,
                path -> new FileStorage(path, DeviceKind.POSIX, IoMode.BUFFERED),
                new Surroundings(count -> workers, clock, Randomness.SYSTEM, 1));
    }

    private KeyValueStore open(EngineEnvironment of, String name) {
        return of.open(directory.resolve(name), StoreOptions.builder().build());
    }

    private List<KeyValueStore> open(int count) {
        List<KeyValueStore> stores = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            stores.add(open(environment, "store-" + i));
        }
        return stores;
    }

    private void put(KeyValueStore store) {
        store.put(ByteBuffer.allocate(Long.BYTES).putLong(random.nextLong()).array(), new byte[VALUE_BYTES]);
    }

    private long sealed(KeyValueStore store) {
        return store.stats().memtablesSealed();
    }

    @Test
    void theLargestIsSealedBeforeTheMemoryIsGone() {
        List<KeyValueStore> stores = open(STORES);
        KeyValueStore slow = stores.getFirst();
        long most = 0;
        long written = 4 * PLAN.memtablesBytes();
        for (long bytes = 0; bytes < written; bytes += VALUE_BYTES) {
            put(random.nextInt(100) == 0 ? slow : stores.get(1 + random.nextInt(STORES - 1)));
            while (workers.runOneHere()) {
                most = Math.max(most, environment.memoryStats().memtableBytes());
            }
        }
        assertTrue(most <= PLAN.memtablesSharedBytes() + PLAN.memtablesBytes() / 10, most + " bytes");
        assertTrue(most >= PLAN.memtablesSharedBytes() * 8 / 10, most + " bytes");
        assertTrue(sealed(slow) <= 1, sealed(slow) + " of the slow store");
        long sealed = stores.stream().mapToLong(this::sealed).sum();
        // Of stores that fill beside each other the one that is sealed has twice the mean.
        long alike = written * (STORES - 1) / PLAN.memtablesSharedBytes();
        assertTrue(sealed >= STORES - 1 && sealed < alike, sealed + " memtables, " + alike + " of the mean size");
        stores.forEach(store -> assertEquals(0, store.stats().stallNanos()));
    }

    /** Stores that are written one after the other, so that nobody has had a payment of another's yet when the next one's is due. */
    @ParameterizedTest
    @ValueSource(ints = {40, 256})
    void manyStoresAreLookedAtInTime(int count) {
        List<KeyValueStore> stores = open(count);
        long most = 0;
        for (int put = 0; (long) put * VALUE_BYTES < 3 * PLAN.memtablesBytes(); put++) {
            put(stores.get(put % count));
            while (workers.runOneHere()) {
                most = Math.max(most, environment.memoryStats().memtableBytes());
            }
        }
        assertTrue(most <= PLAN.memtablesSharedBytes() + PLAN.memtablesBytes() / 6, most + " bytes");
        // While most of it is in use they pay a little, and wait for nothing.
        long nanos = stores.stream().mapToLong(store -> store.stats().stallNanos()).sum();
        assertTrue(nanos < 1_000_000, nanos + " ns");
    }

    /** Whose memtable is the largest, though it is small beside all that others keep, would be sealed again and again. */
    @Test
    void whoIsWrittenNoMoreGivesUpItsMemtable() {
        List<KeyValueStore> stores = open(64);
        long others = 0;
        while (environment.memoryStats().memtableBytes() < PLAN.memtablesSharedBytes() * 9 / 10) {
            put(stores.get((int) (others++ % 64)));
        }
        KeyValueStore hot = stores.getFirst();
        long before = sealed(hot);
        long written = 10 * PLAN.memtablesBytes();
        for (long bytes = 0; bytes < written; bytes += VALUE_BYTES) {
            put(hot);
            while (workers.runOneHere()) {}
        }
        long sealed = sealed(hot) - before;
        assertTrue(sealed <= written / (PLAN.memtablesBytes() / 8), sealed + " memtables");
    }

    /** What is empty holds nothing, however long. */
    @Test
    void whoHasJustBegunKeepsItsMemtable() {
        EnvironmentOptions little = EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
        try (EngineEnvironment small = environment(little)) {
            KeyValueStore written = open(small, "written");
            KeyValueStore begun = open(small, "begun");
            writeUntilSealed(written, 220);
            put(begun);
            writeUntilSealed(written, 222);
            assertEquals(0, sealed(begun));
        }
    }

    private void writeUntilSealed(KeyValueStore store, long memtables) {
        while (sealed(store) < memtables) {
            store.put(ByteBuffer.allocate(Long.BYTES).putLong(random.nextLong(10_000)).array(), new byte[1000]);
            while (workers.runOneHere()) {}
        }
    }

    /** The store has sealed what was looked at by itself meanwhile. */
    @Test
    void whatIsSealedMeanwhileIsNotSealedAgain() {
        KeyValueStore store = open(1).getFirst();
        write(store);
        MemoryShare share = ((EngineStore) store).memory();
        Generation looked = share.active();
        share.seal(looked);
        put(store);
        share.seal(looked);
        while (workers.runOneHere()) {}
        assertEquals(1, sealed(store));
    }

    /** With as much memory in use by one store it would pay as well. */
    @Test
    void whoWritesPaysForMemoryThatOthersHave() {
        List<KeyValueStore> stores = open(2);
        write(stores.getFirst());
        assertEquals(0, stores.getFirst().stats().stallNanos());
        assertTrue(environment.mergeAdmission().admitPacking(true, () -> {}));
        while (environment.memoryStats().memtableBytes() < PLAN.memtablesBytes() * 9 / 10) {
            put(stores.getLast());
            while (workers.runOneHere()) {}
        }
        assertEquals(0, stores.getFirst().stats().stallNanos());
        write(stores.getFirst());
        assertTrue(stores.getFirst().stats().stallNanos() > 0);
        environment.mergeAdmission().releasePacking();
        while (workers.runOneHere()) {}
    }

    /** It comes back when it is wanted; nobody packs it. */
    @Test
    void nobodyPaysForMemoryThatViewsHold() {
        List<KeyValueStore> stores = open(2);
        List<Snapshot> snapshots = new ArrayList<>();
        for (long bytes = 0; bytes < 3 * PLAN.memtablesBytes(); bytes += VALUE_BYTES) {
            if (bytes % (PLAN.memtableBytes() / 4 / VALUE_BYTES * VALUE_BYTES) == 0) {
                snapshots.add(stores.getFirst().snapshot());
            }
            put(stores.getFirst());
            while (workers.runOneHere()) {}
        }
        assertTrue(sealed(stores.getFirst()) > 1);
        long nanos = stores.getFirst().stats().stallNanos();
        assertTrue(nanos < 10_000_000, nanos + " ns");
        snapshots.forEach(Snapshot::close);
    }

    private void write(KeyValueStore store) {
        for (int bytes = 0; bytes < 512 << 10; bytes += VALUE_BYTES) {
            put(store);
        }
    }

    /** The worker reported it as a failure, with a stack trace each time. */
    @Test
    void whoFindsTheHeapFullLooksAgain() {
        int[] looks = {0};
        SharedMemtables shared = new SharedMemtables(
                () -> 0,
                () -> {
                    if (looks[0]++ < 2) {
                        throw new OutOfMemoryError("planted");
                    }
                    return List.of();
                },
                workers,
                PLAN.memtablesSharedBytes(),
                () -> 1);
        while (looks[0] < 3) {
            shared.sealAhead();
            assertTrue(looks(), "nobody looks after " + looks[0] + " looks");
        }
    }

    private boolean looks() {
        try {
            return workers.runOneHere();
        } catch (OutOfMemoryError planted) {
            throw new AssertionError("who looks fails", planted);
        }
    }

    @Test
    void aStoreThatIsAloneFillsItsMemtable() {
        KeyValueStore store = open(1).getFirst();
        for (long bytes = 0; bytes < PLAN.memtableBytes() * 4 / 5; bytes += VALUE_BYTES) {
            put(store);
        }
        while (workers.runOneHere()) {}
        assertEquals(0, sealed(store));
    }
}
