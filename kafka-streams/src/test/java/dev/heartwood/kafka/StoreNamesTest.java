package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Kafka Streams takes any name for a store that has no changelog of its own. A store whose name has a slash lay in the directory of another, which
 * took that for what a deletion had left of its own, and deleted it; other names led out of the task's directory.
 */
class StoreNamesTest {
    private static final Bytes KEY = Bytes.wrap(new byte[] {7});
    private static final List<String> NAMES = List.of(
            "ref", "ref/countries", "ref/", "/ref", "/", "", ".", "..", "../ref", "../../ref", "ref/..", "ref/../ref", "%", "ref%2Fcountries",
            "%ref%2Fcountries", "heartwood", "../heartwood/ref", "ref/countries/of", "ref//countries", "ref/./countries", "ref%2F/countries");

    private final TestDirectory directory = new TestDirectory("names");
    private final Path task = directory.path().resolve("app").resolve("0_0");

    @AfterEach
    void removeDirectory() {
        directory.close();
    }

    private HeartwoodKeyValueStore open(String name) {
        return new StoreContext(task, Map.of()).open(HeartwoodKeyValueStore.of(name, ValueFormat.PLAIN));
    }

    private static void putAndCommit(HeartwoodKeyValueStore store, int value) {
        store.put(KEY, new byte[] {(byte) value});
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
    }

    private static void assertHas(HeartwoodKeyValueStore store, int value) {
        assertArrayEquals(new byte[] {(byte) value}, store.get(KEY), () -> "'" + store.name() + "'");
    }

    @Test
    void aStoreIsOpenedBesideOneWhoseNameGoesOnBehindASlash() {
        HeartwoodKeyValueStore countries = open("ref/countries");
        putAndCommit(countries, 1);
        HeartwoodKeyValueStore ref = open("ref");
        putAndCommit(ref, 2);
        assertHas(countries, 1);
        ref.close();
        countries.close();
        ref = open("ref");
        countries = open("ref/countries");
        assertHas(ref, 2);
        assertHas(countries, 1);
        ref.close();
        countries.close();
    }

    @Test
    void everyNameHasADirectoryOfItsOwnInThatOfTheTask() {
        Set<Path> directories = new HashSet<>();
        for (String name : NAMES) {
            Path place = TableOpener.directory(task.toFile(), name);
            assertEquals(task, place.getParent().getParent(), name);
            assertEquals(place, place.normalize(), name);
            assertTrue(directories.add(place), name);
        }
        assertEquals(task.resolve("heartwood").resolve("ref%2F.x"), TableOpener.directory(task.toFile(), "ref%2F.x"), "as ever");
    }

    @Test
    void storesOfAllNamesAreOpenTogether() throws IOException {
        for (int life = 0; life < 2; life++) {
            List<HeartwoodKeyValueStore> stores = new ArrayList<>();
            for (int i = 0; i < NAMES.size(); i++) {
                HeartwoodKeyValueStore store = open(NAMES.get(i));
                stores.add(store);
                if (life == 0) {
                    assertNull(store.get(KEY), () -> "'" + store.name() + "'");
                    putAndCommit(store, i);
                }
            }
            for (int i = 0; i < NAMES.size(); i++) {
                assertHas(stores.get(i), i);
                stores.get(i).close();
            }
        }
        try (Stream<Path> files = Files.walk(directory.path(), 3)) {
            List<String> around = files.map(file -> directory.path().relativize(file).toString()).sorted().toList();
            assertEquals(List.of("", "app", "app/0_0", "app/0_0/heartwood", "app/0_0/heartwood.names"), around);
        }
    }

    /** Where versions before kept a store whose name has a slash. */
    private Path placeOfOld() throws IOException {
        HeartwoodKeyValueStore store = open("other");
        putAndCommit(store, 1);
        store.close();
        Path old = task.resolve("heartwood").resolve("ref").resolve("countries");
        Files.createDirectories(old.getParent());
        return Files.move(TableOpener.directory(task.toFile(), "other"), old);
    }

    @Test
    void aStoreInTheDirectoryOfAnotherIsFound() throws IOException {
        HeartwoodKeyValueStore ref = open("ref");
        putAndCommit(ref, 2);
        Path old = placeOfOld();
        HeartwoodKeyValueStore countries = open("ref/countries");
        assertHas(countries, 1);
        assertHas(ref, 2);
        assertFalse(Files.exists(old));
        putAndCommit(countries, 3);
        countries.close();
        placeOfOld(); // as where an earlier version ran again
        countries = open("ref/countries");
        assertHas(countries, 3);
        countries.close();
        ref.close();
    }

    /** A store of that name could not be made where directories were. */
    @Test
    void noEmptyDirectoriesAreLeftWhereAStoreWas() throws IOException {
        Path old = placeOfOld();
        Path deeper = old.getParent().resolve("of/the/world");
        Files.createDirectories(deeper.getParent());
        Files.move(old, deeper);
        HeartwoodKeyValueStore world = open("ref/of/the/world");
        assertHas(world, 1);
        HeartwoodKeyValueStore ref = open("ref");
        putAndCommit(ref, 2);
        ref.close();
        world.close();
    }

    /** Which is not of the store that is to be made there. */
    @Test
    void aDirectoryThatHasADirectoryIsNotDeleted() throws IOException {
        placeOfOld();
        assertThrows(ProcessorStateException.class, () -> open("ref"));
        HeartwoodKeyValueStore countries = open("ref/countries");
        assertHas(countries, 1);
        open("ref").close();
        countries.close();
    }

    /** These names led to the directories of other stores. */
    @Test
    void aStoreIsNotTakenForOneWhoseNameLeadsToIt() throws IOException {
        Path elsewhere = directory.path().resolve("elsewhere/at/a/place/as/deep");
        Files.createDirectories(elsewhere.getParent());
        Files.move(placeOfOld(), elsewhere);
        Files.delete(task.resolve("heartwood").resolve("ref"));
        HeartwoodKeyValueStore ref = open("ref");
        putAndCommit(ref, 2);
        ref.close();
        for (String name : List.of("ref/", "ref/.", "./ref", "x/../ref", "x/y/../../ref", "../heartwood/ref", elsewhere.toString())) {
            HeartwoodKeyValueStore store = open(name);
            assertNull(store.get(KEY), name);
            store.close();
        }
        ref = open("ref");
        assertHas(ref, 2);
        ref.close();
        assertTrue(Files.exists(elsewhere.resolve("data.hw")));
    }
}
