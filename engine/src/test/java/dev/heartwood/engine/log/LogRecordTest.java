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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A record has the low halves of its LSN and sequence; the header of its segment says of which numbers. */
class LogRecordTest {
    private static final int SEED = 3;
    private static final int KEY_BYTES = 8;
    private static final int LENGTH = LogLayout.RECORD_HEADER_MIN + 4 + KEY_BYTES;

    private final MemoryPool pool = MemoryPool.open(1 << 20);
    private final long address = pool.allocate(4096);

    @AfterEach
    void close() {
        pool.close();
    }

    private void put(long lsn, long sequence, int kind) {
        int header = LogRecord.writeHeader(address, lsn, sequence, kind, KEY_BYTES, KEY_BYTES, 1);
        Memory.fill(address + header, KEY_BYTES, 7);
        Memory.putInt(address + LogLayout.RECORD_CHECKSUM, LogRecord.checksum(address, LENGTH, SEED));
    }

    private static LogRecord from(long firstLsn, long firstSequence) {
        return new LogRecord(RecordFormat.SHORT, firstLsn, firstSequence, SEED);
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

    /** By which those of an earlier use of the file are told; in older formats they have any. */
    @Test
    void marksHaveTheFirstSequenceOfTheirGeneration() {
        LogRecord.writeHeader(address, 7, 1L << 32 | 1000, LogLayout.KIND_MARK, 0, 0, 0);
        assertTrue(from(5, 1L << 32 | 1000).isPlausible(address, LENGTH));
        assertFalse(from(5, 1L << 32 | 999).isPlausible(address, LENGTH));
        assertFalse(from(5, 1L << 32 | 1001).isPlausible(address, LENGTH));
    }

    /** Lengths at the limits of what the short header has room for, and beyond; with what is durable, and without. */
    @ParameterizedTest
    @CsvSource({"0, 0, 0", "1, 0, 0", "255, 0, 0", "255, 65535, 0", "256, 0, 4", "0, 65536, 4", "255, 65536, 4", "65536, 65536, 4"})
    void lengthsAreWhole(int key, int value, int more) {
        long at = pool.allocate(1 << 18);
        for (long unsynced : new long[] {LogLayout.UNSYNCED_UNKNOWN, 0, 1, LogLayout.UNSYNCED_MAX}) {
            long lsn = 1L << 40;
            int header = LogRecord.writeHeader(at, lsn, 9, Entries.PUT, key, key + value, unsynced);
            boolean says = unsynced != LogLayout.UNSYNCED_UNKNOWN;
            assertEquals(LogLayout.RECORD_HEADER_MIN + more + (says ? 4 : 0), header);
            LogRecord record = from(lsn - 5, 9);
            assertEquals(header + key + value, record.length(at));
            assertEquals(at + header, record.key(at));
            assertEquals(key, record.keyLength(at));
            assertEquals(value, record.valueLength(at));
            assertEquals(says ? lsn - unsynced : 0, record.durableLsn(at));
            assertTrue(record.isPlausible(at, header + key + value));
            assertFalse(record.isPlausible(at, header + key + value - 1));
        }
    }

    /** Of what lies behind the end of what can be read nothing is read. */
    @Test
    void aHeaderThatIsCutOffIsNone() {
        LogRecord.writeHeader(address, 7, 9, Entries.PUT, 300, 400, 1);
        LogRecord record = from(5, 9);
        assertTrue(record.isPlausible(address, 24 + 400));
        for (int available = 0; available < 24; available++) {
            assertFalse(record.isPlausible(address, available));
        }
    }

    /** A value of text behind the records of a file that was used before. */
    @Test
    void textIsNoRecord() {
        for (int kind = 0; kind < 0x80; kind++) {
            put(7, 9, Entries.PUT);
            Memory.putByte(address + LogLayout.RECORD_KIND, (byte) kind);
            assertFalse(from(5, 9).isPlausible(address, 4096), "kind " + kind);
        }
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
