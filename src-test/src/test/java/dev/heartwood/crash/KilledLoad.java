package dev.heartwood.crash;

import dev.heartwood.ByteSize;
import dev.heartwood.Durability;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.WriteBatch;
import dev.heartwood.testkit.Model;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;

/**
 * The process that is killed: every thread takes the steps of its own history, one after the other, and after each appends its
 * number to a file of its own, unbuffered.
 */
final class KilledLoad {
    static final int THREADS = 3;
    private static final int KEYS = 700;

    /** One change; a null value is a delete. */
    private record Change(byte[] key, byte[] value) {}

    private KilledLoad() {}

    static StoreOptions options() {
        return StoreOptions.builder()
                .memory(ByteSize.mib(16))
                .memtable(ByteSize.kib(256))
                .checkpointDistance(2)
                .workers(2)
                .build();
    }

    /** What a thread does at a step: always the same for the same numbers. */
    private static List<Change> step(long seed, int thread, int step) {
        SplittableRandom random = new SplittableRandom(seed * 31 + thread * 1_000_003L + step * 7_919L);
        int count = random.nextInt(4) == 0 ? 2 + random.nextInt(12) : 1;
        List<Change> changes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] key = String.format("%d/%05d", thread, random.nextInt(KEYS)).getBytes();
            byte[] value = null;
            if (random.nextInt(6) > 0) {
                value = new byte[random.nextInt(50) == 0 ? random.nextInt(20_000) : random.nextInt(300)];
                random.nextBytes(value);
            }
            changes.add(new Change(key, value));
        }
        return changes;
    }

    /** Adds to a state what a thread's step does. */
    static void apply(NavigableMap<byte[], byte[]> state, long seed, int thread, int step) {
        for (Change change : step(seed, thread, step)) {
            if (change.value == null) {
                state.remove(change.key);
            } else {
                state.put(change.key, change.value);
            }
        }
    }

    /** The state of a thread's keys after its first {@code steps} steps. */
    static NavigableMap<byte[], byte[]> state(long seed, int thread, int steps) {
        NavigableMap<byte[], byte[]> state = Model.newMap();
        for (int i = 0; i < steps; i++) {
            apply(state, seed, thread, i);
        }
        return state;
    }

    static Path acknowledgements(Path directory, int thread) {
        return directory.resolveSibling(directory.getFileName() + ".acks" + thread);
    }

    /** Arguments: the directory, the seed, and for each thread the first step. */
    public static void main(String[] args) throws InterruptedException {
        Path directory = Path.of(args[0]);
        long seed = Long.parseLong(args[1]);
        KeyValueStore store = Heartwood.open(directory, options());
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            int thread = t;
            int first = Integer.parseInt(args[2 + t]);
            threads.add(Thread.ofPlatform().start(() -> load(store, directory, seed, thread, first)));
        }
        System.out.println("loading");
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void load(KeyValueStore store, Path directory, long seed, int thread, int first) {
        try (FileOutputStream acknowledgements =
                new FileOutputStream(acknowledgements(directory, thread).toFile(), true)) {
            for (int i = first; ; i++) {
                write(store, step(seed, thread, i), i % 64 == 0 ? Durability.SYNC : Durability.BUFFERED);
                acknowledgements.write(ByteBuffer.allocate(4).putInt(i + 1).array());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (Throwable e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(3);
        }
    }

    private static void write(KeyValueStore store, List<Change> changes, Durability level) {
        if (changes.size() == 1) {
            Change change = changes.getFirst();
            if (change.value == null) {
                store.delete(change.key, level);
            } else {
                store.put(change.key, change.value, level);
            }
            return;
        }
        try (WriteBatch batch = store.newBatch()) {
            for (Change change : changes) {
                if (change.value == null) {
                    batch.delete(change.key);
                } else {
                    batch.put(change.key, change.value);
                }
            }
            store.write(batch, level);
        }
    }
}
