package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Cursor;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.os.MemoryPool;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A cursor that could not enter a group went on in the one before. */
class GroupWithoutMemoryTest {
    private static final int BLOCK_BYTES = 2 * MemoryPool.BLOCK_BYTES_MIN;

    @TempDir
    private Path directory;

    @Test
    void aCursorThatCouldNotEnterStandsNowhere() {
        byte[] longGroup = new byte[MemoryPool.BLOCK_BYTES_MIN + 1];
        StoreOptions options = StoreOptions.builder().groupSuffixBytes(1).build();
        try (EngineEnvironment environment = EngineEnvironment.open(
                        EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build());
                KeyValueStore store = environment.open(directory, options)) {
            store.put(new byte[] {1, 1}, new byte[1]);
            store.put(new byte[] {1, 2}, new byte[1]);
            try (Cursor cursor = store.cursor()) {
                cursor.enterGroup(new byte[] {1});
                assertTrue(cursor.next());
                List<Long> held = takeAll(environment.buffers());
                assertThrows(InsufficientMemoryException.class, () -> cursor.enterGroup(longGroup));
                assertFalse(cursor.valid());
                assertThrows(IllegalStateException.class, cursor::next);
                held.forEach(block -> environment.buffers().free(block, BLOCK_BYTES));
                cursor.enterGroup(longGroup);
                assertFalse(cursor.next());
                cursor.enterGroup(new byte[] {1});
                assertTrue(cursor.next());
            }
        }
    }

    /** It was refused where it needed more memory than there is. */
    @Test
    void aGroupThatIsLongerThanAnyKeyHasNone() {
        StoreOptions options = StoreOptions.builder().groupSuffixBytes(1).build();
        try (EngineEnvironment environment = EngineEnvironment.open(
                        EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build());
                KeyValueStore store = environment.open(directory, options)) {
            store.put(new byte[KeyValueStore.KEY_BYTES_MAX], new byte[1]);
            try (Cursor cursor = store.cursor()) {
                cursor.enterGroup(new byte[(int) Long.highestOneBit(environment.buffers().capacity()) + 1]);
                assertFalse(cursor.next());
                cursor.enterGroup(new byte[KeyValueStore.KEY_BYTES_MAX]);
                assertFalse(cursor.next());
                cursor.enterGroup(new byte[KeyValueStore.KEY_BYTES_MAX - 1]);
                assertTrue(cursor.next());
            }
        }
    }

    private static List<Long> takeAll(MemoryPool pool) {
        List<Long> taken = new ArrayList<>();
        for (long block = pool.allocate(BLOCK_BYTES); block != 0; block = pool.allocate(BLOCK_BYTES)) {
            taken.add(block);
        }
        return taken;
    }
}
