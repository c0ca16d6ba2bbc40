package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.heartwood.testkit.TestDirectory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.internals.SessionKeySchema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Sessions whose results are emitted when they close are older than the retention by then, which is the gap and its grace: they were not shown to
 * who emits them, and the write by which they closed could remove them.
 */
class ClosedSessionsTest {
    private static final long RETENTION = 30_000;
    private static final long SEGMENT = RETENTION / 16;
    private static final Bytes KEY = Bytes.wrap(new byte[] {7});
    private static final int SESSIONS = 5;

    private final TestDirectory directory = new TestDirectory("closed");

    @AfterEach
    void close() {
        directory.close();
    }

    private static HeartwoodSessionStore sessions() {
        return HeartwoodSessionStore.of("s", ValueFormat.PLAIN, Retention.ofClosingSessions(RETENTION), SEGMENT);
    }

    private static Windowed<Bytes> session(long end) {
        return new Windowed<>(KEY, new SessionWindow(end - 10, end));
    }

    /** As they are put: some, and one by which these are older than the retention, by up to a minute. */
    private static List<Windowed<Bytes>> written() {
        List<Windowed<Bytes>> sessions = new ArrayList<>();
        for (int i = 1; i <= SESSIONS; i++) {
            sessions.add(session(10_000L * i));
        }
        sessions.add(session(10_000 + RETENTION + 60_000));
        return sessions;
    }

    private static List<Long> ends(KeyValueIterator<Windowed<Bytes>, byte[]> found) {
        List<Long> ends = new ArrayList<>();
        try (found) {
            found.forEachRemaining(entry -> ends.add(entry.key.window().end()));
        }
        return ends;
    }

    private static void assertEmits(HeartwoodSessionStore store) {
        assertEquals(List.of(10_000L, 20_000L, 30_000L, 40_000L, 50_000L), ends(store.findSessions(0, 60_000)));
        assertEquals(List.of(20_000L, 30_000L), ends(store.findSessions(10_001, 30_000)));
        assertEquals(List.of(100_000L), ends(store.fetch(KEY)), "what has expired is shown to nobody else");
        assertNull(store.fetchSession(KEY, 10_000 - 10, 10_000));
    }

    @Test
    void areThereToBeEmitted() {
        HeartwoodSessionStore store = new StoreContext(directory.path(), Map.of()).open(sessions());
        written().forEach(session -> store.put(session, new byte[] {1}));
        assertEmits(store);
        store.table().settle();
        assertEmits(store);
        store.put(session(10_000 + RETENTION + 60_000 + SEGMENT), new byte[] {1});
        assertEquals(List.of(20_000L, 30_000L, 40_000L, 50_000L), ends(store.findSessions(0, 60_000)), "and no longer");
        store.close();
    }

    /** Late records are taken in until a session would be as old as the retention. */
    @Test
    void areWrittenUntilTheyClose() {
        HeartwoodSessionStore store = new StoreContext(directory.path(), Map.of()).open(sessions());
        store.put(session(100_000), new byte[] {1});
        store.put(session(100_000 - RETENTION), new byte[] {1});
        store.put(session(100_000 - RETENTION - 1), new byte[] {1});
        assertEquals(List.of(100_000 - RETENTION), ends(store.findSessions(0, 99_999)));
        store.close();
    }

    @Test
    void retentionsMayBeAsLongAsTheyGet() {
        assertEquals(Long.MAX_VALUE, Retention.ofClosingSessions(Long.MAX_VALUE).keptMillis());
        assertEquals(Long.MAX_VALUE, Retention.ofClosingSessions(Long.MAX_VALUE - 5).emittedMillis());
    }

    /** The store's time begins anew, and what has expired as a whole segment by the time of before does not come back. */
    @Test
    void areThereAfterARestart() {
        HeartwoodSessionStore store = new StoreContext(directory.path(), Map.of()).open(sessions());
        written().forEach(session -> store.put(session, new byte[] {1}));
        store.put(session(10_000 + RETENTION + 60_000 + SEGMENT), new byte[] {1});
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        store.close();
        new StoreContext(directory.path(), Map.of()).open(store);
        assertEquals(List.of(20_000L, 30_000L, 40_000L, 50_000L), ends(store.findSessions(0, 60_000)));
        assertEquals(List.of(20_000L, 30_000L, 40_000L, 50_000L, 100_000L, 101_875L), ends(store.fetch(KEY)));
        store.close();
    }

    @Test
    void areThereAfterARestore() {
        StoreContext context = new StoreContext(directory.path(), Map.of());
        HeartwoodSessionStore store = context.open(sessions());
        Stream<KeyValue<byte[], byte[]>> records = written().stream()
                .map(session -> KeyValue.pair(SessionKeySchema.toBinary(session).get(), new byte[] {1}));
        context.streams().restore("s", records.toList());
        assertEmits(store);
        store.close();
    }
}
