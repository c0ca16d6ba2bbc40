package dev.heartwood.concurrency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Cursor;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.WriteBatch;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.FileStoreHost;
import dev.heartwood.testkit.TestDirectory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Writers give each of their keys ever higher versions, always two keys in one batch; a value says which key and version it
 * belongs to. Readers never see a version fall, nor half a batch; snapshots and cursors see one point in time.
 */
class ReadersAndWritersTest {
    private static final int WRITERS = 2;
    private static final int PAIRS = 60;
    private static final int ROUNDS = 150;
    private static final String LEFT = "left";
    private static final String RIGHT = "right";

    private final StoreOptions options = StoreOptions.builder()
            .memory(EnvironmentOptions.MEMORY_MIN)
            .memtable(ByteSize.kib(128))
            .fanout(4)
            .checkpointDistance(2)
            .build();

    private static byte[] key(String side, int writer, int pair) {
        return String.format("%s/%d/%05d", side, writer, pair).getBytes();
    }

    private static byte[] value(byte[] key, int version, int fillBytes) {
        ByteBuffer value = ByteBuffer.allocate(key.length + 8 + fillBytes);
        value.put(key).putInt(version).putInt(key.length * 31 + version);
        while (value.hasRemaining()) {
            value.put((byte) version);
        }
        return value.array();
    }

    /** The version in a value, which must be this key's and whole; 0 for no value. */
    private static int version(byte[] key, byte[] value) {
        if (value == null) {
            return 0;
        }
        ByteBuffer buffer = ByteBuffer.wrap(value);
        byte[] named = new byte[key.length];
        buffer.get(named);
        assertEquals(new String(key), new String(named), "a value of another key");
        int version = buffer.getInt();
        assertEquals(key.length * 31 + version, buffer.getInt(), "a torn value");
        while (buffer.hasRemaining()) {
            assertEquals((byte) version, buffer.get(), "a torn value");
        }
        return version;
    }

    @Test
    void readersNeverSeeTimeRunBackwardsNorHalfABatch() {
        Campaign.run(getClass(), 1, seed -> {
            try (TestDirectory directory = new TestDirectory("threads")) {
                try (KeyValueStore store = Heartwood.open(directory.path(), options)) {
                    AtomicInteger writing = new AtomicInteger(WRITERS);
                    List<Threads.Body> bodies = new ArrayList<>();
                    for (int w = 0; w < WRITERS; w++) {
                        int writer = w;
                        bodies.add(() -> {
                            try {
                                write(store, writer, seed);
                            } finally {
                                writing.decrementAndGet();
                            }
                        });
                    }
                    bodies.add(() -> read(store, writing, new SplittableRandom(seed)));
                    bodies.add(() -> scan(store, writing));
                    bodies.add(() -> scanBackwards(store, writing));
                    bodies.add(() -> lookThroughSnapshots(store, writing, new SplittableRandom(seed + 1)));
                    Threads.run(bodies);
                    checkFinal(store);
                }
                try (KeyValueStore store = Heartwood.open(directory.path(), options)) {
                    checkFinal(store);
                }
                FileStoreHost.verify(directory.path());
            }
        });
    }

    private static void write(KeyValueStore store, int writer, long seed) {
        SplittableRandom random = new SplittableRandom(seed * 100 + writer);
        try (WriteBatch batch = store.newBatch()) {
            for (int round = 1; round <= ROUNDS; round++) {
                for (int pair = 0; pair < PAIRS; pair++) {
                    batch.clear();
                    int fill = random.nextInt(40) == 0 ? random.nextInt(5000) : random.nextInt(200);
                    byte[] left = key(LEFT, writer, pair);
                    byte[] right = key(RIGHT, writer, pair);
                    batch.put(left, value(left, round, fill));
                    batch.put(right, value(right, round, fill));
                    store.write(batch);
                    assertEquals(round, version(left, store.get(left)), "a writer does not see its own write");
                }
            }
        }
    }

