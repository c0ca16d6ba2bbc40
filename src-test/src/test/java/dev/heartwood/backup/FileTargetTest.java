package dev.heartwood.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreException;
import dev.heartwood.StoreOptions;
import dev.heartwood.UnsuitableTargetException;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Backups to where no directory can be. */
class FileTargetTest {
    /** It was refused as a store is that is none. */
    @Test
    void aFileIsNoTarget() throws IOException {
        StoreOptions options = StoreOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
        try (TestDirectory parent = new TestDirectory("file");
                KeyValueStore store = Heartwood.open(parent.path().resolve("store"), options)) {
            Path file = Files.writeString(parent.path().resolve("file"), "of somebody");
            for (Path to : List.of(file, file.resolve("below"))) {
                StoreException refusal = assertThrows(UnsuitableTargetException.class, () -> store.backup(to));
                assertTrue(refusal.getMessage().endsWith(to + ": it is not a directory"), refusal.getMessage());
            }
            assertEquals("of somebody", Files.readString(file));
        }
    }
}
