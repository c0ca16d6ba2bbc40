package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionFilter;
import dev.heartwood.Cursor;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyOrder;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.StoreOptions;
import dev.heartwood.WriteBatch;
import dev.heartwood.engine.store.EngineEnvironment;
import dev.heartwood.testkit.SimulatedMachine;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Operators and filters that call back into the store: they read it, and what might wait for the merge or the call that they are part of
 * is refused. A filter that put into its store had the packer wait for memory that its own merge held, and every writer for ever; one that
 * closed its store waited for itself.
 */
class CallsFromUserCodeTest {
    private static final EnvironmentOptions ENVIRONMENT =
            EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
    private static final byte[] KEY = {1};
    private static final byte[] VALUE = {2};
    private static final int KEYS = 1000;
    private static final int ROUNDS = 8;
    private static final int LARGE_BATCH = 40_000;

    private final Environment environment = EngineEnvironment.open(ENVIRONMENT, new SimulatedMachine(1));
    private final KeyValueStore other = environment.open(Path.of("other"), StoreOptions.builder().build());
    private KeyValueStore store;
    private final AtomicInteger called = new AtomicInteger();
    private volatile String unexpected;

    /** What calls back. */
    private enum Place {
        OPERATOR_IN_READ,
        OPERATOR_IN_BACKGROUND,
        FILTER
    }

    private final class Calling implements MergeOperator {
        @Override
        public String name() {
            return "calling";
        }

        @Override
        public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            callBack();
            return operands.getLast();
        }

        @Override
        public byte[] combine(byte[] key, List<byte[]> operands) {
            callBack();
            return operands.getLast();
        }
    }

    private final class CallingFilter implements CompactionFilter {
        @Override
        public String name() {
            return "calling";
        }

        @Override
        public Decision filter(MemorySegment key, MemorySegment value) {
            callBack();
            return Decision.KEEP;
        }
    }

    /** First what would end also if it were not refused, and the rest only if that is: so that a failure is none that hangs. */
    private void callBack() {
        if (called.incrementAndGet() > 1) {
            return;
        }
        try {
            assertArrayEquals(VALUE, other.get(KEY));
            assertArrayEquals(VALUE, store.get(KEY));
            try (Cursor cursor = store.cursor()) {
                assertTrue(cursor.next());
            }
            refuse(callsOn(other));
            refuse(callsOn(store));
            refuse(Map.of(
                    "open", () -> environment.open(Path.of("third"), StoreOptions.builder().build()),
                    "close of the environment", environment::close));
        } catch (RuntimeException | Error e) {
            unexpected = e.toString();
        }
    }

    private static Map<String, Runnable> callsOn(KeyValueStore store) {
        Map<String, Runnable> calls = new LinkedHashMap<>();
        calls.put("put", () -> store.put(KEY, VALUE));
        calls.put("delete", () -> store.delete(VALUE));
        calls.put("write", () -> {
            try (WriteBatch batch = store.newBatch()) {
                batch.put(KEY, VALUE);
                store.write(batch);
            }
        });
        // Not as too large, which it is for any memtable.
        calls.put("write of a large batch", () -> {
            try (WriteBatch batch = store.newBatch()) {
                for (int i = 0; i < LARGE_BATCH; i++) {
                    batch.delete(KEY);
                }
                store.write(batch);
            }
        });
        calls.put("discard", () -> store.discard(KeyRange.all()));
        calls.put("sync", store::sync);
        calls.put("tune", () -> store.tune(store.tuning()));
        calls.put("checkpoint", store::checkpoint);
        calls.put("backup", () -> store.backup(Path.of("copy")));
        calls.put("settle", store::settle);
        calls.put("close", store::close);
        return calls;
    }

    private static void refuse(Map<String, Runnable> calls) {
        calls.forEach((name, call) -> {
            try {
                call.run();
            } catch (IllegalStateException refused) {
                return;
            }
            throw new AssertionError(name + " was not refused");
        });
    }

    @ParameterizedTest
    @EnumSource(Place.class)
    void whatMayWaitForItselfIsRefused(Place place) {
        callFrom(place, KeyOrder.SORTED);
    }

    @ParameterizedTest
    @EnumSource(Place.class)
    void alsoWhereKeysAreHashed(Place place) {
        callFrom(place, KeyOrder.HASHED);
    }

    private void callFrom(Place place, KeyOrder order) {
        StoreOptions.Builder options =
                StoreOptions.builder().memtable(ByteSize.kib(64)).keyOrder(order).mergeOperator(new Calling());
        if (place == Place.FILTER) {
            options.compactionFilter(new CallingFilter());
        }
        try (environment) {
            store = environment.open(Path.of("store"), options.build());
            other.put(KEY, VALUE);
            store.put(KEY, VALUE);
            switch (place) {
                case OPERATOR_IN_READ -> {
                    store.merge(VALUE, VALUE);
                    assertArrayEquals(VALUE, store.get(VALUE));
                }
                case OPERATOR_IN_BACKGROUND -> {
                    store.merge(VALUE, VALUE);
                    store.merge(VALUE, VALUE);
                    store.checkpoint();
                }
                case FILTER -> {
                    for (int i = 0; i < ROUNDS * KEYS; i++) {
                        store.put(("key" + i % KEYS).getBytes(), new byte[100]);
                    }
                    store.settle();
                }
            }
            assertTrue(called.get() > 0, "nothing was called");
            assertEquals(null, unexpected);
            // No thread is taken for one that is in user code any more.
            store.put(KEY, VALUE);
            store.settle();
        }
    }
}
