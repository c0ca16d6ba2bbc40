package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Cursor;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.TestDirectory;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** What cursors read that come to many deleted keys in a row, several times as many as the page cache holds. */
class DeletedKeysCostTest {
    private static final ByteSize MEMORY = ByteSize.mib(16);
    private static final int KEYS = 60_000;
    private static final int VALUE_BYTES = 400;
    /** Deleted are all but a few at either end. */
    private static final int KEPT = 1_000;

    private static final long PAGES = (long) KEYS * VALUE_BYTES / 4096;

    /** Two seeks, at either end of what is passed over, in some twenty runs. */
    private static final long PAGES_PASSED = PAGES / 50;

    /** After so many short scans seeks do not read an extent ahead of each run any more, as they do after long ones. */
    private static final int SHORT_SCANS = 64;

    private static byte[] key(int number) {
        return ByteBuffer.allocate(8).putInt(number).array();
    }

    @Test
    void theyAreWalkedOverTwiceAndThenPassedOver() {
        try (TestDirectory directory = new TestDirectory("deleted");
                KeyValueStore store = Heartwood.open(
                        directory.path(), StoreOptions.builder().memory(MEMORY).build())) {
            byte[] value = new byte[VALUE_BYTES];
            for (int i = 0; i < KEYS; i++) {
                store.put(key(i), value);
            }
            store.settle();
            // What an open snapshot sees no merge drops.
            try (Snapshot before = store.snapshot()) {
                for (int i = KEPT; i < KEYS - KEPT; i++) {
                    store.delete(key(i));
                }
                long first = walkOver(store, true);
                assertTrue(first > PAGES / 2, first + " pages read");
                walkOver(store, true);
                for (int i = 0; i < SHORT_SCANS; i++) {
                    try (Cursor cursor = store.cursor()) {
                        assertTrue(cursor.first());
                    }
                }
                for (int i = 0; i < 3; i++) {
                    long forwards = walkOver(store, true);
                    assertTrue(forwards < PAGES_PASSED, forwards + " pages read of " + PAGES);
                    long backwards = walkOver(store, false);
                    assertTrue(backwards < PAGES_PASSED, backwards + " pages read of " + PAGES);
                }
                store.put(key(KEYS / 2), value);
                assertArrayEquals(key(KEYS / 2), firstAfter(store));
                try (Cursor seen = before.cursor(KeyRange.from(key(KEPT)))) {
                    assertTrue(seen.next());
                    assertArrayEquals(key(KEPT), seen.key());
                }
            }
        }
    }

    /** The pages that it takes. */
    private static long walkOver(KeyValueStore store, boolean isForwards) {
        long before = pages(store);
        try (Cursor cursor = store.cursor()) {
            assertTrue(isForwards ? cursor.seek(key(KEPT)) : cursor.seekBackwards(key(KEYS - KEPT - 1)));
            assertArrayEquals(key(isForwards ? KEYS - KEPT : KEPT - 1), cursor.key());
        }
        return pages(store) - before;
    }

    private static byte[] firstAfter(KeyValueStore store) {
        try (Cursor cursor = store.cursor()) {
            assertTrue(cursor.seek(key(KEPT)));
            return cursor.key();
        }
    }

    private static long pages(KeyValueStore store) {
        return store.stats().pageReads() + store.stats().pagesPrefetched();
    }
}
