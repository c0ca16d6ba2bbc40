package dev.heartwood.engine.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.background.QueuedWorkers;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.cache.PageCache;
import dev.heartwood.engine.os.KeyHasher;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.record.RecordCache;
import dev.heartwood.engine.record.StoreRecords;
import java.util.ArrayDeque;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What of the memory for memtables goes to records, and what to pages, look by look. */
class MemtableLoanTest {
    private static final int MEMTABLE_BYTES = 1 << 20;
    private static final int LENDER_BYTES = 8 << 20;
    private static final int RECORDS_MAX = 2 << 20;
    private static final int LOOKS = 20;
    private static final int VALUE_BYTES = 1000;
    private static final int RECORDS_FILLING = 2 * (RECORDS_MAX + LENDER_BYTES) / VALUE_BYTES;

    private final Epochs epochs = new Epochs();
    private final MemoryPool recordPool = MemoryPool.open(2 << 20);
    private final MemoryPool memtables = MemoryPool.open(LENDER_BYTES);
    private final MemoryPool frames = MemoryPool.open(4 << 20);
    /** So small that it is always full. */
    private final PageCache cache = new PageCache(frames, 256 << 10, LENDER_BYTES, epochs);

    private final RecordCache records = new RecordCache(recordPool, memtables, RECORDS_MAX, epochs);
    private final MemtableLoan loan = new MemtableLoan(
            memtables, records, cache, epochs, new QueuedWorkers(new ArrayDeque<>()), MEMTABLE_BYTES);

    MemtableLoanTest() {
        loan.begin();
    }

    @AfterEach
    void close() {
        cache.close();
        memtables.close();
        recordPool.close();
        frames.close();
    }

    private void fillRecords() {
        StoreRecords store = records.store(true);
        long value = frames.allocate(VALUE_BYTES);
        for (long key = 0; key < RECORDS_FILLING && !records.isFull(); key++) {
            Memory.putLong(value, key);
            FoundEntry found = new FoundEntry();
            found.set(Entries.PUT, 1, value, VALUE_BYTES);
            for (int i = 0; i < 2; i++) {
                store.offer(store.ticket(), KeyHasher.hash(value, Long.BYTES), value, Long.BYTES, found);
            }
        }
        frames.free(value, VALUE_BYTES);
        assertTrue(records.isFull());
    }

    private void look() {
        for (int i = 0; i < LOOKS; i++) {
            loan.look(0, false);
        }
    }

    private long free() {
        return memtables.capacity() - memtables.allocated();
    }

    @Test
    void pagesHaveAllWhileRecordsHaveRoom() {
        look();
        assertEquals(0, loan.bytesForRecords());
        assertEquals(LENDER_BYTES - MEMTABLE_BYTES / 2, loan.bytesForPages());
    }

    @Test
    void pagesHaveWhatIsMoreThanRecordsMayHave() {
        look();
        fillRecords();
        look();
        fillRecords();
        look();
        assertEquals(RECORDS_MAX, loan.bytesForRecords());
        assertEquals(LENDER_BYTES - MEMTABLE_BYTES / 2 - RECORDS_MAX, loan.bytesForPages());
    }

    @Test
    void lessThanIsLentAtOnceIsLeft() {
        long block = memtables.allocate(MemoryPool.BLOCK_BYTES_MIN);
        look();
        assertTrue(free() >= MEMTABLE_BYTES / 2, free() + " bytes are left");
        memtables.free(block, MemoryPool.BLOCK_BYTES_MIN);
    }

    @Test
    void whoWantsMemoryHasWhatPagesHaveAndNothingIsLentForAWhile() {
        look();
        long block = memtables.allocate(LENDER_BYTES);
        assertNotEquals(0, block);
        memtables.free(block, LENDER_BYTES);
        loan.look(0, false);
        assertEquals(LENDER_BYTES, free());
        look();
        assertTrue(loan.bytesForPages() > 0);
    }

    /** Also when nothing was lent then: it will be wanted again. */
    @Test
    void whereMemoryWasWantedThatNobodyHadNothingIsLentForAWhile() {
        long block = memtables.allocate(LENDER_BYTES);
        assertEquals(0, memtables.allocate(MEMTABLE_BYTES));
        memtables.free(block, LENDER_BYTES);
        loan.look(0, false);
        loan.look(0, false);
        assertEquals(LENDER_BYTES, free());
        look();
        assertTrue(loan.bytesForPages() > 0);
    }
}
