package dev.heartwood.kafka;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.state.KeyValueStore;

/** A process that writes to a store and commits, until it is killed. */
final class KilledWriter {
    /** Writes between two commits. */
    static final int COMMIT_INTERVAL = 300;

    private static final int KEYS = 2_000;

    private KilledWriter() {}

    /** Arguments: the task's directory, the processing guarantee, the seed, the first step. */
    public static void main(String[] arguments) throws IOException {
        Path directory = Path.of(arguments[0]);
        long seed = Long.parseLong(arguments[2]);
        int step = Integer.parseInt(arguments[3]);
        KeyValueStore<Bytes, byte[]> store = open(directory, arguments[1]);
        int committed = -1;
        while (true) {
            Step next = step(seed, step);
            store.put(next.key(), next.value());
            if (committed >= 0) {
                // Where a kill takes writes back a commit is there for good with what follows it.
                Files.writeString(
                        committed(directory), committed + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                System.out.println(committed);
                committed = -1;
            }
            step++;
            if (step % COMMIT_INTERVAL == 0) {
                store.commit(Map.of(StoreContext.CHANGELOG, (long) step));
                committed = step;
            }
        }
    }

    static KeyValueStore<Bytes, byte[]> open(Path directory, String guarantee) {
        StoreContext context =
                new StoreContext(directory, Map.of(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee));
        return context.open(HeartwoodStores.persistentKeyValueStore("killed").get());
    }

    /** The file to which the process says what it has committed. */
    static Path committed(Path directory) {
        return directory.resolveSibling("committed");
    }

    /** One write; without a value it deletes. */
    record Step(Bytes key, byte[] value) {}

    static Step step(long seed, int number) {
        SplittableRandom random = new SplittableRandom(seed * 1_000_003 + number);
        byte[] key = ("key" + random.nextInt(KEYS)).getBytes();
        byte[] value = random.nextInt(8) == 0 ? null : (number + "/" + "v".repeat(random.nextInt(200))).getBytes();
        return new Step(Bytes.wrap(key), value);
    }

    /** What the store holds after so many steps. */
    static Map<Bytes, byte[]> state(long seed, int steps) {
        Map<Bytes, byte[]> state = new TreeMap<>();
        for (int i = 0; i < steps; i++) {
            apply(state, step(seed, i));
        }
        return state;
    }

    static void apply(Map<Bytes, byte[]> state, Step step) {
        if (step.value() == null) {
            state.remove(step.key());
        } else {
            state.put(step.key(), step.value());
        }
    }
}
