package dev.heartwood.engine.node;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.os.MemoryPool;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MergeAdmissionTest {
    private static final long MIB = 1 << 20;
    private static final MergeMemory LARGE = new MergeMemory(1, 4 * MIB, 0, false, null);
    private static final MergeMemory SMALL = new MergeMemory(1, MIB / 4, 0, false, null);
    private static final MergeMemory HUGE = new MergeMemory(1, 5 * MIB, 0, false, null);

    private final MemoryPool pool = MemoryPool.open(8 * MIB);
    private final MergeAdmission admission = new MergeAdmission(pool);
    private final List<String> told = new ArrayList<>();
    /** Two trees, each of which is told of its merges in the same way. */
    private final Runnable small = tell("small");

    private final Runnable large = tell("large");

    @AfterEach
    void close() {
        pool.close();
    }

    private Runnable tell(String name) {
        return () -> told.add(name);
    }

    @Test
    void mergesShareAPartOfThePool() {
        int large = admission.admitMerge(LARGE, tell("never"));
        int small = admission.admitMerge(SMALL, tell("never"));
        assertTrue(large > 0 && small > 0);
        assertEquals(0, admission.admitMerge(LARGE, tell("merge")));
        admission.releaseMerge(SMALL.bytes(small));
        assertEquals(List.of("merge"), told);
        assertEquals(0, admission.admitMerge(LARGE, tell("again")));
        admission.releaseMerge(LARGE.bytes(large));
        assertEquals(List.of("merge", "again"), told);
        assertTrue(admission.admitMerge(LARGE, tell("never")) > 0);
    }

    @Test
    void withLittleMemoryMergesAreDoneOneAfterTheOther() {
        try (MemoryPool little = MemoryPool.open(3 * MIB)) {
            MergeAdmission one = new MergeAdmission(little);
            int pages = one.admitMerge(SMALL, tell("never"));
            assertTrue(pages > 0);
            assertEquals(0, one.admitMerge(SMALL, tell("second")));
            one.releaseMerge(SMALL.bytes(pages));
            assertEquals(List.of("second"), told);
            assertTrue(one.admitMerge(SMALL, tell("never")) > 0);
        }
    }

    @Test
    void oneMergeIsAlwaysAdmitted() {
        MergeMemory huge = new MergeMemory(40, 9 * MIB, 0, false, null);
        assertTrue(admission.admitPacking(false, tell("never")));
        assertEquals(MergeMemory.CHUNK_PAGES_MIN, admission.admitMerge(huge, tell("never")));
    }

    @Test
    void packingWaitsForNothingButWhoWantsToBeAlone() {
        int pages = admission.admitMerge(LARGE, tell("never"));
        assertTrue(admission.admitPacking(false, tell("never")));
        assertTrue(admission.admitPacking(false, tell("never")));
        assertFalse(admission.admitPacking(true, tell("alone")));
        assertFalse(admission.admitPacking(false, tell("second")));
        assertEquals(0, admission.admitMerge(SMALL, tell("merge")));
        assertEquals(2, admission.packingsWaiting());
        admission.releasePacking();
        admission.releaseMerge(LARGE.bytes(pages));
        assertEquals(List.of(), told);
        admission.releasePacking();
        assertEquals(List.of("alone"), told);
        assertEquals(0, admission.admitMerge(SMALL, tell("merge 2")));
        admission.releasePacking();
        assertEquals(List.of("alone", "second", "merge", "merge 2"), told);
    }

    /** It came while the packings that had waited were admitted one after the other, and nobody told it any more. */
    @Test
    void aMergeThatIsRefusedWhilePackingsAreAdmittedIsTold() {
        assertTrue(admission.admitPacking(true, tell("never")));
        assertFalse(admission.admitPacking(false, () -> assertEquals(0, admission.admitMerge(SMALL, small))));
        assertFalse(admission.admitPacking(false, tell("second")));
        admission.releasePacking();
        assertEquals(List.of("second", "small"), told);
    }

    @Test
    void mergesAreNotToldOfPackingThatGaveThemNothing() {
        assertTrue(admission.admitMerge(LARGE, tell("never")) > 0);
        assertTrue(admission.admitPacking(false, tell("never")));
        assertEquals(0, admission.admitMerge(LARGE, tell("merge")));
        admission.releasePacking();
        assertEquals(List.of(), told);
    }

    /** Who is refused again while the others are told is not told twice. */
    @Test
    void aMergeThatIsRefusedAgainWaitsForTheNextToEnd() {
        int pages = admission.admitMerge(SMALL, tell("never"));
        assertTrue(admission.admitMerge(LARGE, tell("never")) > 0);
        Runnable again = () -> assertEquals(0, admission.admitMerge(LARGE, tell("again")));
        assertEquals(0, admission.admitMerge(LARGE, again));
        admission.releaseMerge(SMALL.bytes(pages));
        assertEquals(List.of(), told);
    }

    /** Small merges of one tree were always under way, each begun before the other had ended, and a large one of another tree never had its turn. */
    @Test
    void aLargeMergeHasItsTurnBesideSmallOnesThatNeverPause() {
        int pages = admission.admitMerge(SMALL, small);
        assertTrue(admission.admitMerge(SMALL, small) > 0);
        assertEquals(0, admission.admitMerge(HUGE, large));
        int ended = 0;
        boolean isAdmitted = false;
        while (!isAdmitted) {
            assertTrue(++ended < 100, ended + " merges of the other tree");
            told.clear();
            admission.releaseMerge(SMALL.bytes(pages));
            isAdmitted = told.contains("large") && admission.admitMerge(HUGE, large) > 0;
            admission.admitMerge(SMALL, small);
        }
    }

    /** As when its tree is closed, or has changed. */
    @Test
    void aMergeThatNeverComesAgainHoldsNoOthersBack() {
        int pages = admission.admitMerge(SMALL, small);
        assertEquals(0, admission.admitMerge(HUGE, large));
        for (int ended = 0; ended < 100; ended++) {
            boolean isSecond = admission.admitMerge(SMALL, small) > 0;
            admission.releaseMerge(SMALL.bytes(pages));
            assertTrue(isSecond || admission.admitMerge(SMALL, small) > 0, "one alone, after " + ended);
        }
        assertTrue(admission.admitMerge(SMALL, small) > 0, "beside another");
    }

    @Test
    void whoeverIsRefusedIsToldOnceInTheEnd() {
        for (int seed = 0; seed < 200; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            int[] refused = new int[5];
            int[] packings = new int[1];
            List<Runnable> trees = new ArrayList<>();
            for (int i = 0; i < refused.length; i++) {
                int tree = i;
                trees.add(() -> refused[tree]--);
            }
            List<Long> merges = new ArrayList<>();
            for (int step = 0; step < 300; step++) {
                int action = random.nextInt(10);
                if (action < 6) {
                    int tree = random.nextInt(trees.size());
                    MergeMemory memory = List.of(SMALL, LARGE, HUGE).get(random.nextInt(3));
                    int pages = admission.admitMerge(memory, trees.get(tree));
                    if (pages == 0) {
                        refused[tree]++;
                    } else {
                        merges.add(memory.bytes(pages));
                    }
                } else if (action < 8 && !merges.isEmpty()) {
                    admission.releaseMerge(merges.remove(random.nextInt(merges.size())));
                } else if (action == 8 && admission.admitPacking(random.nextInt(4) == 0, () -> packings[0]++)) {
                    packings[0]++;
                } else if (action == 9 && packings[0] > 0) {
                    packings[0]--;
                    admission.releasePacking();
                }
            }
            merges.forEach(admission::releaseMerge);
            while (packings[0] > 0) {
                packings[0]--;
                admission.releasePacking();
            }
            assertEquals(0, admission.packingsWaiting(), "seed " + seed);
            assertArrayEquals(new int[refused.length], refused, "refused and not told, with seed " + seed);
        }
    }

    @Test
    void mergesWaitForWhoIsAlone() {
        assertTrue(admission.admitPacking(true, tell("never")));
        assertEquals(0, admission.admitMerge(SMALL, tell("merge")));
        assertFalse(admission.admitPacking(false, tell("packing")));
        admission.releasePacking();
        assertEquals(List.of("packing", "merge"), told);
        assertTrue(admission.admitMerge(SMALL, tell("never")) > 0);
    }
}
