package dev.heartwood.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.Test;

/** Sessions that are looked for by bounds before the beginning of time, or at its end, against Kafka Streams' own store. */
class SessionBoundsTest {
    private static final Duration RETENTION = Duration.ofMinutes(5);
    private static final long[] BOUNDS = {Long.MIN_VALUE, -100_000, -1, 0, 1, 20, 100_000, Long.MAX_VALUE};
    private static final Bytes KEY = Bytes.wrap(new byte[] {'a'});
    private static final Bytes OTHER = Bytes.wrap(new byte[] {'b'});

    @Test
    void areFoundAsInKafkaStreamsOwnStore() {
        try (StorePair<SessionStore<Bytes, byte[]>> pair = new StorePair<>(
                new SplittableRandom(1),
                HeartwoodStores.persistentSessionStore("s", RETENTION),
                Stores.persistentSessionStore("s", RETENTION))) {
            for (Bytes key : List.of(KEY, OTHER)) {
                for (long start : new long[] {0, 10, 100_000}) {
                    pair.same("put", s -> {
                        s.put(new Windowed<>(key, new SessionWindow(start, start + 10)), new byte[] {(byte) start});
                        return null;
                    });
                }
            }
            for (long earliestEnd : BOUNDS) {
                for (long latestStart : BOUNDS) {
                    String bounds = " " + earliestEnd + ", " + latestStart;
                    found(pair, "key" + bounds, s -> s.findSessions(KEY, earliestEnd, latestStart));
                    found(pair, "backwards" + bounds, s -> s.backwardFindSessions(KEY, earliestEnd, latestStart));
                    found(pair, "keys" + bounds, s -> s.findSessions(KEY, OTHER, earliestEnd, latestStart));
                    found(pair, "all" + bounds, s -> s.findSessions(null, null, earliestEnd, latestStart));
                    found(pair, "backwards, all" + bounds, s -> s.backwardFindSessions(null, null, earliestEnd, latestStart));
                }
            }
        }
    }

    private static void found(
            StorePair<SessionStore<Bytes, byte[]>> pair,
            String what,
            Function<SessionStore<Bytes, byte[]>, KeyValueIterator<Windowed<Bytes>, byte[]>> find) {
        pair.same(what, store -> found(find, store));
    }

    private static Object found(
            Function<SessionStore<Bytes, byte[]>, KeyValueIterator<Windowed<Bytes>, byte[]>> find, SessionStore<Bytes, byte[]> store) {
        List<Windowed<Bytes>> sessions = new ArrayList<>();
        try (KeyValueIterator<Windowed<Bytes>, byte[]> found = find.apply(store)) {
            found.forEachRemaining(session -> sessions.add(session.key));
        } catch (IllegalArgumentException refused) {
            return refused.getMessage();
        }
        return sessions;
    }
}
