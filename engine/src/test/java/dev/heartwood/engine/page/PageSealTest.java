package dev.heartwood.engine.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PageSealTest {
    private static final long STORE = 0x1122334455667788L;
    private static final long PAGE = 77;
    private static final long GENERATION = 5;

    private MemoryPool pool;
    private long page;

    @BeforeEach
    void seal() {
        pool = MemoryPool.open(1 << 16);
        page = pool.allocate(PageLayout.PAGE_BYTES);
        Memory.fill(page, PageLayout.PAGE_BYTES, 0x5A);
        PageSeal.seal(page, PageType.BRANCH_LEAF, STORE, PAGE, GENERATION);
    }

    @AfterEach
    void close() {
        pool.close();
    }

    @Test
    void theHeaderHasItsBytes() {
        String header = HexFormat.of().formatHex(Memory.bytes(page + 4, PageLayout.BODY - 4));
        assertEquals("03010000" + "8877665544332211" + "4d00000000000000" + "0500000000000000", header);
        java.util.zip.CRC32C crc = new java.util.zip.CRC32C();
        crc.update(Memory.bytes(page + 4, PageLayout.PAGE_BYTES - 4));
        assertEquals((int) crc.getValue(), Memory.getInt(page));
        assertEquals(0x5A, Memory.getByte(page + PageLayout.BODY));
    }

    @Test
    void aSealedPageIsAccepted() {
        verify(PageType.BRANCH_LEAF, STORE, PAGE, GENERATION);
        assertTrue(PageSeal.isSealedAs(page, PageType.BRANCH_LEAF, STORE, PAGE, GENERATION));
        assertFalse(PageSeal.isSealedAs(page, PageType.BRANCH_LEAF, STORE, PAGE, GENERATION + 1));
    }

    @Test
    void everyFlippedBitIsFound() {
        for (int bit = 0; bit < 8 * PageLayout.PAGE_BYTES; bit++) {
            long at = page + (bit >>> 3);
            int before = Memory.getByte(at);
            Memory.putByte(at, before ^ 1 << (bit & 7));
            assertThrows(CorruptionException.class, () -> verify(PageType.BRANCH_LEAF, STORE, PAGE, GENERATION));
            Memory.putByte(at, before);
        }
    }

    @Test
    void theErrorNamesWhatDiffers() {
        expect("type FILTER", "type BRANCH_LEAF", PageType.FILTER, STORE, PAGE, GENERATION);
        expect("store id 9", "store id " + STORE, PageType.BRANCH_LEAF, 9, PAGE, GENERATION);
        expect("address 78", "address 77", PageType.BRANCH_LEAF, STORE, 78, GENERATION);
        expect("generation 6", "generation 5", PageType.BRANCH_LEAF, STORE, PAGE, 6);
    }

    @Test
    void aZeroedPageIsNoPage() {
        Memory.fill(page, PageLayout.PAGE_BYTES, 0);
        for (PageType type : PageType.values()) {
            assertThrows(CorruptionException.class, () -> verify(type, 0, 0, 0));
        }
    }

    private void expect(String expected, String found, PageType type, long storeId, long pageNumber, long generation) {
        CorruptionException e =
                assertThrows(CorruptionException.class, () -> verify(type, storeId, pageNumber, generation));
        assertEquals(expected, e.expected());
        assertEquals(found, e.actual());
        assertEquals("data", e.file());
        assertEquals(pageNumber, e.page());
        assertEquals(type.name(), e.pageType());
    }

    private void verify(PageType type, long storeId, long pageNumber, long generation) {
        PageSeal.verify(page, type, storeId, pageNumber, generation, "data");
    }
}
