package dev.heartwood.engine.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class MemoryRegionsTest {
    /* Addresses that no mapping of a process has. */
    private static final long BASE = 1L << 60;

    private static void assertUnknown(long address, long length) {
        assertThrows(AssertionError.class, () -> MemoryRegions.contains(address, length));
    }

    @Test
    void knowsWholeRangesOnly() {
        MemoryRegions.add(BASE + 8192, 4096);
        MemoryRegions.add(BASE, 4096);
        MemoryRegions.add(BASE + 4096, 1);
        try {
            assertTrue(MemoryRegions.contains(BASE, 4096));
            assertTrue(MemoryRegions.contains(BASE + 4095, 1));
            assertTrue(MemoryRegions.contains(BASE + 4096, 1));
            assertTrue(MemoryRegions.contains(BASE + 8200, 8));
            assertUnknown(BASE - 1, 1);
            assertUnknown(BASE + 4095, 2);
            assertUnknown(BASE + 4097, 1);
            assertUnknown(BASE + 8192, 4097);
            assertUnknown(BASE, -1);
            MemoryRegions.add(BASE, 2048);
            assertUnknown(BASE, 4096);
            MemoryRegions.remove(BASE + 4096);
            assertUnknown(BASE + 4096, 1);
            assertTrue(MemoryRegions.contains(BASE, 1));
        } finally {
            MemoryRegions.remove(BASE);
            MemoryRegions.remove(BASE + 4096);
            MemoryRegions.remove(BASE + 8192);
        }
        assertUnknown(BASE, 1);
    }

    /** A pool seemed to end within itself: as if a region that was unmapped and never withdrawn lay there. Which it was is not known. */
    @Test
    void forgetsWhatANewRegionLiesOver() {
        int before = MemoryRegions.count();
        MemoryRegions.add(BASE + 4096, 4096);
        MemoryRegions.add(BASE + 16384, 4096);
        MemoryRegions.add(BASE + 32768, 4096);
        try {
            MemoryRegions.add(BASE, 20480);
            assertTrue(MemoryRegions.contains(BASE, 20480));
            assertTrue(MemoryRegions.contains(BASE + 8192, 4096));
            assertTrue(MemoryRegions.contains(BASE + 32768, 4096), "beyond it");
        } finally {
            MemoryRegions.remove(BASE);
            MemoryRegions.remove(BASE + 32768);
        }
        assertEquals(before, MemoryRegions.count());
    }
}
