package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.TooLargeException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.call.KeyForm;
import dev.heartwood.engine.extent.Promised;
import dev.heartwood.engine.log.BatchPayload;
import dev.heartwood.engine.memtable.Memtable;
import dev.heartwood.engine.memtable.SortArrays;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.write.BatchEntries;
import dev.heartwood.engine.write.DeadRanges;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ConcurrentModificationException;
import org.junit.jupiter.api.Test;

/**
 * A batch belongs to one thread at a time, but where a program does not keep to that it must not write over what is not its own: what another
 * thread added between the measuring of a batch and its copying went beyond the memory that was measured.
 */
class EngineBatchTest {
    private static final byte UNTOUCHED = 77;
    private static final long ROOM = MemoryPool.BLOCK_BYTES_MIN;

    private final EngineBatch batch = new EngineBatch(false);

    private void put(int number) {
        batch.put(new byte[] {(byte) number}, new byte[100]);
    }

    @Test
    void whatIsAddedMeanwhileIsNotWrittenBeyondTheRoom() {
        put(1);
        put(2);
        long measured = batch.payloadBytes();
        put(3);
        try (MemoryPool pool = MemoryPool.open(ROOM)) {
            long address = pool.allocate(ROOM);
            Memory.fill(address, ROOM, UNTOUCHED);
            assertThrows(ConcurrentModificationException.class, () -> batch.encode(address, measured, KeyForm.PLAIN, false));
            for (long i = measured; i < ROOM; i++) {
                assertEquals(UNTOUCHED, Memory.getByte(address + i));
            }
        }
    }

    @Test
    void aBatchThatIsEmptiedMeanwhileIsNotWritten() {
        put(1);
        long measured = batch.payloadBytes();
        batch.clear();
        try (MemoryPool pool = MemoryPool.open(ROOM)) {
            long address = pool.allocate(ROOM);
            assertThrows(ConcurrentModificationException.class, () -> batch.encode(address, measured, KeyForm.PLAIN, false));
        }
    }

    @Test
    void whatIsWrittenIsWhatIsTold() {
        put(1);
        put(2);
        try (MemoryPool pool = MemoryPool.open(ROOM)) {
            long address = pool.allocate(ROOM);
            BatchEntries entries = batch.encode(address, batch.payloadBytes(), KeyForm.PLAIN, false);
            assertEquals(new BatchEntries(2, batch.bytes(), address, batch.payloadBytes(), Promised.GROWTH), entries);
        }
    }

    /** A batch that only deletes is taken where a store is full; one that puts a single value is not. */
    @Test
    void oneThatOnlyDeletesIsKnown() {
        batch.delete(new byte[8]);
        batch.delete(new byte[9]);
        try (MemoryPool pool = MemoryPool.open(ROOM)) {
            long address = pool.allocate(ROOM);
            assertEquals(Promised.DELETES, batch.encode(address, batch.payloadBytes(), KeyForm.PLAIN, false).space());
            put(1);
            assertEquals(Promised.GROWTH, batch.encode(address, batch.payloadBytes(), KeyForm.PLAIN, false).space());
        }
    }

    /** The bytes of the batch, for what another thread may leave there. */
    private ByteBuffer data() throws ReflectiveOperationException {
        VarHandle data = MethodHandles.privateLookupIn(EngineBatch.class, MethodHandles.lookup())
                .findVarHandle(EngineBatch.class, "data", byte[].class);
        return ByteBuffer.wrap((byte[]) data.get(batch)).order(ByteOrder.nativeOrder());
    }

    private void assertTorn(long room) {
        try (MemoryPool pool = MemoryPool.open(room)) {
            long address = pool.allocate(room);
            assertThrows(ConcurrentModificationException.class, () -> batch.encode(address, room, KeyForm.PLAIN, false));
        }
    }

    /** What the log does not take for an entry was written to it all the same, under a checksum: the store could not be opened again. */
    @Test
    void aDeleteThatHasAValueIsNotWritten() throws ReflectiveOperationException {
        put(1);
        put(2);
        data().put(0, Entries.DELETE);
        assertTorn(ROOM);
    }

    @Test
    void aKeyThatIsTooLongIsNotWritten() throws ReflectiveOperationException {
        batch.put(new byte[1], new byte[100_000]);
        data().putInt(1, 70_000).putInt(5, 30_001);
        assertTorn(1 << 20);
    }

    @Test
    void anOperandIsNotWrittenWhereThereIsNoOperator() throws ReflectiveOperationException {
        put(1);
        data().put(0, Entries.MERGE);
        assertTorn(ROOM);
        try (MemoryPool pool = MemoryPool.open(ROOM)) {
            assertEquals(1, batch.encode(pool.allocate(ROOM), ROOM, KeyForm.PLAIN, true).count());
        }
    }

    /** A part of a batch was inserted, and acknowledged, where its payload ended too early. */
    @Test
    void aBatchWithFewerEntriesThanItSaysIsNotInserted() {
        try (MemoryPool pool = MemoryPool.open(1 << 20)) {
            long payload = pool.allocate(ROOM);
            long end = BatchPayload.putHeader(payload, Entries.PUT, 1, 0) + 1;
            BatchEntries entries = new BatchEntries(2, 2, payload, end - payload, Promised.GROWTH);
            Memtable memtable = new Memtable(pool, new SortArrays(), 1, 1, 1 << 16);
            memtable.reserveBatch(0, 2, 2);
            assertThrows(IllegalStateException.class, () -> entries.insertInto(memtable, 0, 1, new DeadRanges(true, () -> 0)));
            try (EntryCursor visible = memtable.cursor(Entries.NEWEST)) {
                visible.seekFirst();
                assertFalse(visible.valid());
            }
            memtable.release();
        }
    }

    /** It said how many bytes of keys and values there were, and that these were over a limit that was larger. */
    @Test
    void manyShortWritesAreRefusedForWhatTheyTakeInAll() {
        EngineBatch small = new EngineBatch(false, 25);
        small.put(new byte[1], new byte[1]);
        small.delete(new byte[5]);
        TooLargeException refused = assertThrows(TooLargeException.class, () -> small.delete(new byte[0]));
        assertEquals(25 + 9, refused.size());
        assertEquals(25, refused.limit());
        assertEquals("batch, with the lengths of its writes, of 34 bytes is over the limit of 25", refused.getMessage());
        assertEquals(2, small.count());
    }
}
