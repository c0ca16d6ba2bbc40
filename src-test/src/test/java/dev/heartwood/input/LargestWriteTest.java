package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Heartwood;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.WriteBatch;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What a call copies lies in one block of the memory for calls, a power of two, of which an open store keeps a page: so a write
 * that needed the whole of it was refused as if other calls held it, for ever.
 */
class LargestWriteTest {
    private static final byte[] KEY = {'k'};
    /** What a record takes beside its key and value, at most. */
    private static final int OVERHEAD = 64;

    private static final int ROUNDS = 4;
    private static final int KEYS = 200;

    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource({"16, 960, 1100", "16, 960, 2100", "64, 3840, 4090", "64, 3840, 4150", "128, 4096, 4150", "2048, 40960, 41000"})
    void isWhatMemtablesHave(int memoryMib, int mostKib, int largerKib) {
        byte[] largest = new byte[(mostKib << 10) - OVERHEAD];
        largest[largest.length - 1] = 1;
        StoreOptions options = StoreOptions.builder().memory(ByteSize.mib(memoryMib)).build();
        try (KeyValueStore store = Heartwood.open(directory, options)) {
            store.put(KEY, largest);
            assertArrayEquals(largest, store.get(KEY));
            store.delete(KEY);
            try (WriteBatch batch = store.newBatch()) {
                batch.put(KEY, largest);
                store.write(batch);
            }
            assertArrayEquals(largest, store.get(KEY));

            String wanted = " bytes needs more than the " + ByteSize.kib(mostKib) + " that a memory of " + ByteSize.mib(memoryMib) + " has for one";
            for (byte[] value : new byte[][] {new byte[mostKib << 10], new byte[largerKib << 10]}) {
                assertRefused(wanted, () -> store.put(KEY, value));
                try (WriteBatch batch = store.newBatch()) {
                    batch.put(KEY, value);
                    assertRefused(wanted, () -> store.write(batch));
                }
            }
            assertArrayEquals(largest, store.get(KEY));
        }
    }

    /** The limit was looked at only where the memtable, or the space promised to it, was found to be full: one that had room took more. */
    @Test
    void isTheSameForAMemtableThatIsEmpty() {
        int mostBytes = 960 << 10;
        StoreOptions options = StoreOptions.builder().memory(ByteSize.mib(16)).build();
        try (KeyValueStore store = Heartwood.open(directory, options)) {
            for (int round = 0; round < ROUNDS; round++) {
                for (int key = 0; key < KEYS; key++) {
                    store.put(new byte[] {(byte) key}, new byte[10_000]);
                }
                for (int key = 0; key < KEYS; key++) {
                    store.delete(new byte[] {(byte) key});
                }
                store.settle();
            }
            store.checkpoint();
            byte[] larger = new byte[mostBytes + 1 - KEY.length];
            String wanted = " bytes needs more than the " + ByteSize.kib(960);
            try (WriteBatch batch = store.newBatch()) {
                batch.put(KEY, larger);
                assertRefused(wanted, () -> store.write(batch));
            }
            assertRefused(wanted, () -> store.put(KEY, larger));
            assertNull(store.get(KEY));
        }
    }

    private static void assertRefused(String wanted, Runnable write) {
        InsufficientMemoryException refused = assertThrows(InsufficientMemoryException.class, write::run);
        assertTrue(refused.getMessage().contains(wanted), refused.getMessage());
    }
}
