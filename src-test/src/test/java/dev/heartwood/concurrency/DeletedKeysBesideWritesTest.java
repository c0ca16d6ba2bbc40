package dev.heartwood.concurrency;

import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Cursor;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.TestDirectory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * One key, with a number that always grows, moves about among keys that were deleted: it is put in its new place before it is deleted in its old
 * one. Cursors from either end, which pass over what is deleted, always find one that is as new as the last that was put before they were opened.
 */
class DeletedKeysBesideWritesTest {
    private static final int KEYS = 400;
    private static final int MOVES = 60_000;
    private static final int READERS = 2;

    private static final StoreOptions OPTIONS = OptionMatrix.smallTree();

    private static byte[] key(int number) {
        return ByteBuffer.allocate(4).putInt(number).array();
    }

    @Test
    void whatWasPutIsFound() {
        Campaign.run(getClass(), 1, seed -> {
            try (TestDirectory directory = new TestDirectory("moving");
                    KeyValueStore store = Heartwood.open(directory.path(), OPTIONS)) {
                for (int number = 0; number < KEYS; number++) {
                    store.delete(key(number));
                }
                store.put(key(KEYS / 2), ByteBuffer.allocate(8).putLong(0).array());
                AtomicLong newest = new AtomicLong();
                List<Threads.Body> bodies = new ArrayList<>();
                bodies.add(() -> move(store, newest, new SplittableRandom(seed)));
                for (int reader = 0; reader < READERS; reader++) {
                    boolean isForwards = reader % 2 == 0;
                    bodies.add(() -> find(store, newest, isForwards));
                }
                Threads.run(bodies);
            }
        });
        Campaign.report(getClass(), MOVES, "moves");
    }

    private static void move(KeyValueStore store, AtomicLong newest, SplittableRandom random) {
        int place = KEYS / 2;
        for (long move = 1; move <= Campaign.operations(MOVES); move++) {
            int next = (place + 1 + random.nextInt(KEYS - 1)) % KEYS;
            store.put(key(next), ByteBuffer.allocate(8).putLong(move).array());
            newest.set(move);
            store.delete(key(place));
            place = next;
        }
        newest.set(Long.MAX_VALUE);
    }

    private static void find(KeyValueStore store, AtomicLong newest, boolean isForwards) {
        long known = newest.get();
        while (known != Long.MAX_VALUE) {
            long best = -1;
            try (Cursor cursor = store.cursor(KeyRange.all())) {
                for (boolean found = isForwards ? cursor.first() : cursor.last();
                        found;
                        found = isForwards ? cursor.next() : cursor.previous()) {
                    best = Math.max(best, ByteBuffer.wrap(cursor.value()).getLong());
                }
            }
            assertNotEquals(-1, best, "nothing is there");
            assertTrue(best >= known, best + " is older than " + known);
            known = newest.get();
        }
    }
}
