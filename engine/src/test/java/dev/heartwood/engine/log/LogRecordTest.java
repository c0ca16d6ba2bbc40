package dev.heartwood.engine.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A record has the low halves of its LSN and sequence; the header of its segment says of which numbers. */
class LogRecordTest {
    private static final int SEED = 3;
    private static final int KEY_BYTES = 8;
    private static final int LENGTH = LogLayout.RECORD_PAYLOAD + KEY_BYTES;

    private final MemoryPool pool = MemoryPool.open(1 << 20);
    private final long address = pool.allocate(4096);

    @AfterEach
    void close() {
        pool.close();
    }

    private void put(long lsn, long sequence, int kind) {
        LogRecord.writeHeader(address, LENGTH, lsn, sequence, kind | KEY_BYTES << 8, 1);
        Memory.fill(address + LogLayout.RECORD_PAYLOAD, KEY_BYTES, 7);
        Memory.putInt(address + LogLayout.RECORD_CHECKSUM, LogRecord.checksum(address, LENGTH, SEED));
    }

    private static LogRecord from(long firstLsn, long firstSequence) {
        return new LogRecord(RecordFormat.NARROW, firstLsn, firstSequence, SEED);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 0x7fff_fff0L, 0x8000_0000L, 0xffff_fff0L, 0x1_0000_0000L, 0x12_ffff_ffffL, 1L << 62})
    void numbersAreWhole(long first) {
        for (long more : new long[] {0, 1, 15, 16, 1000, LogLayout.DRAWN_MAX - 1}) {
            put(first + more, first + more / 2, Entries.PUT);
            LogRecord record = from(first, first);
            assertTrue(record.isPlausible(address, LENGTH) && record.isIntact(address), "from " + first + " by " + more);
            assertEquals(first + more, record.lsn(address));
            assertEquals(first + more / 2, record.sequence(address));
            assertEquals(first + more - 1, record.durableLsn(address));
            assertFalse(record.isPlausible(address, LENGTH - 1));
        }
    }

    /** What a file held before it was used again has lower numbers, and is not gone over by its checksum. */
    @ParameterizedTest
    @ValueSource(longs = {2000, 0x8000_0010L, 0x1_0000_0010L, 0x1_8000_0010L})
    void recordsOfAnEarlierUseAreNone(long first) {
        for (long less : new long[] {1, 17, 1000}) {
            put(first - less, first, Entries.PUT);
            assertFalse(from(first, first).isPlausible(address, LENGTH), "an LSN below " + first + " by " + less);
            put(first, first - less, Entries.PUT);
            assertFalse(from(first, first).isPlausible(address, LENGTH), "a sequence below " + first + " by " + less);
        }
    }

    @Test
    void marksHaveNoSequence() {
        LogRecord.writeHeader(address, LogLayout.RECORD_PAYLOAD, 7, 0, LogLayout.KIND_MARK, 0);
        assertTrue(from(5, 1000).isPlausible(address, LENGTH));
    }

    /** Format 1 has both numbers in full. */
    @Test
    void wideRecordsAreRead() {
        LogRecord record = new LogRecord(RecordFormat.WIDE, 5, 0, SEED);
        int length = 32 + KEY_BYTES + 3;
        Memory.putInt(address + 4, length);
        Memory.putLong(address + 8, 1L << 40);
        Memory.putLong(address + 16, (1L << 41) + 1);
        Memory.putInt(address + 24, Entries.PUT | KEY_BYTES << 8);
        Memory.putInt(address + 28, 4);
        Memory.putInt(address, LogRecord.checksum(address, length, SEED));
        assertTrue(record.isPlausible(address, length) && record.isIntact(address));
        assertEquals(1L << 40, record.lsn(address));
        assertEquals((1L << 41) + 1, record.sequence(address));
        assertEquals((1L << 40) - 4, record.durableLsn(address));
        assertEquals(address + 32, record.key(address));
        assertEquals(KEY_BYTES, record.keyLength(address));
        assertEquals(3, record.valueLength(address));
        assertEquals(48, record.step(address));
    }
}
