package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.JavaProcess;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Paths are taken as text. Those of which it meant something else had the store or the backup made there. */
class NativePathTest {
    private static final StoreOptions OPTIONS = StoreOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();

    private final TestDirectory directory = new TestDirectory("native");

    @AfterEach
    void remove() {
        directory.close();
    }

    private void refused(String name, Executable call) {
        String refusal = assertThrows(IllegalArgumentException.class, call).getMessage();
        assertTrue(refusal.contains(directory.path().resolve(name).toString()), refusal);
        assertFalse(Files.exists(directory.path().resolve(name)), refusal);
    }

    @Test
    void aPathOfAnotherFileSystemIsRefused() throws IOException {
        Path archive = directory.path().resolve("archive.zip");
        try (FileSystem zip = FileSystems.newFileSystem(archive, Map.of("create", "true"))) {
            Path path = zip.getPath(directory.path().resolve("store").toString());
            refused("store", () -> Heartwood.open(path, OPTIONS));
            EnvironmentOptions shared = EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
            Path inside = directory.path().resolve("inside");
            try (Environment environment = Heartwood.openEnvironment(shared)) {
                refused("store", () -> environment.open(path, OPTIONS));
                try (KeyValueStore store = environment.open(inside, OPTIONS)) {
                    long before = store.stats().checkpoints();
                    refused("store", () -> store.backup(path));
                    assertEquals(before, store.stats().checkpoints());
                }
            }
        }
    }

    @Test
    void whatWasNeverTextIsRefused() {
        refused("x", () -> Heartwood.open(Path.of(directory.path().resolve("x") + "\ufffd"), OPTIONS));
    }

    /** Two of the names are text nowhere, one is where the charset is UTF-8, and one everywhere. */
    @ParameterizedTest
    @CsvSource({"C.UTF-8, 2", "C, 3"})
    void namesThatAreNoTextAreRefused(String locale, int refused) throws IOException, InterruptedException {
        Path parent = Files.createDirectory(directory.path().resolve("parent"));
        String make = "mkdir plain \"$(printf 'x\\377')\" \"$(printf 'x\\376')\" \"$(printf 'x\\303\\244')\"";
        assertEquals(0, new ProcessBuilder("sh", "-c", make).directory(parent.toFile()).start().waitFor());
        JavaProcess.Ended ended = JavaProcess.of(ListedStores.class, parent.toString(), directory.path().resolve("elsewhere").toString())
                .under("env", "LC_ALL=" + locale)
                .run(directory.path().resolve("output"));
        assertEquals("4 listed, " + refused + " opens and " + refused + " backups refused\n", ended.output());
        // Nothing is made beside them.
        Process listing = new ProcessBuilder("sh", "-c", "ls | wc -l; ls * | grep -c store; ls * | grep -c backup").directory(parent.toFile()).start();
        int made = 4 - refused;
        String found = new String(listing.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        assertEquals("4\n" + made + "\n" + made + "\n", found);
    }
}
