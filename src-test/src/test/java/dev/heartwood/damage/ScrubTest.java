package dev.heartwood.damage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CorruptionEvent;
import dev.heartwood.CorruptionEvent.FoundBy;
import dev.heartwood.CorruptionException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreListener;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.testkit.Errno;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The background scrubber, and who is told of damage. */
class ScrubTest {
    private static final int OFFSET = 700;

    private final BlockingQueue<CorruptionEvent> events = new LinkedBlockingQueue<>();

    private final StoreListener listener = new StoreListener() {
        @Override
        public void corruption(CorruptionEvent event) {
            events.add(event);
        }
    };

    private StoreOptions options(ByteSize scrubPerSecond) {
        return Specimen.options().toBuilder().scrubPerSecond(scrubPerSecond).listener(listener).build();
    }

    private static void await(KeyValueStore store, Predicate<StoreStats> condition) {
        while (!condition.test(store.stats())) {
            Thread.yield();
        }
    }

    private static void flip(SimulatedMachine machine, long page) {
        machine.flip(Specimen.DIRECTORY, Specimen.DATA, page * Specimen.PAGE_BYTES + OFFSET, 1);
    }

    @ParameterizedTest
    @EnumSource(
            value = PageType.class,
            names = {"SUPERBLOCK", "TRUNK", "BRANCH_LEAF", "BRANCH_INDEX", "OVERFLOW", "FILTER"})
    void rotIsFoundAndReportedOnce(PageType type) throws InterruptedException {
        Specimen specimen = Specimen.of(21);
        long page = specimen.pageInUse(type);
        SimulatedMachine machine = specimen.copy();
        try (KeyValueStore store = SimulatedStoreHost.open(machine, options(ByteSize.gib(1)))) {
            await(store, stats -> stats.scrubs() >= 1);
            assertEquals(0, store.stats().damagedPages());
            flip(machine, page);
            CorruptionEvent event = events.take();
            assertEquals(page, event.page());
            assertEquals(type.name(), event.pageType());
            assertEquals(FoundBy.SCRUB, event.foundBy());
            assertTrue(event.toString().contains("page " + page), event.toString());
            long scrubs = store.stats().scrubs();
            await(store, stats -> stats.scrubs() >= scrubs + 2);
            assertEquals(1, store.stats().damagedPages());
            assertEquals(0, events.size());
            assertTrue(store.stats().pagesScrubbed() > 0);
        }
    }

    /**
     * Pages are freed and written anew under the scrubber all the time. It reads when there is nothing else to do, or is late, as beside work without end:
     * so what is written later waits for it now and then.
     */
    @Test
    void nothingIsFoundInASoundStoreThatIsWritten() {
        Specimen specimen = Specimen.of(22);
        SimulatedMachine machine = specimen.copy();
        try (KeyValueStore store = SimulatedStoreHost.open(machine, options(ByteSize.gib(4)))) {
            SplittableRandom random = new SplittableRandom(22);
            for (int i = 0; i < 60; i++) {
                specimen.write(store, random, 400);
            }
            while (store.stats().scrubs() < 4) {
                long scrubbed = store.stats().pagesScrubbed();
                specimen.write(store, random, 400);
                await(store, stats -> stats.pagesScrubbed() >= scrubbed + 100 || stats.scrubs() >= 4);
            }
            assertEquals(0, store.stats().damagedPages());
            assertTrue(specimen.read(store).isWhole());
        }
        assertEquals(0, events.size());
    }

    @Test
    void aPageThatCannotBeReadIsReported() throws InterruptedException {
        Specimen specimen = Specimen.of(23);
        SimulatedMachine machine = specimen.copy();
        try (KeyValueStore store = SimulatedStoreHost.open(machine, options(ByteSize.gib(1)))) {
            await(store, stats -> stats.scrubs() >= 1);
            machine.faults().fail(OperationKind.READ, 1, Errno.EIO, Duration.FOR_GOOD);
            CorruptionEvent event = events.take();
            machine.faults().heal();
            assertTrue(event.actual().contains("EIO"), event.toString());
            assertTrue(specimen.read(store).isWhole());
        }
    }

    @Test
    void readsReportWhatTheyMeet() throws InterruptedException {
        Specimen specimen = Specimen.of(24);
        SimulatedMachine machine = specimen.copy();
        long page = specimen.pageInUse(PageType.BRANCH_LEAF);
        flip(machine, page);
        try (KeyValueStore store = SimulatedStoreHost.open(machine, options(new ByteSize(0)))) {
            Specimen.Reading first = specimen.read(store);
            Specimen.Reading second = specimen.read(store);
            assertTrue(first.refused() > 0 && second.refused() == first.refused(), first + ", " + second);
            CorruptionEvent event = events.take();
            assertEquals(page, event.page());
            assertEquals(FoundBy.READ, event.foundBy());
            assertEquals(1, store.stats().damagedPages());
            assertEquals(0, store.stats().pagesScrubbed(), "a rate of 0 reads nothing");
        }
        assertEquals(0, events.size());
    }

