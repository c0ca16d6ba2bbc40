package dev.heartwood.engine.memtable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SlotTableTest {
    private static final long TAG_MAX = (1L << SlotTable.TAG_BITS) - 1;

    /** Where 64-bit ARM has user programs: kernels there begin at the end of 48 bits. */
    @ParameterizedTest
    @ValueSource(longs = {8, 0x7fff_ffff_fff8L, 0x8000_0000_0000L, 0xffff_ffff_fff8L})
    void aSlotKeepsTagAndAddress(long record) {
        for (long tag : new long[] {0, 1, 2, TAG_MAX - 1, TAG_MAX}) {
            long content = SlotTable.content(tag, record);
            assertEquals(record, SlotTable.record(content));
            assertEquals(tag, content >>> Long.SIZE - SlotTable.TAG_BITS);
        }
    }
}
