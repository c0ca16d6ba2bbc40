package dev.heartwood.bench.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.bench.engine.EngineKind;
import dev.heartwood.bench.engine.EngineSettings;
import dev.heartwood.bench.process.PhaseTask.Checking;
import dev.heartwood.bench.workload.Phase;
import dev.heartwood.bench.workload.Step;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
        DataSet.delete(directory.resolve("store"));
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

    /** That of a sequential load stayed, and took the space of the engines after it. */
    @Test
    void allStoresOfAnEngineGo() throws IOException {
        makeStores();
        DataSet.deletePassingBeside(directory.resolve("a-1"));
        assertEquals(Set.of("a-1", "a-16", "a-16-sequential", "b-sequential"), stores());
        makeStores();
        DataSet.delete(directory.resolve("a-1"));
        assertEquals(Set.of("a-16", "a-16-sequential", "b-sequential"), stores());
    }

    @Test
    void thatOfASequentialLoadIsNamedAfterTheOther() throws Exception {
        try (EngineHost host = new EngineHost(EngineKind.MVSTORE, settings("a-1", 100), Checking.LENGTH, 1)) {
            host.run(Step.of(Phase.SEQUENTIAL, 0), 1, operations -> {});
            assertEquals(Set.of("a-1-sequential"), stores());
        }
        assertEquals(Set.of(), stores());
    }

    /** That of another engine, whose name begins alike, was deleted under it. */
    @Test
    void thoseOfAnotherEngineStay() throws IOException {
        for (String name : List.of("rocksdb", "rocksdb-sequential", "rocksdb-compacted", "rocksdb-compacted-sequential", "lmdb")) {
            new DataSet(settings(name, 1)).makeEmpty();
        }
        DataSet.delete(directory.resolve("rocksdb"));
        assertEquals(Set.of("rocksdb-compacted", "rocksdb-compacted-sequential", "lmdb"), stores());
    }

    private void makeStores() {
        for (String name : List.of(
                "a-1", "a-1-sequential", "a-1-warmup", "a-1-warmup-sequential", "a-16", "a-16-sequential", "b-sequential")) {
            new DataSet(settings(name, 1)).makeEmpty();
        }
    }

    private Set<String> stores() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(Files::isDirectory).map(file -> file.getFileName().toString()).collect(Collectors.toSet());
        }
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
        return new DataSet(settings("store", records));
    }

    private EngineSettings settings(String name, long records) {
        return new EngineSettings(
                directory.resolve(name), 1, records, 24, 100, 1 << 20, Durability.NONE, DeviceKind.AUTO, Map.of());
    }
}
