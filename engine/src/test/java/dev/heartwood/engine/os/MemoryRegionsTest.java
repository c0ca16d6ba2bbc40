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
            MemoryRegions.remove(BASE + 4096);
            assertUnknown(BASE + 4096, 1);
            assertTrue(MemoryRegions.contains(BASE, 1));
        } finally {
            MemoryRegions.remove(BASE);
            MemoryRegions.remove(BASE + 8192);
        }
        assertUnknown(BASE, 1);
    }

    /** Of two mappings in the same place one was unmapped without being withdrawn. */
    @Test
    void refusesWhatLiesOverAnother() {
        int before = MemoryRegions.count();
        MemoryRegions.add(BASE + 4096, 4096);
        try {
            assertThrows(AssertionError.class, () -> MemoryRegions.add(BASE, 4097));
            assertThrows(AssertionError.class, () -> MemoryRegions.add(BASE + 4096, 1));
            assertThrows(AssertionError.class, () -> MemoryRegions.add(BASE + 8191, 1));
            assertEquals(before + 1, MemoryRegions.count());
            MemoryRegions.add(BASE, 4096);
            MemoryRegions.remove(BASE);
        } finally {
            MemoryRegions.remove(BASE + 4096);
        }
        assertThrows(AssertionError.class, () -> MemoryRegions.remove(BASE + 4096));
        assertEquals(before, MemoryRegions.count());
    }

    @Test
    void unmappingAsksForWithdrawingFirst() {
        try (MemoryPool pool = MemoryPool.open(1 << 16)) {
            long address = pool.allocate(4096);
            assertThrows(AssertionError.class, () -> NativeMemory.unmap(address, 4096));
            Memory.putByte(address, (byte) 1);
        }
    }
}
