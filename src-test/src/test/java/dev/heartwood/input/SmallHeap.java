package dev.heartwood.input;

import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.PreviousFailureException;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreException;
import dev.heartwood.StoreOptions;
import dev.heartwood.WriteBatch;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A process with a small Java heap, which it fills up again and again while it uses a store: calls end with an OutOfMemoryError or
 * succeed, and what had succeeded is there. What it must remember is allocated at the start.
 */
final class SmallHeap {
    private static final int KEYS = 1500;
    private static final int BATCH = 5;
    private static final int CALLS = 1500;
    private static final int FULL_CALLS = 400;

    private final Path directory;
    private final SplittableRandom random;
    /** The version that each key has, or had before the write that ran out of memory; 0 is none. */
    private final int[] sure = new int[KEYS];
    /** The version that a write which ran out of memory may have left. */
    private final int[] possible = new int[KEYS];
    /** The first key of the batch which ran out of memory and wrote the possible version of each key; -1 is none. */
    private final int[] batchFrom = new int[KEYS];

    private final byte[][] found = new byte[BATCH][];

    private int version;
    private long refused;
    private int reopened;
    private KeyValueStore store;

    private SmallHeap(Path directory, long seed) {
        this.directory = directory;
        this.random = new SplittableRandom(seed);
        Arrays.fill(batchFrom, -1);
    }

