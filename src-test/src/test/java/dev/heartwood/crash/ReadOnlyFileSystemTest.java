package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.heartwood.DeviceKind;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreIoException;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.inspect.Main;
import dev.heartwood.testkit.JavaProcess;
import dev.heartwood.testkit.MountedFileSystem;
import dev.heartwood.testkit.TestDirectory;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A store on a real file system that is mounted read-only: it is refused by name before anything changes, and can be read by those
 * who only read. Skipped with a message where no file system may be mounted.
 */
class ReadOnlyFileSystemTest {
    private final TestDirectory parent = new TestDirectory("readonly");
    private MountedFileSystem mounted;
    private Path directory;
    private Map<String, Integer> before;

    /** What a command came to. */
    private record Outcome(int code, String text) {}

    @BeforeEach
    void leaveAStoreWithALog() throws IOException {
        mounted = MountedFileSystem.of(parent.path(), 64).orElse(null);
        assumeTrue(mounted != null, "no file system can be mounted here");
        directory = mounted.path().resolve("store");
        Files.createDirectory(mounted.path().resolve("empty"));
        JavaProcess.Ended ended = JavaProcess.of(
                        AbandonedStore.class, directory.toString(), AbandonedStore.End.EXIT.name())
                .flags("-Xmx100m")
                .run(parent.path().resolve("output"));
        assertEquals(5, ended.exit(), ended.output());
        before = files();
    }

    @AfterEach
    void remove() throws IOException {
        if (mounted != null) {
            try (MountedFileSystem unmounting = mounted) {
                assertEquals(before, files(), "something has changed on " + unmounting.path());
            }
        }
        parent.close();
    }

    private Map<String, Integer> files() throws IOException {
        try (Stream<Path> paths = Files.walk(mounted.path())) {
            Map<String, Integer> contents = new TreeMap<>();
            for (Path path : paths.filter(p -> !p.endsWith("lost+found")).toList()) {
                int hash = Files.isRegularFile(path) ? Arrays.hashCode(Files.readAllBytes(path)) : 0;
                contents.put(mounted.path().relativize(path).toString(), hash);
            }
            return contents;
        }
    }

    private static Outcome command(String... arguments) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream print = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        int code = Main.run(arguments, print, print);
        return new Outcome(code, bytes.toString(StandardCharsets.UTF_8));
    }

    private int written() throws IOException {
        return ByteBuffer.wrap(Files.readAllBytes(AbandonedStore.progress(directory))).getInt();
    }

    private static void assertRefused(Path directory, DeviceKind device) {
        StoreIoException refused = assertThrows(
                StoreIoException.class,
                () -> Heartwood.open(directory, AbandonedStore.options().toBuilder().device(device).build()));
        assertEquals("EROFS", refused.errnoName());
        assertTrue(refused.getMessage().contains("read-only"), refused.getMessage());
        assertTrue(refused.path().startsWith(directory.toString()), refused.path());
    }

    @ParameterizedTest
    @EnumSource(DeviceKind.class)
    void aStoreIsRefusedByName(DeviceKind device) {
        mounted.readOnly();
        assertRefused(directory, device);
        assertRefused(mounted.path().resolve("new"), device);
        assertRefused(mounted.path().resolve("empty"), device);
    }

    @Test
    void itIsVerifiedDescribedAndSalvaged() throws IOException {
        mounted.readOnly();
        Outcome verified = command("verify", directory.toString());
        assertEquals(Main.CLEAN, verified.code, verified.text);
        assertTrue(verified.text.contains("log records to replay"), verified.text);
        assertTrue(!verified.text.contains("; 0 log records"), "nothing was left in the log: " + verified.text);
        Outcome described = command("inspect", directory.toString());
        assertEquals(Main.CLEAN, described.code, described.text);

        Path salvaged = parent.path().resolve("salvaged");
        Outcome copied = command("salvage", directory.toString(), salvaged.toString());
        assertEquals(Main.CLEAN, copied.code, copied.text);
        try (KeyValueStore store = Heartwood.open(salvaged, AbandonedStore.options())) {
            for (int i = 0; i < written(); i++) {
                assertArrayEquals(new byte[500], store.get(AbandonedStore.key(i)));
            }
        }
    }

    /** Files that nobody may write were refused, by the number of the process that is of use only to people. */
    @Test
    void filesThatNobodyMayWriteAreVerified() throws IOException, InterruptedException {
        assertVerifiedUnchangeable();
        Files.delete(directory.resolve("LOCK"));
        before = files();
        assertVerifiedUnchangeable();
    }

    private void assertVerifiedUnchangeable() throws IOException, InterruptedException {
        assumeTrue(changeAttributes("+i") == 0, "no file can be made immutable here");
        try {
            Outcome verified = command("verify", directory.toString());
            assertEquals(Main.CLEAN, verified.code, verified.text);
        } finally {
            assertEquals(0, changeAttributes("-i"));
        }
    }

    private int changeAttributes(String change) throws IOException, InterruptedException {
        return new ProcessBuilder("chattr", "-R", change, directory.toString()).start().waitFor();
    }

    @Test
    void aBackupWouldHaveToReplayItsLog() {
        mounted.readOnly();
        Outcome refused = command("backup", directory.toString(), parent.path().resolve("backup").toString());
        assertEquals(Main.CANNOT_OPEN, refused.code, refused.text);
        assertTrue(refused.text.contains("read-only"), refused.text);
    }

    @Test
    void severalMayReadIt() throws IOException {
        mounted.readOnly();
        try (Storage other = FileStorage.reading(directory, IoMode.DIRECT)) {
            other.lock();
            assertEquals(Main.CLEAN, command("verify", directory.toString()).code);
        }
    }

    @Test
    void whoHasItOpenThroughAnotherMountIsMet() throws IOException {
        Path at = parent.path().resolve("view");
        try (MountedFileSystem view = mounted.readOnlyView(at);
                KeyValueStore store = Heartwood.open(directory, AbandonedStore.options())) {
            Outcome refused = command("verify", at.resolve("store").toString());
            assertEquals(Main.CANNOT_OPEN, refused.code, refused.text);
            assertTrue(refused.text.contains(Long.toString(ProcessHandle.current().pid())), refused.text);
            // Without the lock file it is met at the data.
            Files.delete(directory.resolve("LOCK"));
            refused = command("verify", at.resolve("store").toString());
            assertEquals(Main.CANNOT_OPEN, refused.code, refused.text);
            assertTrue(refused.text.contains("is open in process"), refused.text);
            assertArrayEquals(new byte[500], store.get(AbandonedStore.key(0)));
        }
        before = files();
    }

    @Test
    void onceItCanBeWrittenAgainEverythingIsThere() throws IOException {
        mounted.readOnly();
        assertRefused(directory, DeviceKind.AUTO);
        mounted.writable();
        try (KeyValueStore store = Heartwood.open(directory, AbandonedStore.options())) {
            for (int i = 0; i < written(); i++) {
                assertArrayEquals(new byte[500], store.get(AbandonedStore.key(i)));
            }
        }
        before = files();
    }
}
