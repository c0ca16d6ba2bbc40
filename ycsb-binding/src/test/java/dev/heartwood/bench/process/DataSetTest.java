package dev.heartwood.bench.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.bench.engine.EngineSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
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

    /** Segments of a log come and go: one that went while files were counted ended a benchmark of many minutes. */
    @Test
    void filesMayGoWhileTheyAreCounted() throws Exception {
        Path store = Files.createDirectory(directory.resolve("store"));
        Files.write(store.resolve("data"), new byte[5_000]);
        AtomicBoolean ended = new AtomicBoolean();
        FutureTask<Integer> going = new FutureTask<>(() -> comeAndGo(store, ended));
        Thread.ofPlatform().start(going);
        try {
            for (int i = 0; i < 2_000; i++) {
                assertEquals(5_000, data(1).fileLengths());
            }
            assertTrue(data(1).diskBytes() >= 5_000);
        } finally {
            ended.set(true);
            assertTrue(going.get() > 0);
        }
    }

    private static int comeAndGo(Path store, AtomicBoolean ended) throws IOException {
        int count = 0;
        for (; !ended.get(); count++) {
            Files.createFile(store.resolve("log-" + count));
            Files.delete(store.resolve("log-" + count));
        }
        return count;
    }

    @Test
    void aStoreThatIsNotThereTakesNoSpaceThatAnybodyCouldTell() {
        assertThrows(UncheckedIOException.class, data(1)::fileLengths);
    }

    private DataSet data(long records) {
        return new DataSet(new EngineSettings(
                directory.resolve("store"), 1, records, 24, 100, 1 << 20, Durability.NONE, DeviceKind.AUTO, Map.of()));
    }
}
