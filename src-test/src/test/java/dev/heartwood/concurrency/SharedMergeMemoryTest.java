package dev.heartwood.concurrency;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.ByteSize;
import dev.heartwood.Durability;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.WriteBatch;
import dev.heartwood.testkit.TestDirectory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Stores that share little memory wait for what each other's merges hold of it: no write is refused for that. */
class SharedMergeMemoryTest {
    private static final int STORES = 6;
    private static final int BATCHES = 150;
    private static final int BATCH_ENTRIES = 500;
    private static final EnvironmentOptions ENVIRONMENT =
            EnvironmentOptions.builder().memory(ByteSize.mib(16)).build();

    @Test
    void writersOfManyStoresAreNotRefused() {
        AtomicLong written = new AtomicLong();
        try (TestDirectory directory = new TestDirectory("shared-merge");
                Environment environment = Heartwood.openEnvironment(ENVIRONMENT)) {
            List<Threads.Body> writers = new ArrayList<>();
            for (int number = 0; number < STORES; number++) {
                Path path = directory.path().resolve("store-" + number);
                long seed = number;
                writers.add(() -> write(environment, path, seed, written));
            }
            Threads.run(writers);
        }
        assertEquals((long) STORES * BATCHES * BATCH_ENTRIES, written.get());
    }

    private static void write(Environment environment, Path path, long seed, AtomicLong written) {
        StoreOptions options = StoreOptions.builder().groupSuffixBytes(4).build();
        SplittableRandom random = new SplittableRandom(seed);
        try (KeyValueStore store = environment.open(path, options)) {
            for (int i = 0; i < BATCHES; i++) {
                try (WriteBatch batch = store.newBatch()) {
                    for (int entry = 0; entry < BATCH_ENTRIES; entry++) {
                        batch.put(ByteBuffer.allocate(24).putLong(random.nextLong()).array(), new byte[60]);
                    }
                    store.write(batch, Durability.NONE);
                }
                written.addAndGet(BATCH_ENTRIES);
            }
        }
    }
}
