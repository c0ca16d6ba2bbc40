package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.DeviceKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.FreeSpace;
import dev.heartwood.testkit.FileStoreHost;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the data file of a store takes of the file system once most of its records are deleted. */
class FreeSpaceTest {
    private static final int RECORDS = 60_000;
    private static final int KEPT_EVERY = 50;
    private static final int BLOCK_BYTES = 512;

    private final TestDirectory directory = new TestDirectory("space");
    private final Path data = directory.path().resolve("data.hw");

    @AfterEach
    void remove() {
        directory.close();
    }

    private KeyValueStore open(DeviceKind device, FreeSpace freeSpace) {
        return Heartwood.open(
                directory.path(),
                StoreOptions.builder()
                        .memory(EnvironmentOptions.MEMORY_MIN)
                        .device(device)
                        .freeSpace(freeSpace)
                        .build());
    }

    /** What the file system has given the file, which may be less than its size. */
    private long allocatedBytes() throws IOException {
        Process stat = new ProcessBuilder("stat", "-c", "%b", data.toString()).start();
        String blocks = new String(stat.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        return BLOCK_BYTES * Long.parseLong(blocks);
    }

    private static void deleteMost(KeyValueStore store) {
        for (int i = 0; i < RECORDS; i++) {
            if (i % KEPT_EVERY != 0) {
                store.delete(Load.key(i));
            }
        }
        store.settle();
        store.checkpoint();
        store.settle();
    }

    private static void check(KeyValueStore store) {
        for (int i = 0; i < RECORDS; i++) {
            assertArrayEquals(i % KEPT_EVERY == 0 ? Load.value(i) : null, store.get(Load.key(i)));
        }
    }

    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @EnumSource(
            value = DeviceKind.class,
            names = {"AUTO", "POSIX", "JNR"})
    void itIsGivenBackAndTakenAgain(DeviceKind device) throws IOException {
        long full;
        try (KeyValueStore store = open(device, FreeSpace.RETURN)) {
            Load.random(store, RECORDS);
            store.settle();
            full = allocatedBytes();
            // Keys that follow each other share their first bytes.
            assertTrue(full >= (long) RECORDS * Load.RECORD_BYTES * 98 / 100, full + " bytes");
            assertTrue(full >= store.stats().liveBytes(), full + " bytes, fewer than are in use");
            deleteMost(store);
            long left = allocatedBytes();
            assertTrue(left <= full / 4, left + " bytes allocated of " + full + " before");
            check(store);
        }
        assertTrue(allocatedBytes() <= full / 4, allocatedBytes() + " bytes after closing, of " + full + " before");
        FileStoreHost.verify(directory.path());
        try (KeyValueStore store = open(device, FreeSpace.RETURN)) {
            check(store);
            Load.random(store, RECORDS);
            store.settle();
            for (int i = 0; i < RECORDS; i++) {
                assertArrayEquals(Load.value(i), store.get(Load.key(i)));
            }
        }
        FileStoreHost.verify(directory.path());
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void itIsKeptUnlessTheOptionSaysOtherwise() throws IOException {
        assertEquals(FreeSpace.KEEP, StoreOptions.defaults().freeSpace());
        try (KeyValueStore store = open(DeviceKind.AUTO, FreeSpace.KEEP)) {
            Load.random(store, RECORDS);
            store.settle();
            long full = Files.size(data);
            deleteMost(store);
            assertTrue(Files.size(data) >= full, "the file shrank");
            assertEquals(Files.size(data), Math.min(Files.size(data), allocatedBytes()), "the file has holes");
        }
        // Said later, it applies to what is free by then.
        open(DeviceKind.AUTO, FreeSpace.RETURN).close();
        assertTrue(allocatedBytes() <= Files.size(data) / 4, allocatedBytes() + " of " + Files.size(data));
    }
}
