package dev.heartwood.engine.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.util.SplittableRandom;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What lies behind the end of a lane in a file that was used before is mostly values. */
class TailSearchTest {
    private static final int BYTES = 1 << 20;
    private static final int SEED = 7;
    private static final long LSN = 1000;

    private static final LogRecord RECORD = new LogRecord(RecordFormat.SHORT, LSN - 10, 1, SEED);

    private final MemoryPool pool = MemoryPool.open(2 * BYTES);
    private final long address = pool.allocate(BYTES);
    private final TailSearch search = new TailSearch(LSN);

    private final MappedFile file = new MappedFile() {
        @Override
        public String name() {
            return "file";
        }

        @Override
        public long address() {
            return address;
        }

        @Override
        public long length() {
            return BYTES;
        }

        @Override
        public long windowEnd() {
            return BYTES;
        }

        @Override
        public void slide(long begin, long end) {}

        @Override
        public void rest() {}

        @Override
        public void sync(long offset, long length) {}

        @Override
        public void close() {}
    };

    @AfterEach
    void close() {
        pool.close();
    }

    private void fill(IntUnaryOperator valueAt) {
        for (int i = 0; i < BYTES; i += Integer.BYTES) {
            Memory.putInt(address + i, valueAt.applyAsInt(i));
        }
    }

    private void putRecord(long at, long lsn) {
        int length = 8 + LogRecord.writeHeader(address + at, lsn, 5, Entries.PUT, 8, 8, 1);
        Memory.putInt(address + at + LogLayout.RECORD_CHECKSUM, LogRecord.checksum(address + at, length, SEED));
    }

    /** Ids, coordinates, samples of so many bits. */
    @ParameterizedTest
    @ValueSource(ints = {10, 14, 17, 18, 20, 22, 24, 28})
    void smallIntegersAreNoRecords(int bits) {
        SplittableRandom random = new SplittableRandom(bits);
        fill(i -> random.nextInt(1 << bits));
        search.search("file", file, RECORD, 0);
        assertFalse(search.isFound());
    }

    @ParameterizedTest
    @ValueSource(ints = {0x0001_0001, 0x0003_0003, 1, 3, 0, 33})
    void oneNumberAgainAndAgainIsNone(int number) {
        fill(i -> number);
        search.search("file", file, RECORD, 0);
        assertFalse(search.isFound());
    }

    @Test
    void aRecordAmongThemIsFound() {
        SplittableRandom random = new SplittableRandom(1);
        fill(i -> random.nextInt(1 << 20));
        putRecord(BYTES / 2, LSN + 1_000_000);
        search.search("file", file, RECORD, 0);
        assertEquals("offset " + BYTES / 2 + " of file", search.place());
        assertEquals(LSN + 1_000_000 - 1, search.durableLsn());
    }

    @Test
    void aRecordOfAnEarlierUseIsNotFound() {
        fill(i -> 0);
        putRecord(4096, LSN);
        putRecord(8192, LSN - 500);
        search.search("file", file, RECORD, 0);
        assertFalse(search.isFound());
    }

    /** Rows of a type, an amount, a time and an amount: each may be a record, as far as its header says, that reaches over half the file. */
    @Test
    void aRecordAmongBeginningsIsFound() {
        fill(i -> 0);
        for (long at = 0; at < BYTES / 2; at += LogLayout.RECORD_HEADER_MIN + 4) {
            LogRecord.writeHeader(address + at, LSN + 1, 5, Entries.PUT, 8, BYTES / 2, LogLayout.UNSYNCED_UNKNOWN);
        }
        search.search("file", file, RECORD, 0);
        assertFalse(search.isFound());
        putRecord(BYTES - 4096, LSN + 9);
        search.search("file", file, RECORD, 0);
        assertEquals("offset " + (BYTES - 4096) + " of file", search.place());
    }

    /** Whose checksum is taken in parts. */
    @Test
    void aLongRecordIsFound() {
        SplittableRandom random = new SplittableRandom(2);
        for (int payload = 1; payload < BYTES - 8192; payload = 1 + payload * 5 / 4) {
            fill(i -> random.nextInt());
            long at = (long) random.nextInt(8192 / LogLayout.RECORD_ALIGNMENT) * LogLayout.RECORD_ALIGNMENT;
            int length = payload + LogRecord.writeHeader(address + at, LSN + 1, 5, Entries.PUT, 1, payload, 1);
            Memory.putInt(address + at + LogLayout.RECORD_CHECKSUM, LogRecord.checksum(address + at, length, SEED));
            TailSearch found = new TailSearch(LSN);
            found.search("file", file, RECORD, 0);
            assertEquals("offset " + at + " of file", found.isFound() ? found.place() : "none");
            Memory.putByte(address + at + length - 1, (byte) ~Memory.getByte(address + at + length - 1));
            TailSearch changed = new TailSearch(LSN);
            changed.search("file", file, RECORD, 0);
            assertFalse(changed.isFound(), "of " + length + " bytes");
        }
    }
}
