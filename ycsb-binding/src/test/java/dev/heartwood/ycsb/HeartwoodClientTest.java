package dev.heartwood.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.TooLargeException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.Vector;
import org.junit.jupiter.api.Test;
import site.ycsb.ByteIterator;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

class HeartwoodClientTest {
    private static final String TABLE = "usertable";

    private final FakeStore fake = new FakeStore();
    private final Tables tables = new Tables(name -> fake.store(), () -> {});
    private final HeartwoodClient client = new HeartwoodClient(tables);

    @Test
    void readsAllFieldsOrThoseAskedFor() {
        assertEquals(Status.OK, client.insert(TABLE, "k1", fields("field0", "a", "field1", "", "field2", "ccc")));
        assertEquals(Map.of("field0", "a", "field1", "", "field2", "ccc"), read("k1", null));
        assertEquals(Map.of("field2", "ccc"), read("k1", Set.of("field2", "field9")));
        assertEquals(Map.of(), read("k1", Set.of()));
    }

    @Test
    void updatesKeepTheOtherFields() {
        client.insert(TABLE, "k1", fields("field0", "a", "field1", "b"));
        assertEquals(Status.OK, client.update(TABLE, "k1", fields("field1", "B", "field2", "c")));
        assertEquals(Map.of("field0", "a", "field1", "B", "field2", "c"), read("k1", null));
    }

    @Test
    void absentKeysAreNotFound() {
        assertEquals(Status.NOT_FOUND, client.read(TABLE, "none", null, new HashMap<>()));
        assertEquals(Status.NOT_FOUND, client.update(TABLE, "none", fields("field0", "a")));
        assertEquals(Status.NOT_FOUND, client.delete(TABLE, "none"));
        assertEquals(Map.of(), fake.contents());
    }

    /** Whoever runs without a load sees none but these; a delete has nothing more to do. */
    @Test
    void absentRecordsAreCountedButThoseThatAreDeleted() {
        client.insert(TABLE, "k2", fields("field0", "a"));
        long before = Failures.absentRecords();
        client.delete(TABLE, "k1");
        client.read(TABLE, "k2", null, new HashMap<>());
        client.update(TABLE, "k2", fields("field0", "b"));
        client.scan(TABLE, "k2", 2, null, new Vector<>());
        assertEquals(0, Failures.absentRecords() - before);
        client.read(TABLE, "k1", null, new HashMap<>());
        assertEquals(1, Failures.absentRecords() - before);
        client.update(TABLE, "k1", fields("field0", "a"));
        assertEquals(2, Failures.absentRecords() - before);
        client.scan(TABLE, "k1", 2, null, new Vector<>());
        assertEquals(3, Failures.absentRecords() - before, "k2 is found, and not k1");
        client.scan(TABLE, "k3", 2, null, new Vector<>());
        assertEquals(4, Failures.absentRecords() - before);
    }

    @Test
    void deletesRemove() {
        client.insert(TABLE, "k1", fields("field0", "a"));
        assertEquals(Status.OK, client.delete(TABLE, "k1"));
        assertEquals(Status.NOT_FOUND, client.read(TABLE, "k1", null, new HashMap<>()));
    }

    @Test
    void scansBeginAtTheKeyAndProject() {
        for (int i = 0; i < 10; i++) {
            client.insert(TABLE, "k" + i, fields("field0", "a" + i, "field1", "b" + i));
        }
        Vector<HashMap<String, ByteIterator>> rows = new Vector<>();
        assertEquals(Status.OK, client.scan(TABLE, "k3", 4, Set.of("field1"), rows));
        List<Map<String, String>> seen = new ArrayList<>();
        rows.forEach(row -> seen.add(text(row)));
        assertEquals(
                List.of(Map.of("field1", "b3"), Map.of("field1", "b4"), Map.of("field1", "b5"), Map.of("field1", "b6")),
                seen);
        rows.clear();
        assertEquals(Status.OK, client.scan(TABLE, "k8", 100, null, rows));
        assertEquals(2, rows.size());
        assertEquals(Map.of("field0", "a9", "field1", "b9"), text(rows.get(1)));
    }

    @Test
    void updatesOfDifferentFieldsByManyThreadsAreAllKept() throws InterruptedException {
        client.insert(TABLE, "k", fields("start", "0"));
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            HeartwoodClient own = new HeartwoodClient(tables);
            String prefix = "t" + t + "-";
            threads.add(Thread.ofPlatform().start(() -> {
                for (int i = 0; i < 100; i++) {
                    own.update(TABLE, "k", fields(prefix + i, "x"));
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(401, read("k", null).size());
    }

    @Test
    void failuresHaveTheirStatusAndAreCounted() throws Exception {
        long before = Failures.operations();
        client.insert(TABLE, "k1", fields("field0", "a"));
        fake.contents().replaceAll((key, value) -> new byte[] {(byte) 0xff, 1});
        assertEquals(Status.ERROR, client.read(TABLE, "k1", null, new HashMap<>()), "not a record");
        fake.failWith(new TooLargeException("a key", 70_000, 65_536));
        assertEquals(Status.BAD_REQUEST, client.insert(TABLE, "k1", fields("field0", "a")));
        fake.failWith(new IllegalStateException("a failure nobody thought of"));
        assertEquals(Status.ERROR, client.delete(TABLE, "k1"));
        fake.failWith(null);
        assertEquals(Status.NOT_FOUND, client.read(TABLE, "none", null, new HashMap<>()), "no failure");
        tables.table(TABLE).close();
        assertEquals(Status.SERVICE_UNAVAILABLE, client.read(TABLE, "k1", null, new HashMap<>()));
        assertEquals(4, Failures.operations() - before);
    }

    @Test
    void fieldsOfEveryLengthComeBack() {
        Map<String, byte[]> record = new TreeMap<>();
        for (int length : new int[] {0, 1, 127, 128, 16_383, 16_384, 100_000}) {
            record.put("length" + length, new byte[length]);
        }
        Map<String, byte[]> decoded = FieldCodec.decode(FieldCodec.encode(record));
        assertEquals(record.keySet(), decoded.keySet());
        decoded.forEach((name, bytes) -> assertEquals("length" + bytes.length, name));
        byte[] value = FieldCodec.encode(Map.of("a", new byte[200]));
        assertTrue(value.length == 204, "one and two bytes of length: " + value.length);
    }

    private Map<String, String> read(String key, Set<String> fields) {
        Map<String, ByteIterator> result = new HashMap<>();
        assertEquals(Status.OK, client.read(TABLE, key, fields, result));
        return text(result);
    }

    private static Map<String, String> text(Map<String, ByteIterator> fields) {
        Map<String, String> text = new TreeMap<>();
        fields.forEach((name, value) -> text.put(name, value.toString()));
        return text;
    }

    private static Map<String, ByteIterator> fields(String... namesAndValues) {
        Map<String, ByteIterator> fields = new TreeMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            fields.put(namesAndValues[i], new StringByteIterator(namesAndValues[i + 1]));
        }
        return fields;
    }
}
