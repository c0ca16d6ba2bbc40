package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.ByteSize;
import dev.heartwood.Cursor;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.WriteBatch;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A batch whose records found room in a memtable, and whose index did not, was refused, but the empty memtable kept all that it had taken, which
 * was nearly all memory of memtables: what was written by other threads, or to other stores, was refused from then on.
 */
class RefusedBatchTest {
    private static final int ENTRIES = 40_000;
    private static final int PIECE_BYTES = 1 << 20;

    @TempDir
    private Path directory;

    private static EngineEnvironment environment(int mebibytes) {
        return EngineEnvironment.open(
                EnvironmentOptions.builder().memory(ByteSize.mib(mebibytes)).build());
    }

    private KeyValueStore open(EngineEnvironment environment, String name) {
        return environment.open(directory.resolve(name), StoreOptions.builder().build());
    }

    private static byte[] bytes(long number) {
        return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
    }

    private static void write(KeyValueStore store, int count) {
        try (WriteBatch batch = store.newBatch()) {
            for (int i = 0; i < count; i++) {
                batch.put(bytes(i), bytes(i));
            }
            store.write(batch);
        }
        assertArrayEquals(bytes(count - 1), store.get(bytes(count - 1)));
    }

    /** Its records take 4 MiB and its index 1 MiB, of 4.7 MiB that there are. */
    @Test
    void oneThatNeverFitsTakesNothing() {
        try (EngineEnvironment environment = environment(20);
                KeyValueStore store = open(environment, "store")) {
            assertThrows(InsufficientMemoryException.class, () -> write(store, ENTRIES));
            assertEquals(0, environment.memtableMemory().allocated());
            write(store, ENTRIES / 2);
        }
    }

    /** The index takes no more than it needs in the end: of 5.6 MiB that is enough. */
    @Test
    void oneThatFitsIsTaken() {
        try (EngineEnvironment environment = environment(24);
                KeyValueStore store = open(environment, "store")) {
            write(store, ENTRIES);
        }
    }

    /** Somebody else has a part of the memory, and gives none back. */
    @Test
    void oneThatDoesNotFitNowGivesBackWhatItHasTaken() {
        try (EngineEnvironment environment = environment(24);
                KeyValueStore store = open(environment, "store");
                KeyValueStore other = open(environment, "other")) {
            long piece = environment.memtableMemory().allocate(PIECE_BYTES);
            try (Snapshot view = store.snapshot();
                    Cursor cursor = store.cursor()) {
                assertThrows(InsufficientMemoryException.class, () -> write(store, ENTRIES));
                // Takes half of the largest piece that there is.
                other.put(bytes(0), new byte[PIECE_BYTES]);
                write(store, ENTRIES / 2);
                assertNull(view.get(bytes(0)));
                assertFalse(cursor.first());
            }
            environment.memtableMemory().free(piece, PIECE_BYTES);
            write(store, ENTRIES);
        }
    }
}
