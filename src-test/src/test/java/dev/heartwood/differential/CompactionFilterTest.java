package dev.heartwood.differential;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CompactionFilter;
import dev.heartwood.Cursor;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.testkit.FileStoreHost;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.TestDirectory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What a compaction filter drops or changes is what readers see, and nothing older comes to light; snapshots see none of it. */
class CompactionFilterTest {
    private static final int KEYS_EACH = 1500;
    private static final int VALUE_BYTES = 200;
    private static final byte FIRST = 1;
    private static final byte SECOND = 2;
    private static final byte[] REPLACEMENT = "replaced".getBytes(StandardCharsets.US_ASCII);

    /** What the filter does with the second version of a key, by the key's first letter. */
    private static final class ByFirstLetter implements CompactionFilter {
        @Override
        public String name() {
            return "by first letter";
        }

        @Override
        public Decision filter(MemorySegment key, MemorySegment value) {
            if (value.get(ValueLayout.JAVA_BYTE, 0) != SECOND) {
                return Decision.KEEP;
            }
            return switch (key.get(ValueLayout.JAVA_BYTE, 0)) {
                case 'd' -> Decision.DROP;
                case 'r' -> Decision.replace(REPLACEMENT);
                case 't' -> throw new IllegalStateException("a filter that fails");
                case 'o' -> Decision.replace(new byte[endless(1)]);
                case 'n' -> null;
                default -> Decision.KEEP;
            };
        }

        private static int endless(int depth) {
            return depth < 0 ? depth : endless(depth + 1) + 1;
        }
    }

    private final TestDirectory directory = new TestDirectory("filter");

    @AfterEach
    void remove() {
        directory.close();
    }

    private KeyValueStore open(CompactionFilter filter) {
        return Heartwood.open(
                directory.path(),
                OptionMatrix.smallTree().toBuilder().compactionFilter(filter).build());
    }

    private static byte[] key(char letter, int i) {
        return (letter + "key" + i * 7919 % KEYS_EACH).getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] value(byte version) {
        byte[] value = new byte[VALUE_BYTES];
        Arrays.fill(value, version);
        return value;
    }

    private static void write(KeyValueStore store, byte version) {
        put(store, version);
        store.settle();
    }

    private static void put(KeyValueStore store, byte version) {
        for (int i = 0; i < KEYS_EACH; i++) {
            for (char letter : "drtonk".toCharArray()) {
                store.put(key(letter, i), value(version));
            }
        }
    }

    /** How many keys of a letter show what the filter made of them; the others must be as they were written last. */
    private static int filtered(KeyValueStore store, char letter, byte[] outcome) {
        int count = 0;
        for (int i = 0; i < KEYS_EACH; i++) {
            byte[] found = store.get(key(letter, i));
            if (Arrays.equals(outcome, found)) {
                count++;
            } else {
                assertArrayEquals(value(SECOND), found, "key " + letter + i);
            }
        }
        return count;
    }

    private static int entries(KeyValueStore store) {
        int entries = 0;
        try (Cursor cursor = store.cursor()) {
            while (cursor.next()) {
                entries++;
            }
        }
        return entries;
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void itDropsChangesAndFails() {
        int dropped;
        int replaced;
        try (KeyValueStore store = open(new ByFirstLetter())) {
            write(store, FIRST);
            write(store, SECOND);
            dropped = filtered(store, 'd', null);
            replaced = filtered(store, 'r', REPLACEMENT);
            assertTrue(dropped > KEYS_EACH / 2, dropped + " keys dropped");
            assertTrue(replaced > KEYS_EACH / 2, replaced + " keys changed");
            for (char letter : "tonk".toCharArray()) {
                assertEquals(KEYS_EACH, filtered(store, letter, value(SECOND)), "keys of letter " + letter);
            }
            assertTrue(store.stats().filterFailures() > 0, "no failure was counted");
            assertEquals(6 * KEYS_EACH - dropped, entries(store));
        }
        FileStoreHost.verify(directory.path());
        // The next open need not bring it.
        try (KeyValueStore store = open(null)) {
            assertEquals(dropped, filtered(store, 'd', null));
            assertEquals(replaced, filtered(store, 'r', REPLACEMENT));
        }
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void itIsNotAskedForWhatASnapshotSeesAnOlderVersionOf() {
        try (KeyValueStore store = open(new ByFirstLetter())) {
            write(store, FIRST);
            try (Snapshot snapshot = store.snapshot()) {
                byte[][] seen = seen(snapshot, 'd');
                write(store, SECOND);
                assertEquals(0, filtered(store, 'd', null));
                assertEquals(0, filtered(store, 'r', REPLACEMENT));
                assertArrayEquals(seen, seen(snapshot, 'd'));
            }
        }
    }

    private static byte[][] seen(Snapshot snapshot, char letter) {
        byte[][] seen = new byte[KEYS_EACH][];
        for (int i = 0; i < KEYS_EACH; i++) {
            seen[i] = snapshot.get(key(letter, i));
        }
        return seen;
    }

    /** Of what a snapshot sees as the newest, it is; the snapshot sees it as it was. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void itIsAskedBesideViewsThatSeeAllThereIs() {
        try (KeyValueStore store = open(new ByFirstLetter())) {
            write(store, FIRST);
            put(store, SECOND);
            try (Snapshot snapshot = store.snapshot();
                    Cursor cursor = snapshot.cursor(KeyRange.all())) {
                byte[][] seen = seen(snapshot, 'r');
                int before = filtered(store, 'r', REPLACEMENT);
                store.settle();
                int after = filtered(store, 'r', REPLACEMENT);
                assertTrue(after > before, "no more than " + before + " keys changed");
                assertTrue(after > KEYS_EACH / 2, after + " keys changed");
                assertArrayEquals(seen, seen(snapshot, 'r'));
                for (int i = 0; i < KEYS_EACH; i++) {
                    assertTrue(cursor.seek(key('r', i)));
                    assertArrayEquals(seen[i], cursor.value());
                }
            }
        }
    }
}
