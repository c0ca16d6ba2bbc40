package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.DeviceKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.FileStoreHost;
import dev.heartwood.testkit.MountedFileSystem;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/**
 * A real file system of 32 MiB fills up: writes are refused, reads go on, and when a file beside the store is removed, the store
 * takes writes again without being reopened. Where no file system may be mounted, a simulated disk takes its place.
 */
class SmallFileSystemTest {
    private static final int RECORDS_MAX = 30_000;

    private final StoreOptions options = StoreOptions.builder()
            .memory(EnvironmentOptions.MEMORY_MIN)
            .memtable(ByteSize.kib(256))
            .device(DeviceKind.POSIX)
            .build();

    @Test
    void aFullSimulatedDiskRefusesAndHeals() {
        fillAndHealSimulated();
    }

    @Test
    void aFullDiskRefusesAndHeals() throws IOException {
        try (TestDirectory parent = new TestDirectory("small")) {
            Optional<MountedFileSystem> mounted = MountedFileSystem.of(parent.path(), 32);
            if (mounted.isEmpty()) {
                fillAndHealSimulated();
                return;
            }
            try (MountedFileSystem files = mounted.get()) {
                Path ballast = files.path().resolve("ballast");
                Path directory = files.path().resolve("store");
                Files.write(ballast, new byte[8 << 20]);
                fillAndHeal(() -> Heartwood.open(directory, options), () -> delete(ballast));
                FileStoreHost.verify(directory);
            }
        }
    }

    /** Something else has filled it while the store was closed: not even the number of a process has room. */
    @Test
    void aStoreIsVerifiedAndReadOnADiskWithoutABlock() throws IOException {
        try (TestDirectory parent = new TestDirectory("small")) {
            Optional<MountedFileSystem> mounted = MountedFileSystem.of(parent.path(), 32);
            Assumptions.assumeTrue(mounted.isPresent(), "no file system may be mounted here");
            try (MountedFileSystem files = mounted.get()) {
                Path directory = files.path().resolve("store");
                try (KeyValueStore store = Heartwood.open(directory, options)) {
                    store.put(key(1), value(1));
                }
                fill(files.path().resolve("ballast"));
                FileStoreHost.verify(directory);
                try (KeyValueStore store = Heartwood.open(directory, options)) {
                    assertArrayEquals(value(1), store.get(key(1)));
                }
            }
        }
    }

    private static void fill(Path file) throws IOException {
        try (OutputStream out = Files.newOutputStream(file)) {
            for (int bytes = 1 << 20; bytes > 0; bytes /= 2) {
                writeAll(out, new byte[bytes]);
            }
        }
    }

    private static void writeAll(OutputStream out, byte[] chunk) {
        try {
            while (true) {
                out.write(chunk);
            }
        } catch (IOException full) {
            // Smaller ones may fit.
        }
    }

    private static void delete(Path file) {
        try {
            Files.delete(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void fillAndHealSimulated() {
        SimulatedMachine machine = new SimulatedMachine(1);
        machine.capacity(24 << 20);
        fillAndHeal(() -> SimulatedStoreHost.open(machine, options), () -> machine.capacity(32 << 20));
        SimulatedStoreHost.verify(machine);
    }

    private void fillAndHeal(Supplier<KeyValueStore> opener, Runnable makeRoom) {
        int written = 0;
        try (KeyValueStore store = opener.get()) {
            boolean refused = false;
            while (!refused && written < RECORDS_MAX) {
                try {
                    store.put(key(written), value(written));
                    written++;
                } catch (NoSpaceException full) {
                    refused = true;
                }
            }
            assertTrue(refused, "32 MiB took " + written + " records of 2 KB");
            check(store, written);
            makeRoom.run();
            for (int i = 0; i < 200; i++) {
                store.put(key(written), value(written));
                written++;
            }
            store.checkpoint();
            check(store, written);
        }
        try (KeyValueStore store = opener.get()) {
            check(store, written);
        }
    }

    private static void check(KeyValueStore store, int written) {
        for (int i = 0; i < written; i++) {
            assertArrayEquals(value(i), store.get(key(i)));
        }
        assertEquals(null, store.get(key(written)));
    }

    private static byte[] key(int i) {
        return String.format("key%07d", i * 7919 % RECORDS_MAX).getBytes();
    }

    private static byte[] value(int i) {
        byte[] value = new byte[2000];
        new SplittableRandom(i).nextBytes(value);
        return value;
    }
}
