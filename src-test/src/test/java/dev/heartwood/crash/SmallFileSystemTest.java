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
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.function.Supplier;
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

    private static boolean runs(String... command) throws IOException, InterruptedException {
        Process process;
        try {
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException notThere) {
            return false;
        }
        return process.waitFor() == 0;
    }

    @Test
    void aFullSimulatedDiskRefusesAndHeals() {
        fillAndHealSimulated();
    }

    @Test
    void aFullDiskRefusesAndHeals() throws IOException, InterruptedException {
        try (TestDirectory parent = new TestDirectory("small")) {
            Path image = parent.path().resolve("image");
            Path mount = Files.createDirectory(parent.path().resolve("mount"));
            boolean mounted = runs("truncate", "-s", "32M", image.toString())
                    && runs("mkfs.ext4", "-q", "-F", "-m", "0", image.toString())
                    && runs("mount", "-o", "loop", image.toString(), mount.toString());
            if (!mounted) {
                fillAndHealSimulated();
                return;
            }
            Path ballast = mount.resolve("ballast");
            Path directory = mount.resolve("store");
            try {
                Files.write(ballast, new byte[8 << 20]);
                fillAndHeal(() -> Heartwood.open(directory, options), () -> delete(ballast));
                FileStoreHost.verify(directory);
            } finally {
                assertTrue(runs("umount", mount.toString()), "still in use");
            }
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
