package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.ClosedException;
import dev.heartwood.DeviceKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.LockedException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.NotAStoreException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.FreeSpace;
import dev.heartwood.StoreOptions.OpenMode;
import dev.heartwood.testkit.FileStoreHost;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Stores on a raw block device: a loop device over an image, which needs root. Skipped with a message where there is none. */
class RawDeviceTest {
    private static final int DEVICE_BYTES = 48 << 20;
    private static final int RECORDS = 20_000;

    private final TestDirectory parent = new TestDirectory("raw");
    private final Path image = parent.path().resolve("image");
    private final Path directory = parent.path().resolve("store");
    private String device = "";

    @BeforeEach
    void attach() throws IOException, InterruptedException {
        Files.write(image, new byte[DEVICE_BYTES]);
        Files.createDirectory(directory);
        try {
            device = said("losetup", "--find", "--show", image.toString());
        } catch (IOException none) {
            device = "";
        }
        assumeTrue(device.startsWith("/dev/"), "no loop device can be attached here");
        Files.createSymbolicLink(directory.resolve("data.hw"), Path.of(device));
    }

    @AfterEach
    void detach() throws IOException, InterruptedException {
        if (device.startsWith("/dev/")) {
            said("losetup", "--detach", device);
        }
        parent.close();
    }

    /** What a command prints. */
    private static String said(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        process.waitFor();
        return text;
    }

    private static StoreOptions options(DeviceKind kind) {
        return StoreOptions.builder()
                .memory(EnvironmentOptions.MEMORY_MIN)
                .memtable(ByteSize.kib(256))
                .freeSpace(FreeSpace.RETURN)
                .device(kind)
                .build();
    }

    private static byte[] key(int i) {
        return ByteBuffer.allocate(8).putLong(i * 0x9E3779B97F4A7C15L).array();
    }

    private static byte[] value(int i) {
        byte[] value = new byte[300];
        Arrays.fill(value, (byte) i);
        return value;
    }

    @ParameterizedTest
    @EnumSource(DeviceKind.class)
    void aStoreIsMadeAndFoundAgain(DeviceKind kind) {
        try (KeyValueStore store = Heartwood.open(directory, options(kind))) {
            for (int i = 0; i < RECORDS; i++) {
                store.put(key(i), value(i));
            }
            store.settle();
        }
        assertTrue(Files.isSymbolicLink(directory.resolve("data.hw")));
        FileStoreHost.verify(directory);
        StoreOptions existing = options(kind).toBuilder().openMode(OpenMode.OPEN_EXISTING).build();
        try (KeyValueStore store = Heartwood.open(directory, existing)) {
            assertEquals(DEVICE_BYTES, store.stats().diskBytes() / DEVICE_BYTES * DEVICE_BYTES);
            assertHolds(store, RECORDS);
        }
    }

    @Test
    void aFullDeviceRefusesAndKeepsWhatItHas() {
        int written = 0;
        KeyValueStore store = Heartwood.open(directory, options(DeviceKind.AUTO));
        for (boolean full = false; !full; ) {
            assertTrue((long) written * 300 < DEVICE_BYTES, "more than the device holds");
            try {
                store.put(key(written), value(written));
                written++;
            } catch (NoSpaceException refused) {
                full = true;
            }
        }
        assertHolds(store, written);
        // The last checkpoint may not fit; then the log, which is elsewhere, has the rest.
        try {
            store.close();
        } catch (NoSpaceException noCheckpoint) {
            assertThrows(ClosedException.class, () -> store.get(key(0)));
        }
        try (KeyValueStore again = Heartwood.open(directory, options(DeviceKind.AUTO))) {
            assertHolds(again, written);
            again.close();
        } catch (NoSpaceException noCheckpoint) {
            FileStoreHost.verify(directory);
        }
    }

    private static void assertHolds(KeyValueStore store, int records) {
        for (int i = 0; i < records; i++) {
            assertArrayEquals(value(i), store.get(key(i)));
        }
    }

