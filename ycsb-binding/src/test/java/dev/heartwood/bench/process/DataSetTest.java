package dev.heartwood.bench.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.bench.engine.EngineSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataSetTest {
    @TempDir
    Path directory;

    /** A run with another number of records noted that as what had been loaded, and runs with the right one were refused from then on. */
    @Test
    void anOlderNoteGoesOnTellingNothingOfWhatWasLoaded() throws IOException {
        Files.writeString(directory.resolve("store.properties"), "shape=24+100\nrecords=5000\n");
        DataSet other = data(2_000_000);
        other.requireLoadedAsSet();
        other.note(5_010);
        assertEquals(5_010, other.records());
        data(5_000).requireLoadedAsSet();
        Files.createDirectory(directory.resolve("store"));
        DataSet.deleteAll(directory);
        assertEquals(0, directory.toFile().list().length, "it is still one of the benchmark's");
    }

    @Test
    void insertsDoNotChangeWhatWasLoaded() {
        DataSet data = data(5_000);
        data.makeEmpty();
        data.note(5_000);
        data.note(6_000);
        assertEquals(6_000, data.records());
        data.requireLoadedAsSet();
        String refusal = assertThrows(IllegalStateException.class, data(6_000)::requireLoadedAsSet).getMessage();
        assertTrue(refusal.contains("was loaded with 5000 records and not with 6000"), refusal);
    }

    private DataSet data(long records) {
        return new DataSet(new EngineSettings(
                directory.resolve("store"), records, 24, 100, 1 << 20, Durability.NONE, DeviceKind.AUTO, Map.of()));
    }
}
