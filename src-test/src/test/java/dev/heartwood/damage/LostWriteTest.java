package dev.heartwood.damage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The device acknowledges a write and keeps what was there, or puts it elsewhere: the reader that expects it says so. */
class LostWriteTest {
    /** Every write of a life, one after the other, until a life passes in which none is lost. */
    @Test
    void aLostWriteIsNoticed() {
        int refused = 0;
        int cases = 0;
        for (long nth = 1; ; nth++) {
            Specimen written = Specimen.of(2);
            SimulatedMachine copy = written.copy();
            copy.faults().dropWrite(nth);
            boolean complained = false;
            try (KeyValueStore store = SimulatedStoreHost.open(copy, Specimen.options())) {
                written.write(store, new SplittableRandom(nth), 1500);
                store.checkpoint();
                complained = !written.read(store).isWhole() || store.stats().damagedPages() > 0;
            } catch (CorruptionException noticed) {
                complained = true;
            }
            if (copy.faults().injected() == 0) {
                break;
            }
            cases++;
            try (KeyValueStore store = SimulatedStoreHost.open(copy, Specimen.options())) {
                complained |= !written.read(store).isWhole() || store.stats().damagedPages() > 0;
            } catch (CorruptionException noticed) {
                complained = true;
            }
            refused += complained ? 1 : 0;
        }
        assertTrue(cases > 10, "only " + cases + " lives with a lost write");
        assertTrue(refused > 0, "no lost write was ever noticed");
    }

    /** Swaps a page in use with others of the same type, so that only address and generation tell them apart. */
    @Test
    void swappedPagesOfOneTypeAreNoticed() {
        Specimen specimen = Specimen.of(3);
        SplittableRandom random = new SplittableRandom(3);
        for (PageType type : new PageType[] {
            PageType.BRANCH_LEAF, PageType.BRANCH_INDEX, PageType.OVERFLOW, PageType.FILTER, PageType.TRUNK
        }) {
            long first = specimen.pageInUse(type);
            List<Long> others = new ArrayList<>(specimen.pages(type));
            others.remove(first);
            int noticed = 0;
            for (int i = 0; i < 12; i++) {
                SimulatedMachine machine = specimen.copy();
                long second = others.get(random.nextInt(others.size()));
                machine.swapPages(Specimen.DIRECTORY, Specimen.DATA, first, second);
                boolean complained;
                try (KeyValueStore store = SimulatedStoreHost.open(machine, Specimen.options())) {
                    // A filter in the wrong place costs no key, but is counted.
                    if (type == PageType.FILTER) {
                        specimen.readAbsent(store);
                    }
                    complained = !specimen.read(store).isWhole() || store.stats().damagedPages() > 0;
                } catch (CorruptionException refusal) {
                    assertEquals(PageType.TRUNK.name(), refusal.pageType());
                    complained = true;
                }
                noticed += complained ? 1 : 0;
            }
            assertTrue(noticed > 0, "no swap of pages of type " + type + " was noticed");
        }
    }
}