    /** Of damaged nodes and superblocks the listener was not told. */
    @ParameterizedTest
    @EnumSource(
            value = PageType.class,
            names = {"SUPERBLOCK", "TRUNK", "BRANCH_LEAF", "BRANCH_INDEX", "OVERFLOW", "FILTER"})
    void verificationReportsWhatItMeets(PageType type) throws InterruptedException {
        requireReport(type, store -> assertFalse(store.verify().isClean()));
    }

    /** The listener was told of nothing. */
    @ParameterizedTest
    @EnumSource(
            value = PageType.class,
            names = {"SUPERBLOCK", "TRUNK", "BRANCH_LEAF", "BRANCH_INDEX", "OVERFLOW", "FILTER"})
    void aBackupReportsWhatItMeets(PageType type) throws InterruptedException {
        Path target = Path.of("simulated", "target");
        requireReport(type, store -> {
            if (type == PageType.SUPERBLOCK) {
                store.backup(target);
            } else {
                assertThrows(CorruptionException.class, () -> store.backup(target));
            }
        });
    }

    private void requireReport(PageType type, Consumer<KeyValueStore> call) throws InterruptedException {
        Specimen specimen = Specimen.of(25);
        SimulatedMachine machine = specimen.copy();
        long page = specimen.pageInUse(type);
        try (KeyValueStore store = SimulatedStoreHost.open(machine, options(new ByteSize(0)))) {
            flip(machine, page);
            call.accept(store);
            call.accept(store);
            assertEquals(1, store.stats().damagedPages());
            CorruptionEvent event = events.take();
            assertEquals(page, event.page());
            assertEquals(type.name(), event.pageType());
            assertEquals(FoundBy.VERIFY, event.foundBy());
        }
        assertEquals(0, events.size());
    }

    @Test
    void aListenerThatThrowsHarmsNobody() {
        Specimen specimen = Specimen.of(26);
        SimulatedMachine machine = specimen.copy();
        List<Long> leaves = specimen.pages(PageType.BRANCH_LEAF);
        for (long page : leaves) {
            flip(machine, page);
        }
        StoreListener throwing = new StoreListener() {
            @Override
            public void corruption(CorruptionEvent event) {
                if (event.page() % 2 == 0) {
                    throw new IllegalStateException("thrown by a listener");
                }
                throw new StackOverflowError("thrown by a listener");
            }
        };
        StoreOptions options = options(ByteSize.gib(1)).toBuilder().listener(throwing).build();
        try (KeyValueStore store = SimulatedStoreHost.open(machine, options)) {
            byte[] stored = specimen.contents().firstKey();
            assertThrows(CorruptionException.class, () -> {
                for (byte[] key : specimen.contents().keySet()) {
                    store.get(key);
                }
            });
            await(store, stats -> stats.scrubs() >= 1 && stats.listenerFailures() == stats.damagedPages());
            assertTrue(store.stats().listenerFailures() > 1);
            byte[] fresh = {1, 2, 3};
            store.put(stored, fresh);
            assertArrayEquals(fresh, store.get(stored));
        }
    }

    /** Who settles waits for merges, which no worker can do that waits for the listener. */
    @Test
    void aListenerMaySettle() throws InterruptedException {
        Specimen specimen = Specimen.of(26);
        SimulatedMachine machine = specimen.copy();
        flip(machine, specimen.pageInUse(PageType.BRANCH_LEAF));
        CompletableFuture<KeyValueStore> opened = new CompletableFuture<>();
        BlockingQueue<String> settled = new LinkedBlockingQueue<>();
        StoreListener settling = new StoreListener() {
            @Override
            public void corruption(CorruptionEvent event) {
                String thread = Thread.currentThread().getName();
                if (!thread.contains("worker")) {
                    opened.join().settle();
                }
                settled.add(thread);
            }
        };
        StoreOptions options = options(ByteSize.gib(1)).toBuilder().listener(settling).workers(1).build();
        try (KeyValueStore store = SimulatedStoreHost.open(machine, options)) {
            opened.complete(store);
            String thread = settled.take();
            assertFalse(thread.contains("worker"), thread);
        }
    }

    @Test
    void closingStopsTheScrubber() {
        Specimen specimen = Specimen.of(27);
        SimulatedMachine machine = specimen.copy();
        for (int i = 0; i < 20; i++) {
            try (KeyValueStore store = SimulatedStoreHost.open(machine, options(ByteSize.gib(8)))) {
                store.put(new byte[] {(byte) i}, new byte[100]);
                int pages = i * 3;
                await(store, stats -> stats.pagesScrubbed() >= pages);
            }
            assertEquals(List.of(), Specimen.problems(machine));
        }
    }
}
