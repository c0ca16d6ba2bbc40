package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is said of the logs' memory, beside what the kernel says of their mappings. */
class LogMemoryTest {
    private static final int STORES = 40;
    private static final int RECORDS = 40_000;
    private static final int LOOKS_MAX = 1000;

    @TempDir
    private Path directory;

    /** What of mapped log segments below the directory is resident, in bytes. */
    private long residentBytes() throws IOException {
        long bytes = 0;
        boolean isSegment = false;
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
            if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
                isSegment = line.contains(directory.toString()) && line.endsWith(".seg");
            } else if (isSegment && line.startsWith("Rss:")) {
                bytes += Long.parseLong(line.replaceAll("\\D", "")) << 10;
            }
        }
        return bytes;
    }

    @Test
    void whatLogsHaveInMemoryIsCountedAsTheKernelDoes() throws IOException {
        EnvironmentOptions options =
                EnvironmentOptions.builder().memory(ByteSize.mib(16)).build();
        try (Environment environment = Heartwood.openEnvironment(options)) {
            assertEquals(0, environment.memoryStats().logBytes());
            List<KeyValueStore> stores = new ArrayList<>();
            for (int i = 0; i < STORES; i++) {
                stores.add(environment.open(directory.resolve("store-" + i), StoreOptions.defaults()));
            }
            for (int i = 0; i < RECORDS; i++) {
                stores.get(i % STORES).put(Load.key(i), Load.value(i));
            }
            stores.forEach(KeyValueStore::settle);
            long counted = environment.memoryStats().logBytes();
            // Segments may still be made ready, and finished ones be unmapped, in the background.
            for (int look = 0; look < LOOKS_MAX && residentBytes() != counted; look++) {
                counted = environment.memoryStats().logBytes();
            }
            assertTrue(counted > 0 && environment.memoryStats().usedBytes() >= counted);
            assertEquals(residentBytes(), counted);
            stores.forEach(KeyValueStore::close);
            assertEquals(0, environment.memoryStats().logBytes());
        }
    }
}
