package dev.heartwood.concurrency;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Cursor;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.TestDirectory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Snapshots and cursors that nobody closed are named when the store closes, with the stack that opened them. */
class LeakTest {
    private static final byte[] KEY = {1};

    private final Logger logger = Logger.getLogger("dev.heartwood");
    private final List<LogRecord> records = new ArrayList<>();
    /** What the handler throws; null for nothing. */
    private IllegalStateException failure;

    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord logged) {
            records.add(logged);
            if (failure != null) {
                throw failure;
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };
    private final StoreOptions options =
            StoreOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();

    @BeforeEach
    void listen() {
        logger.addHandler(handler);
        logger.setUseParentHandlers(false);
        logger.setLevel(Level.INFO);
    }

    @AfterEach
    void stopListening() {
        logger.removeHandler(handler);
        logger.setUseParentHandlers(true);
    }

    private List<LogRecord> leaks() {
        return records.stream().filter(r -> r.getMessage().startsWith("leak")).toList();
    }

    private static void openAndForget(KeyValueStore store) {
        store.snapshot();
        store.cursor().next();
    }

    @Test
    void leaksAreNamedByTheStackThatOpenedThem() {
        try (TestDirectory directory = new TestDirectory("leaks")) {
            KeyValueStore store = Heartwood.open(directory.path(), options);
            openAndForget(store);
            store.close();
            assertEquals(2, leaks().size());
            for (LogRecord leak : leaks()) {
                assertTrue(leak.getMessage().startsWith("leak in " + directory.path() + ": a "), leak::getMessage);
                // Its thread may be about to close it.
                assertTrue(leak.getMessage().endsWith(" was still open when the store closed"), leak::getMessage);
                assertTrue(
                        Arrays.stream(leak.getThrown().getStackTrace())
                                .anyMatch(frame -> frame.getMethodName().equals("openAndForget")),
                        () -> "not the stack that opened it: " + Arrays.toString(leak.getThrown().getStackTrace()));
            }
        }
    }

    @Test
    void manyLeaksAreCounted() {
        try (TestDirectory directory = new TestDirectory("leaks")) {
            KeyValueStore store = Heartwood.open(directory.path(), options);
            for (int i = 0; i < 30; i++) {
                store.snapshot();
            }
            store.close();
            assertEquals(9, leaks().size());
            assertTrue(leaks().getLast().getMessage().endsWith(": 22 more snapshots and cursors were still open when the store closed"), leaks().getLast()::getMessage);
        }
    }

    /** Its files stayed open, and so no other open of the directory could succeed. */
    @Test
    void aStoreClosesWhenItsLeaksCannotBeReported() {
        try (TestDirectory directory = new TestDirectory("leaks")) {
            KeyValueStore store = Heartwood.open(directory.path(), options);
            store.put(KEY, KEY);
            openAndForget(store);
            failure = new IllegalStateException("for a test");
            assertSame(failure, assertThrows(IllegalStateException.class, store::close));
            assertEquals(1, leaks().size());
            try (KeyValueStore again = Heartwood.open(directory.path(), options)) {
                assertArrayEquals(KEY, again.get(KEY));
            }
        }
    }

    /** What they hold of the memory that all stores share is given back all the same. */
    @Test
    void leaksThatCannotBeReportedHoldNothing() {
        StoreOptions small = options.toBuilder().memtable(ByteSize.kib(64)).build();
        EnvironmentOptions memory = EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
        try (TestDirectory directory = new TestDirectory("leaks");
                Environment environment = Heartwood.openEnvironment(memory)) {
            KeyValueStore store = environment.open(directory.path(), small);
            for (int i = 0; i < 10; i++) {
                store.put(new byte[] {(byte) i}, new byte[40_000]);
                store.snapshot();
            }
            failure = new IllegalStateException("for a test");
            assertThrows(IllegalStateException.class, store::close);
            assertEquals(0, environment.memoryStats().memtableBytes());
        }
    }

    @Test
    void whatIsClosedIsNotReported() {
        try (TestDirectory directory = new TestDirectory("leaks")) {
            try (KeyValueStore store = Heartwood.open(directory.path(), options);
                    Snapshot snapshot = store.snapshot();
                    Cursor cursor = store.cursor()) {
                cursor.next();
                snapshot.get(new byte[] {1});
            }
            assertTrue(leaks().isEmpty(), () -> leaks().toString());
        }
    }
}
