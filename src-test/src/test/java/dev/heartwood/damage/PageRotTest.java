package dev.heartwood.damage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A bit flips in a page of each type: what is under it is refused by name, everything else is read, verification lists it. */
class PageRotTest {
    /** How many pages in use are damaged, one at a time, if there are as many. */
    private static final int PAGES_EACH = 16;

    private static Specimen specimen;

    @BeforeAll
    static void makeStore() {
        specimen = Specimen.of(6);
    }

    private static SimulatedMachine flipped(long page, SplittableRandom random) {
        SimulatedMachine machine = specimen.copy();
        long offset = page * Specimen.PAGE_BYTES + random.nextInt(Specimen.PAGE_BYTES);
        machine.flip(Specimen.DIRECTORY, Specimen.DATA, offset, 1 << random.nextInt(8));
        return machine;
    }

    @ParameterizedTest
    @EnumSource(
            value = PageType.class,
            names = {"BRANCH_LEAF", "BRANCH_INDEX", "OVERFLOW"})
    void theRestStaysReadable(PageType type) {
        SplittableRandom random = new SplittableRandom(type.code());
        int reached = 0;
        int refused = 0;
        for (long page : shuffled(specimen.pages(type), random)) {
            if (reached == PAGES_EACH) {
                break;
            }
            SimulatedMachine machine = flipped(page, random);
            List<String> problems = Specimen.problems(machine);
            Specimen.Reading reading;
            try (KeyValueStore store = SimulatedStoreHost.open(machine, Specimen.options())) {
                reading = specimen.read(store);
            }
            if (problems.isEmpty()) {
                assertTrue(reading.isWhole(), "page " + page + " is in nobody's use, but reads were refused");
                continue;
            }
            reached++;
            refused += reading.refused();
            assertTrue(problems.getFirst().contains("page " + page + " "), problems.getFirst());
            // An index page may be the root of all there is.
            assertTrue(
                    type == PageType.BRANCH_INDEX || reading.right() > specimen.contents().size() / 2,
                    "page " + page + ": only " + reading.right() + " keys can be read");
        }
        // All pages were tried, and of a settled store so small few are index pages.
        int least = type == PageType.BRANCH_INDEX ? 1 : PAGES_EACH;
        assertTrue(reached >= least, "of type " + type + " only " + reached + " pages are in use");
        assertTrue(refused > 0, "no read of a damaged " + type + " page was refused");
    }

    /** Where a filter cannot be read the branches are asked: every key is found, and the damage is counted. */
    @Test
    void aDamagedFilterCostsNoKey() {
        SplittableRandom random = new SplittableRandom(PageType.FILTER.code());
        long counted = 0;
        int reached = 0;
        for (long page : shuffled(specimen.pages(PageType.FILTER), random)) {
            if (reached == PAGES_EACH) {
                break;
            }
            SimulatedMachine machine = flipped(page, random);
            reached += Specimen.problems(machine).isEmpty() ? 0 : 1;
            try (KeyValueStore store = SimulatedStoreHost.open(machine, Specimen.options())) {
                specimen.readAbsent(store);
                assertTrue(specimen.read(store).isWhole(), "page " + page);
                assertFalse(store.contains(new byte[] {0}));
                counted += store.stats().damagedPages();
            }
        }
        assertTrue(reached > 0, "no filter in use was damaged");
        assertTrue(counted > 0, "no damage was counted");
    }

    /** All of them: which are in use depends on when merges ran. */
    private static List<Long> shuffled(List<Long> pages, SplittableRandom random) {
        List<Long> shuffled = new ArrayList<>(pages);
        Collections.shuffle(shuffled, new Random(random.nextLong()));
        return shuffled;
    }

    /** The trunk is read as a whole at open, so its damage refuses the open; salvage reads what is left. */
    @Test
    void aDamagedTrunkNodeRefusesTheOpen() {
        SplittableRandom random = new SplittableRandom(2);
        int reached = 0;
        for (long page : specimen.pages(PageType.TRUNK)) {
            SimulatedMachine machine = flipped(page, random);
            if (Specimen.problems(machine).isEmpty()) {
                continue;
            }
            reached++;
            CorruptionException refusal = assertThrows(
                    CorruptionException.class, () -> SimulatedStoreHost.open(machine, Specimen.options()));
            assertEquals(PageType.TRUNK.name(), refusal.pageType());
            assertEquals(page, refusal.page());
        }
        assertFalse(reached == 0, "no trunk page in use was damaged");
    }
}
