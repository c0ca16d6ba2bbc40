package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.engine.extent.Promised;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
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
            assertThrows(ConcurrentModificationException.class, () -> batch.encode(address, measured, KeyForm.PLAIN));
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
            assertThrows(ConcurrentModificationException.class, () -> batch.encode(address, measured, KeyForm.PLAIN));
        }
    }

    @Test
    void whatIsWrittenIsWhatIsTold() {
        put(1);
        put(2);
        try (MemoryPool pool = MemoryPool.open(ROOM)) {
            long address = pool.allocate(ROOM);
            BatchEntries entries = batch.encode(address, batch.payloadBytes(), KeyForm.PLAIN);
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
            assertEquals(Promised.DELETES, batch.encode(address, batch.payloadBytes(), KeyForm.PLAIN).space());
            put(1);
            assertEquals(Promised.GROWTH, batch.encode(address, batch.payloadBytes(), KeyForm.PLAIN).space());
        }
    }
}