    @Test
    void aDeviceThatHoldsSomethingElseIsNotTouched() throws IOException, InterruptedException {
        said("dd", "if=/dev/urandom", "of=" + device, "bs=4096", "count=3", "seek=5", "conv=fsync");
        assertRefusedAsItIs();
        // Nor where a creation was broken off before the device was there.
        Files.write(directory.resolve("creating"), new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
        assertRefusedAsItIs();
    }

    /** Of another directory, whose log and session are not here. */
    @Test
    void aStoreIsNotMadeAnewWhereACreationWasBrokenOff() throws IOException {
        Heartwood.open(directory, options(DeviceKind.AUTO)).close();
        Path other = Files.createDirectory(parent.path().resolve("other"));
        Files.createSymbolicLink(other.resolve("data.hw"), Path.of(device));
        Files.write(other.resolve("creating"), new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
        byte[] before = Files.readAllBytes(image);
        assertThrows(NotAStoreException.class, () -> Heartwood.open(other, options(DeviceKind.AUTO)));
        assertArrayEquals(before, Files.readAllBytes(image));
    }

    @Test
    void aDeviceWithoutRoomForSuperblocksIsRefused() throws IOException, InterruptedException {
        Path small = Files.write(parent.path().resolve("small"), new byte[32 << 10]);
        String attached = said("losetup", "--find", "--show", small.toString());
        try {
            Path other = Files.createDirectory(parent.path().resolve("other"));
            Files.createSymbolicLink(other.resolve("data.hw"), Path.of(attached));
            Files.write(other.resolve("creating"), new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
            assertThrows(StoreException.class, () -> Heartwood.open(other, options(DeviceKind.AUTO)));
            Files.delete(other.resolve("creating"));
            assertThrows(StoreException.class, () -> Heartwood.open(other, options(DeviceKind.AUTO)));
        } finally {
            said("losetup", "--detach", attached);
        }
    }

    private void assertRefusedAsItIs() throws IOException {
        byte[] before = Files.readAllBytes(image);
        assertThrows(NotAStoreException.class, () -> Heartwood.open(directory, options(DeviceKind.AUTO)));
        assertArrayEquals(before, Files.readAllBytes(image));
    }

    @Test
    void aBlankDeviceIsNoStore() throws IOException {
        StoreOptions existing = options(DeviceKind.AUTO).toBuilder().openMode(OpenMode.OPEN_EXISTING).build();
        NotAStoreException refused = assertThrows(NotAStoreException.class, () -> Heartwood.open(directory, existing));
        assertTrue(refused.getMessage().contains("device"), refused.getMessage());
        assertFalse(Files.exists(directory.resolve("session")));
    }

    /** Zeroed superblocks of a store are damage, not a blank device. */
    @Test
    void aStoreWhoseSuperblocksAreGoneIsNotMadeAnew() throws IOException, InterruptedException {
        Heartwood.open(directory, options(DeviceKind.AUTO)).close();
        said("dd", "if=/dev/zero", "of=" + device, "bs=131072", "count=1", "conv=fsync");
        assertThrows(StoreException.class, () -> Heartwood.open(directory, options(DeviceKind.AUTO)));
    }

    @Test
    void oneDeviceServesOneDirectory() throws IOException {
        Path other = Files.createDirectory(parent.path().resolve("other"));
        Files.createSymbolicLink(other.resolve("data.hw"), Path.of(device));
        try (KeyValueStore store = Heartwood.open(directory, options(DeviceKind.AUTO))) {
            StoreException refused = assertThrows(StoreException.class, () -> Heartwood.open(other, options(DeviceKind.AUTO)));
            assertTrue(refused instanceof LockedException || refused.getMessage().contains("EBUSY"), refused::toString);
            store.put(key(1), value(1));
            assertArrayEquals(value(1), store.get(key(1)));
        }
    }
}
