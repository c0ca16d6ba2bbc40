package dev.heartwood.bench.engine;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.bench.engine.Engine.Access;
import dev.heartwood.bench.workload.KeySpace;
import dev.heartwood.bench.workload.SeededRandom;
import dev.heartwood.bench.workload.Values;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Every peer's adapter against a sorted map: random operations, reopened at random. */
class EngineAdapterTest {
    private static final int KEY_BYTES = 24;
    private static final int VALUE_BYTES = 100;
    private static final int NUMBERS = 2_000;
    private static final int STORES = 5;

    @TempDir
    Path directory;

    private final RecordBuffer buffer = new RecordBuffer(KEY_BYTES, VALUE_BYTES);
    private final KeySpace keys = new KeySpace(KEY_BYTES);
    private final TreeMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "HEARTWOOD")
    void doesWhatASortedMapDoes(EngineKind kind) throws IOException, InterruptedException {
        for (Durability durability : Durability.values()) {
            model.clear();
            Path store = Files.createDirectory(directory.resolve(kind + "-" + durability));
            EngineSettings settings = new EngineSettings(
                    store, 1, NUMBERS, KEY_BYTES, VALUE_BYTES, 16 << 20, durability, DeviceKind.AUTO, Map.of());
            SeededRandom random = new SeededRandom(durability.ordinal());
            int operations = durability == Durability.SYNC ? 60 : 3_000;
            for (int reopening = 0; reopening < 3; reopening++) {
                try (Engine engine = kind.open(settings)) {
                    if (reopening == 0) {
                        load(engine, durability == Durability.SYNC ? 20 : NUMBERS);
                    }
                    try (Session session = engine.session(buffer, Access.OPERATIONS)) {
                        for (int i = 0; i < operations; i++) {
                            operate(session, random, true);
                        }
                    }
                    engine.settle();
                    engine.sync();
                }
            }
        }
    }

    /** What one write of all records leaves on the first level stays there, unless everything is compacted. */
    @ParameterizedTest
    @CsvSource({"ROCKSDB, 1", "ROCKSDB_COMPACTED, 0"})
    void settlesAsItsNameSays(EngineKind kind, int filesOfFirstLevel) throws IOException, InterruptedException {
        EngineSettings settings = new EngineSettings(
                directory, 1, NUMBERS, KEY_BYTES, VALUE_BYTES, 16 << 20, Durability.BUFFERED, DeviceKind.AUTO, Map.of());
        try (Engine engine = kind.open(settings)) {
            load(engine, NUMBERS);
            engine.settle();
            Matcher level = Pattern.compile("(?m)^ *L0 +(\\d+)/").matcher(engine.describe());
            int files = level.find() ? Integer.parseInt(level.group(1)) : 0;
            assertEquals(filesOfFirstLevel, files, engine::describe);
        }
    }

    /** Spread over stores that share their memory, without scans. */
    @ParameterizedTest
    @EnumSource(names = {"HEARTWOOD", "ROCKSDB", "ROCKSDB_COMPACTED"})
    void severalStoresAreOneMap(EngineKind kind) throws IOException, InterruptedException {
        Path parent = Files.createDirectory(directory.resolve("many"));
        EngineSettings settings = new EngineSettings(
                parent, STORES, NUMBERS, KEY_BYTES, VALUE_BYTES, 16 << 20, Durability.BUFFERED, DeviceKind.AUTO, Map.of());
        try (Engine engine = kind.open(settings)) {
            load(engine, NUMBERS);
            engine.settle();
        }
        int held = 0;
        for (int i = 0; i < STORES; i++) {
            int here = held(kind, parent.resolve("store-" + i));
            assertTrue(here > model.size() / STORES / 2, "each store has its part: " + i + " has " + here);
            held += here;
        }
        assertEquals(model.size(), held, "each record lies in one store");
        try (Engine engine = kind.open(settings);
                Session session = engine.session(buffer, Access.OPERATIONS)) {
            SeededRandom random = new SeededRandom(1);
            for (int i = 0; i < 3_000; i++) {
                operate(session, random, false);
            }
            for (int number = 0; number < NUMBERS; number++) {
                keys.write(number, buffer.key());
                checkGet(session, buffer.key().toArray(JAVA_BYTE));
            }
        }
    }

    /** How many of the records are in one of the stores. */
    private int held(EngineKind kind, Path store) throws IOException {
        EngineSettings settings = new EngineSettings(
                store, 1, NUMBERS, KEY_BYTES, VALUE_BYTES, 16 << 20, Durability.BUFFERED, DeviceKind.AUTO, Map.of());
        int held = 0;
        try (Engine engine = kind.open(settings);
                Session session = engine.session(buffer, Access.OPERATIONS)) {
            for (int number = 0; number < NUMBERS; number++) {
                keys.write(number, buffer.key());
                held += session.get() >= 0 ? 1 : 0;
            }
        }
        return held;
    }

    /** More than one of LMDB's load transactions, and a part of one. */
    private void load(Engine engine, int count) {
        try (Session session = engine.session(buffer, Access.LOAD)) {
            for (int number = 0; number < count; number += 2) {
                put(session, number, number);
            }
        }
    }

    private void put(Session session, long number, long version) {
        keys.write(number, buffer.key());
        Values.fill(buffer.key(), buffer.value(), version);
        session.put();
        model.put(buffer.key().toArray(JAVA_BYTE), buffer.value().toArray(JAVA_BYTE));
    }

    private void operate(Session session, SeededRandom random, boolean hasScans) {
        keys.write(random.below(NUMBERS), buffer.key());
        byte[] key = buffer.key().toArray(JAVA_BYTE);
        int kind = (int) random.below(5);
        if (kind == 0) {
            put(session, random.below(NUMBERS), random.nextLong());
        } else if (kind == 1) {
            session.delete();
            model.remove(key);
        } else if (kind == 2 && hasScans) {
            checkScan(session, key, 1 + (int) random.below(50));
        } else if (kind == 3) {
            checkMany(session, random);
        } else {
            checkGet(session, key);
        }
    }

    private void checkGet(Session session, byte[] key) {
        byte[] expected = model.get(key);
        assertEquals(expected == null ? -1 : VALUE_BYTES, session.get());
        if (expected != null) {
            assertArrayEquals(expected, buffer.result().toArray(JAVA_BYTE));
        }
    }

    private void checkMany(Session session, SeededRandom random) {
        List<byte[]> wanted = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            keys.write(random.below(NUMBERS), buffer.key());
            wanted.add(buffer.key().toArray(JAVA_BYTE));
        }
        List<byte[]> found = session.getAll(wanted, buffer);
        assertEquals(wanted.size(), found.size());
        for (int i = 0; i < wanted.size(); i++) {
            assertArrayEquals(model.get(wanted.get(i)), found.get(i));
        }
    }

    private void checkScan(Session session, byte[] from, int records) {
        List<byte[]> seen = new ArrayList<>();
        int visited = session.scan(records, length -> {
            assertEquals(VALUE_BYTES, length);
            seen.add(buffer.scannedKey().toArray(JAVA_BYTE));
            seen.add(buffer.result().toArray(JAVA_BYTE));
        });
        Iterator<Map.Entry<byte[], byte[]>> expected =
                model.tailMap(from).entrySet().iterator();
        int count = 0;
        while (count < records && expected.hasNext()) {
            Map.Entry<byte[], byte[]> entry = expected.next();
            assertArrayEquals(entry.getKey(), seen.get(2 * count));
            assertArrayEquals(entry.getValue(), seen.get(2 * count + 1));
            count++;
        }
        assertEquals(count, visited);
        assertEquals(2 * count, seen.size());
    }
}
