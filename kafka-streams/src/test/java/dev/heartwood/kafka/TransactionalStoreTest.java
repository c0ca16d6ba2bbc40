package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.TestDirectory;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.function.Function;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.apache.kafka.streams.state.ReadOnlySessionStore;
import org.apache.kafka.streams.state.ReadOnlyWindowStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.WindowStore;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What Kafka Streams 4.4 asks of transactional stores (KIP-892), by the names and types that it will look for: stores compiled
 * against 4.3 have methods that override its default ones.
 */
class TransactionalStoreTest {
    private static final long HOUR = 3_600_000;
    private static final Bytes KEY = Bytes.wrap("k".getBytes());
    private static final Windowed<Bytes> SESSION = new Windowed<>(KEY, new SessionWindow(0, 1));

    /** A kind of store: how it is made, written, and read through what {@code readOnly} gives. */
    enum Kind {
        KEY_VALUE(
                format -> HeartwoodKeyValueStore.of("s", format),
                (store, value) -> ((HeartwoodKeyValueStore) store).put(KEY, value),
                ReadOnlyKeyValueStore.class,
                store -> ((ReadOnlyKeyValueStore<Bytes, byte[]>) store).get(KEY)),
        WINDOW(
                format -> HeartwoodWindowStore.of(
                        "s",
                        format,
                        new HeartwoodWindowStore.WindowShape(Retention.of(HOUR), HOUR, 1_000, HeartwoodWindowStore.Duplicates.REPLACE)),
                (store, value) -> ((WindowStore<Bytes, byte[]>) store).put(KEY, value, 0),
                ReadOnlyWindowStore.class,
                store -> ((ReadOnlyWindowStore<Bytes, byte[]>) store).fetch(KEY, 0)),
        SESSION_KIND(
                format -> HeartwoodSessionStore.of("s", format, Retention.of(HOUR), HOUR),
                (store, value) -> ((SessionStore<Bytes, byte[]>) store).put(SESSION, value),
                ReadOnlySessionStore.class,
                store -> ((ReadOnlySessionStore<Bytes, byte[]>) store).fetchSession(KEY, 0, 1));

        private interface Write {
            void write(StateStore store, byte[] value);
        }

        private final Function<ValueFormat, StateStore> making;
        private final Write write;
        private final Class<?> readOnlyType;
        private final Function<Object, byte[]> read;

        Kind(Function<ValueFormat, StateStore> making, Write write, Class<?> readOnlyType, Function<Object, byte[]> read) {
            this.making = making;
            this.write = write;
            this.readOnlyType = readOnlyType;
            this.read = read;
        }
    }

    /** Calls a method as Kafka Streams would: public, by name, with the result type that the interface has. */
    private static Object call(StateStore store, Class<?> resultType, String name, Object... arguments) throws Exception {
        Class<?>[] types = arguments.length == 0 ? new Class<?>[0] : new Class<?>[] {IsolationLevel.class};
        Method method = store.getClass().getMethod(name, types);
        assertTrue(Modifier.isPublic(method.getModifiers()));
        assertEquals(resultType, method.getReturnType());
        method.setAccessible(true); // of a class that is not public
        return method.invoke(store, arguments);
    }

    private static byte[] read(Kind kind, StateStore store, IsolationLevel level) throws Exception {
        Object view = call(store, kind.readOnlyType, "readOnly", level);
        return kind.read.apply(assertInstanceOf(kind.readOnlyType, view));
    }

    /** Commits come at every commit, and nothing that was not committed is there after a close that was not clean. */
    @ParameterizedTest
    @EnumSource
    void aStoreIsWhatKafkaStreamsWillAskFor(Kind kind) throws Exception {
        for (ValueFormat format : ValueFormat.values()) {
            try (TestDirectory directory = new TestDirectory("transactional")) {
                Map<String, String> configs = Map.of(CommitMode.TRANSACTIONAL_KEY, "true");
                StoreContext context = new StoreContext(directory.path(), configs);
                StateStore store = context.open(kind.making.apply(format));
                context.processing(1, 0);
                kind.write.write(store, new byte[] {1});
                assertTrue((long) call(store, long.class, "approximateNumUncommittedBytes") > 0);
                assertNull(read(kind, store, IsolationLevel.READ_COMMITTED));
                assertArrayEquals(new byte[] {1}, read(kind, store, IsolationLevel.READ_UNCOMMITTED));
                assertEquals(Position.emptyPosition(), call(store, Position.class, "getCommittedPosition"));

                store.commit(Map.of(StoreContext.CHANGELOG, 1L));
                assertEquals(0L, call(store, long.class, "approximateNumUncommittedBytes"));
                assertArrayEquals(new byte[] {1}, read(kind, store, IsolationLevel.READ_COMMITTED));
                Position one = Position.emptyPosition().withComponent("input", 0, 1);
                assertEquals(one, call(store, Position.class, "getCommittedPosition"));

                context.processing(2, 0);
                kind.write.write(store, new byte[] {2});
                assertArrayEquals(new byte[] {1}, read(kind, store, IsolationLevel.READ_COMMITTED));
                store.close();

                store = new StoreContext(directory.path(), configs).open(kind.making.apply(format));
                assertArrayEquals(new byte[] {1}, read(kind, store, IsolationLevel.READ_UNCOMMITTED));
                assertEquals(1L, store.committedOffset(StoreContext.CHANGELOG));
                store.close();
            }
        }
    }
}
