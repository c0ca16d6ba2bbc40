package dev.heartwood.damage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ClosedException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.VerifyReport;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.testkit.Errno;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Verification of a store that is open. */
class OpenVerifyTest {
    @Test
    void aSoundStoreIsCleanWhileItIsWritten() throws InterruptedException {
        Specimen specimen = Specimen.of(11);
        SimulatedMachine machine = specimen.copy();
        try (KeyValueStore store = SimulatedStoreHost.open(machine, Specimen.options())) {
            AtomicReference<Throwable> failure = new AtomicReference<>();
            CountDownLatch verified = new CountDownLatch(1);
            Thread writer = new Thread(() -> {
                try {
                    SplittableRandom random = new SplittableRandom(1);
                    while (verified.getCount() > 0) {
                        specimen.write(store, random, 500);
                    }
                } catch (Throwable e) {
                    failure.set(e);
                }
            });
            writer.start();
            List<VerifyReport> reports = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                reports.add(store.verify());
            }
            verified.countDown();
            writer.join();
            assertEquals(null, failure.get());
            for (VerifyReport report : reports) {
                assertEquals(List.of(), report.problems());
                assertTrue(report.entries() > 0 && report.filters() > 0 && report.pages() > 0, report.toString());
            }
            assertTrue(specimen.read(store).isWhole());
        }
    }

    /** What the environment has cached does not hide what the device has. */
    @ParameterizedTest
    @EnumSource(
            value = PageType.class,
            names = {"SUPERBLOCK", "TRUNK", "BRANCH_LEAF", "BRANCH_INDEX", "OVERFLOW", "FILTER"})
    void rotUnderAnOpenStoreIsListed(PageType type) {
        Specimen specimen = Specimen.of(12);
        SimulatedMachine machine = specimen.copy();
        try (KeyValueStore store = SimulatedStoreHost.open(machine, Specimen.options())) {
            assertTrue(specimen.read(store).isWhole());
            int listed = 0;
            int flipped = 0;
            List<Long> all = specimen.pages(type);
            // One that matters, and some of which it is not known.
            List<Long> pages = new ArrayList<>(List.of(specimen.pageInUse(type)));
            for (int i = 0; i < all.size(); i += Math.max(1, all.size() / 8)) {
                pages.add(all.get(i));
            }
            for (long page : pages) {
                machine.flip(Specimen.DIRECTORY, Specimen.DATA, page * Specimen.PAGE_BYTES + 900, 4);
                VerifyReport report = store.verify();
                machine.flip(Specimen.DIRECTORY, Specimen.DATA, page * Specimen.PAGE_BYTES + 900, 4);
                flipped++;
                if (!report.isClean()) {
                    listed++;
                    assertTrue(report.problems().getFirst().contains("page " + page + " "), report.toString());
                }
            }
            assertTrue(listed > 0, "none of " + flipped + " flips was listed");
            assertTrue(store.verify().isClean());
        }
    }

    /** An open store knows its superblock, whatever the device has; of each damaged copy it was said that the other one is whole. */
    @Test
    void noCopyOfTheSuperblockIsCalledWholeThatIsDamaged() {
        SimulatedMachine machine = Specimen.of(15).copy();
        try (KeyValueStore store = SimulatedStoreHost.open(machine, Specimen.options())) {
            machine.flip(Specimen.DIRECTORY, Specimen.DATA, 900, 4);
            List<String> one = store.verify().problems();
            assertEquals(1, one.size(), one.toString());
            assertTrue(one.getFirst().endsWith("; the other copy is whole and the next open rewrites this one"), one.toString());
            machine.flip(Specimen.DIRECTORY, Specimen.DATA, 16 * Specimen.PAGE_BYTES + 900, 4);
            List<String> both = store.verify().problems();
            assertEquals(2, both.size(), both.toString());
            assertFalse(both.toString().contains("whole"), both.toString());
        }
    }

    /** Two reads are of the superblocks. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void aReadErrorIsListedAndTheStoreGoesOn(int nth) {
        Specimen specimen = Specimen.of(13);
        SimulatedMachine machine = specimen.copy();
        try (KeyValueStore store = SimulatedStoreHost.open(machine, Specimen.options())) {
            machine.faults().fail(OperationKind.READ, nth, Errno.EIO, Duration.ONCE);
            assertFalse(store.verify().isClean());
            assertEquals(1, machine.faults().injected());
            assertTrue(store.verify().isClean());
            assertTrue(specimen.read(store).isWhole());
        }
    }

    @Test
    void closingEndsAVerification() throws InterruptedException {
        Specimen specimen = Specimen.of(14);
        SimulatedMachine machine = specimen.copy();
        KeyValueStore store = SimulatedStoreHost.open(machine, Specimen.options());
        CountDownLatch begun = new CountDownLatch(1);
        AtomicReference<Throwable> outcome = new AtomicReference<>();
        Thread verifier = new Thread(() -> {
            try {
                while (true) {
                    store.verify();
                    begun.countDown();
                }
            } catch (Throwable e) {
                outcome.set(e);
            }
        });
        verifier.start();
        begun.await();
        store.close();
        verifier.join();
        assertEquals(ClosedException.class, outcome.get().getClass());
        assertThrows(ClosedException.class, store::verify);
        assertEquals(List.of(), Specimen.problems(machine));
    }
}