    private static StoreOptions options() {
        return StoreOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).workers(2).build();
    }

    /** Arguments: the directory, the seed, how often the heap is filled. */
    public static void main(String[] args) {
        SmallHeap process = new SmallHeap(Path.of(args[0]), Long.parseLong(args[1]));
        int rounds = Integer.parseInt(args[2]);
        process.store = Heartwood.open(process.directory, options());
        process.use(CALLS);
        process.check();
        for (int round = 0; round < rounds; round++) {
            process.runOut();
            process.check();
            process.reopen();
        }
        process.reopen();
        List<String> problems = process.store.verify().problems();
        if (!problems.isEmpty()) {
            throw new AssertionError(problems.getFirst());
        }
        process.store.close();
        System.out.println(report(process.refused, process.reopened));
    }

    private void reopen() {
        store.close();
        store = Heartwood.open(directory, options());
        check();
    }

    /** What the process prints at its end. */
    static String report(long refused, int reopened) {
        return refused + " calls ran out of memory, reopened " + reopened + " times";
    }

    /** Fills the heap to the last byte or nearly, and goes on. */
    private void runOut() {
        List<byte[]> ballast = new ArrayList<>(1 << 16);
        int free = random.nextInt(40);
        try {
            for (int size = 256 << 10; size >= 1024; size >>= 1) {
                fill(ballast, size);
            }
            for (int i = 0; i < free; i++) {
                ballast.removeLast();
            }
            use(FULL_CALLS);
        } finally {
            ballast.clear();
        }
    }

    private static void fill(List<byte[]> ballast, int size) {
        try {
            while (true) {
                ballast.add(new byte[size]);
            }
        } catch (OutOfMemoryError full) {
            // As it should be.
        }
    }

    private void use(int calls) {
        for (int i = 0; i < calls; i++) {
            try {
                call();
            } catch (OutOfMemoryError e) {
                refused++;
            } catch (IllegalArgumentException e) {
                // The JVM has few such errors to throw: one that is thrown again by the end of a try statement with resources becomes this.
                if (!(e.getCause() instanceof OutOfMemoryError)) {
                    throw e;
                }
                refused++;
            } catch (PreviousFailureException e) {
                // Background work ran out of memory and stopped the store; with memory it opens again.
                return;
            }
        }
    }

    private void call() {
        int key = random.nextInt(KEYS);
        switch (random.nextInt(8)) {
            case 0, 1, 2 -> put(key);
            case 3 -> batch(Math.min(key, KEYS - BATCH));
            case 4 -> {
                byte[] bytes = keyBytes(key);
                settle(key);
                possible[key] = -1;
                store.delete(bytes, Durability.BUFFERED);
                sure[key] = 0;
                possible[key] = 0;
            }
            case 5 -> {
                try (Snapshot snapshot = store.snapshot();
                        Cursor cursor = snapshot.cursor(KeyRange.from(keyBytes(key)))) {
                    for (int n = 0; n < 20 && cursor.next(); n++) {
                        cursor.value();
                    }
                }
            }
            default -> expect(key, store.get(keyBytes(key)));
        }
    }

    private void put(int key) {
        int next = version + 1;
        byte[] bytes = keyBytes(key);
        byte[] value = value(key, next);
        version = next;
        settle(key);
        possible[key] = next;
        store.put(bytes, value, next % 50 == 0 ? Durability.SYNC : Durability.BUFFERED);
        sure[key] = next;
        possible[key] = 0;
    }

    private void batch(int from) {
        int next = version + 1;
        try (WriteBatch batch = store.newBatch()) {
            for (int key = from; key < from + BATCH; key++) {
                batch.put(keyBytes(key), value(key, next));
                settle(key);
            }
            version = next;
            for (int key = from; key < from + BATCH; key++) {
                possible[key] = next;
                batchFrom[key] = from;
            }
            store.write(batch);
            for (int key = from; key < from + BATCH; key++) {
                sure[key] = next;
                possible[key] = 0;
                batchFrom[key] = -1;
            }
        }
    }

    /** Finds out what a write before this one left, so that two possibilities never become three. */
    private void settle(int key) {
        if (batchFrom[key] >= 0) {
            settleBatch(batchFrom[key]);
        } else if (possible[key] != 0) {
            settle(key, store.get(keyBytes(key)));
        }
    }

    /** All of a batch is there, or nothing of it. */
    private void settleBatch(int from) {
        for (int i = 0; i < BATCH; i++) {
            found[i] = store.get(keyBytes(from + i));
        }
        int written = 0;
        int at = possible[from];
        for (int i = 0; i < BATCH; i++) {
            settle(from + i, found[i]);
            batchFrom[from + i] = -1;
            written += sure[from + i] == at ? 1 : 0;
        }
        if (written != 0 && written != BATCH) {
            throw new AssertionError("of the batch of version " + at + " from key " + from + " there are " + written + " writes");
        }
    }

    private void settle(int key, byte[] found) {
        int at = found == null ? 0 : ByteBuffer.wrap(found).getInt();
        boolean isPossible = possible[key] != 0 && at == Math.max(0, possible[key]);
        if (at != sure[key] && !isPossible || found != null && !Arrays.equals(value(key, at), found)) {
            throw new AssertionError("key " + key + " has version " + at + " instead of " + sure[key] + " or " + possible[key]);
        }
        sure[key] = at;
        possible[key] = 0;
    }

    private void expect(int key, byte[] read) {
        if (batchFrom[key] >= 0) {
            settleBatch(batchFrom[key]);
        }
        settle(key, read);
    }

    /** With memory again: every key is as the last write left it, read by key and by a scan. */
    private void check() {
        try {
            store.put(keyBytes(KEYS), new byte[1]);
        } catch (PreviousFailureException stopped) {
            closeQuietly();
            store = Heartwood.open(directory, options());
            reopened++;
        }
        for (int key = 0; key < KEYS; key++) {
            expect(key, store.get(keyBytes(key)));
        }
        int next = 0;
        try (Cursor cursor = store.cursor(KeyRange.before(keyBytes(KEYS)))) {
            while (cursor.next()) {
                int key = ByteBuffer.wrap(cursor.key()).getInt();
                for (; next < key; next++) {
                    expect(next, null);
                }
                expect(key, cursor.value());
                next = key + 1;
            }
        }
        for (; next < KEYS; next++) {
            expect(next, null);
        }
    }

    private void closeQuietly() {
        try {
            store.close();
        } catch (StoreException stopped) {
            // What it could not write is in the log.
        }
    }

    private static byte[] keyBytes(int key) {
        return ByteBuffer.allocate(4).putInt(key).array();
    }

    private static byte[] value(int key, int version) {
        byte[] value = new byte[4 + new SplittableRandom(key * 31L + version).nextInt(3000)];
        Arrays.fill(value, (byte) (key + version));
        ByteBuffer.wrap(value).putInt(version);
        return value;
    }
}