    private static void read(KeyValueStore store, AtomicInteger writing, SplittableRandom random) {
        int[][] seen = new int[WRITERS][PAIRS];
        while (writing.get() > 0) {
            int writer = random.nextInt(WRITERS);
            int pair = random.nextInt(PAIRS);
            byte[] left = key(LEFT, writer, pair);
            byte[] right = key(RIGHT, writer, pair);
            int first = version(left, store.get(left));
            int second = version(right, store.get(right));
            int third = version(left, store.get(left));
            assertTrue(first >= seen[writer][pair], "a version fell");
            assertTrue(second >= first && third >= second, "half a batch was seen");
            seen[writer][pair] = third;
        }
    }

    /** Both keys of every pair at the same version, and those of a writer at most one apart. */
    private static void checkOnePoint(int[][] left, int[][] right) {
        for (int w = 0; w < WRITERS; w++) {
            for (int pair = 0; pair < PAIRS; pair++) {
                assertEquals(left[w][pair], right[w][pair], "half a batch in one point in time");
                int ahead = left[w][pair] - left[w][Math.min(pair + 1, PAIRS - 1)];
                assertTrue(ahead == 0 || ahead == 1, "the writer wrote the next pair before this one");
            }
        }
    }

    private static void note(byte[] key, byte[] value, int[][] left, int[][] right) {
        String[] parts = new String(key).split("/");
        int[][] side = parts[0].equals(LEFT) ? left : right;
        side[Integer.parseInt(parts[1])][Integer.parseInt(parts[2])] = version(key, value);
    }

    private static void scan(KeyValueStore store, AtomicInteger writing) {
        while (writing.get() > 0) {
            int[][] left = new int[WRITERS][PAIRS];
            int[][] right = new int[WRITERS][PAIRS];
            byte[] last = null;
            try (Cursor cursor = store.cursor()) {
                while (cursor.next()) {
                    byte[] key = cursor.key();
                    assertTrue(last == null || java.util.Arrays.compareUnsigned(last, key) < 0, "keys out of order");
                    last = key;
                    note(key, cursor.value(), left, right);
                }
            }
            checkOnePoint(left, right);
        }
    }

    private static void scanBackwards(KeyValueStore store, AtomicInteger writing) {
        while (writing.get() > 0) {
            int[][] left = new int[WRITERS][PAIRS];
            int[][] right = new int[WRITERS][PAIRS];
            try (Cursor cursor = store.cursor()) {
                for (boolean on = cursor.last(); on; on = cursor.previous()) {
                    note(cursor.key(), cursor.value(), left, right);
                }
            }
            checkOnePoint(left, right);
        }
    }

    private static void lookThroughSnapshots(KeyValueStore store, AtomicInteger writing, SplittableRandom random) {
        while (writing.get() > 0) {
            try (Snapshot snapshot = store.snapshot()) {
                int[][] left = new int[WRITERS][PAIRS];
                int[][] right = new int[WRITERS][PAIRS];
                for (int i = 0; i < WRITERS * PAIRS; i++) {
                    byte[] key = key(LEFT, i / PAIRS, i % PAIRS);
                    note(key, snapshot.get(key), left, right);
                }
                int writer = random.nextInt(WRITERS);
                try (Cursor cursor = snapshot.cursor(KeyRange.prefix((RIGHT + "/").getBytes()))) {
                    while (cursor.next()) {
                        note(cursor.key(), cursor.value(), left, right);
                    }
                }
                checkOnePoint(left, right);
                byte[] again = key(LEFT, writer, 0);
                assertEquals(left[writer][0], version(again, snapshot.get(again)), "a snapshot changed");
            }
        }
    }

    private static void checkFinal(KeyValueStore store) {
        for (int w = 0; w < WRITERS; w++) {
            for (int pair = 0; pair < PAIRS; pair++) {
                for (String side : List.of(LEFT, RIGHT)) {
                    byte[] key = key(side, w, pair);
                    assertEquals(ROUNDS, version(key, store.get(key)));
                }
            }
        }
        assertFalse(store.contains(key(LEFT, WRITERS, 0)));
    }
}
