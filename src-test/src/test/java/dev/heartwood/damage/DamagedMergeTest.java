package dev.heartwood.damage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreStats;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import dev.heartwood.testkit.SteppedEnvironment;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Merges whose input is damaged are set aside and counted; everything else goes on, and damage does not spread. */
class DamagedMergeTest {
    @ParameterizedTest
    @EnumSource(
            value = PageType.class,
            names = {"BRANCH_LEAF", "FILTER"})
    void aMergeThatMeetsDamageIsSetAside(PageType type) {
        Specimen specimen = Specimen.of(31);
        SimulatedMachine machine = specimen.copy();
        // One leaf is enough; of filters it is not known which a merge reads, and which it makes anew.
        List<Long> damaged = type == PageType.FILTER ? specimen.pages(type) : List.of(specimen.pageInUse(type));
        for (long page : damaged) {
            machine.flip(Specimen.DIRECTORY, Specimen.DATA, page * Specimen.PAGE_BYTES + 700, 1);
        }
        int refused;
        try (SteppedEnvironment environment =
                        new SteppedEnvironment(31, OptionMatrix.environment(Specimen.options()), machine);
                KeyValueStore store = environment.open(Specimen.DIRECTORY, Specimen.options())) {
            assertEquals(0, store.stats().mergesSetAside());
            refused = specimen.read(store).refused();
            SplittableRandom random = new SplittableRandom(31);
            // Nodes are merged as they need to be, and not settled, which makes filters anew and reads none.
            for (int round = 0; round < 400 && store.stats().mergesSetAside() == 0; round++) {
                specimen.write(store, random, 200);
                environment.finish();
            }
            assertTrue(store.stats().mergesSetAside() > 0);
            assertTrue(store.stats().damagedPages() > 0);
            // What is written later is merged as ever, beside what is damaged.
            specimen.write(store, random, 6000);
            store.settle();
            StoreStats stats = store.stats();
            // Nobody waits for what no merge will deal with.
            assertEquals(0, stats.debtBytes(), stats.toString());
            assertTrue(stats.compactions() > 0, stats.toString());
            assertTrue(specimen.read(store).refused() <= refused);
        }
        // Another open tries again, and meets the same damage.
        try (KeyValueStore store = SimulatedStoreHost.open(machine, Specimen.options())) {
            assertTrue(specimen.read(store).refused() <= refused);
            store.settle();
            assertTrue(specimen.read(store).refused() <= refused);
        }
    }
}
