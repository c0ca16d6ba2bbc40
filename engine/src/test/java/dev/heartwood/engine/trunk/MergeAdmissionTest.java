package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.os.MemoryPool;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MergeAdmissionTest {
    private static final long MIB = 1 << 20;
    private static final MergeMemory LARGE = new MergeMemory(1, 4 * MIB);
    private static final MergeMemory SMALL = new MergeMemory(1, MIB / 4);

    private final MemoryPool pool = MemoryPool.open(8 * MIB);
    private final MergeAdmission admission = new MergeAdmission(pool);
    private final List<String> told = new ArrayList<>();

    @AfterEach
    void close() {
        pool.close();
    }

    private Runnable tell(String name) {
        return () -> told.add(name);
    }

    @Test
    void mergesLeaveMemoryForPacking() {
        int pages = admission.admitMerge(LARGE, tell("never"));
        assertTrue(pages > 0);
        assertEquals(0, admission.admitMerge(LARGE, tell("merge")));
        assertTrue(admission.admitPacking(2 * MIB, tell("never")));
        admission.releasePacking(2 * MIB);
        assertEquals(List.of("merge"), told);
        assertEquals(0, admission.admitMerge(LARGE, tell("again")));
        admission.releaseMerge(LARGE.bytes(pages));
        assertEquals(List.of("merge", "again"), told);
        assertTrue(admission.admitMerge(LARGE, tell("never")) > 0);
    }

    @Test
    void mergesRunBesidePackingWhileThereIsMemoryForBoth() {
        assertTrue(admission.admitPacking(7 * MIB / 2, tell("never")));
        int pages = admission.admitMerge(LARGE, tell("never"));
        assertTrue(pages > 0);
        // The merges' part is not used up, but the pool is.
        assertEquals(0, admission.admitMerge(new MergeMemory(1, MIB / 2), tell("merge")));
        admission.releasePacking(7 * MIB / 2);
        assertEquals(List.of("merge"), told);
    }

    @Test
    void oneAloneIsAlwaysAdmitted() {
        MergeMemory huge = new MergeMemory(40, 9 * MIB);
        int pages = admission.admitMerge(huge, tell("never"));
        assertEquals(MergeMemory.CHUNK_PAGES_MIN, pages);
        admission.releaseMerge(huge.bytes(pages));
        assertTrue(admission.admitPacking(20 * MIB, tell("never")));
        assertFalse(admission.admitPacking(1, tell("next")));
        admission.releasePacking(20 * MIB);
        assertEquals(List.of("next"), told);
    }

    @Test
    void whoWaitsToPackGoesBeforeNewMergesAndInOrder() {
        int pages = admission.admitMerge(SMALL, tell("never"));
        assertFalse(admission.admitPacking(admission.all(), tell("all")));
        // There would be memory for both, but then the first would wait for ever.
        assertFalse(admission.admitPacking(MIB, tell("second")));
        assertEquals(0, admission.admitMerge(SMALL, tell("merge")));
        admission.releaseMerge(SMALL.bytes(pages));
        assertEquals(List.of("all"), told);
        assertEquals(0, admission.admitMerge(SMALL, tell("merge 2")));
        admission.releasePacking(admission.all());
        assertEquals(List.of("all", "second", "merge", "merge 2"), told);
    }
}
