package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Cursor;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.TestDirectory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is said can be read, and says what to do. */
class ReadableMessagesTest {
    private static final int KEYS = 20_000;

    @Test
    void aRangeOfLongKeysIsPrintedInPart() {
        assertEquals("[[1, -1], ∞)", KeyRange.from(new byte[] {1, -1}).toString());
        byte[] longest = new byte[64 << 10];
        String text = KeyRange.between(longest, longest).toString();
        assertTrue(text.length() < 300 && text.contains("… of 65536 bytes]"), text);
    }

    /** They spoke of a page cache without pages, and of buffers. */
    @Test
    void whoIsRefusedMemoryThatCursorsHoldIsToldToCloseThem() {
        StoreOptions options = StoreOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
        List<Cursor> cursors = new ArrayList<>();
        try (TestDirectory directory = new TestDirectory("messages");
                KeyValueStore store = Heartwood.open(directory.path().resolve("store"), options)) {
            for (int i = 0; i < KEYS; i++) {
                store.put(ByteBuffer.allocate(4).putInt(i).array(), new byte[100]);
            }
            store.checkpoint();
            store.settle();
            store.checkpoint();
            assertThrows(InsufficientMemoryException.class, () -> openAll(store, cursors));
            requireAdvice(assertThrows(InsufficientMemoryException.class, store::verify));
            requireAdvice(assertThrows(InsufficientMemoryException.class, () -> store.backup(directory.path().resolve("backup"))));
            cursors.forEach(Cursor::close);
            assertTrue(store.verify().isClean());
        }
    }

    private static void openAll(KeyValueStore store, List<Cursor> cursors) {
        while (true) {
            Cursor cursor = store.cursor();
            cursors.add(cursor);
            cursor.next();
        }
    }

    private static void requireAdvice(InsufficientMemoryException refusal) {
        assertTrue(refusal.getMessage().contains("close cursors, or raise the memory option"), refusal.getMessage());
    }
}
