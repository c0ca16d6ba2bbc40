package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ClosedException;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

/**
 * Reads that find no frame and wait for others' calls, while the store is closed; runs in the engine that {@link ClosedBesideReadTest} has
 * loaded, which calls {@link #finds} and {@link #waits} there.
 */
public final class StoreClosedBesideRead implements Runnable {
    private static final byte[] KEY = {1};
    private static final EnvironmentOptions ENVIRONMENT =
            EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();

    private static final ThreadLocal<Read> READ = new ThreadLocal<>();

    /** A read is about to look its key up. */
    public static void finds() {
        Read read = READ.get();
        if (read != null && !read.hasFailed) {
            read.hasFailed = true;
            throw new InsufficientMemoryException("for a test");
        }
    }

    /** A call has left its epoch, and is about to wait. */
    public static void waits() {
        Read read = READ.get();
        if (read != null) {
            read.begun.countDown();
            Waits.await(read.mayGoOn);
        }
    }

    /** A read by a thread of its own. */
    private static final class Read {
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch mayGoOn = new CountDownLatch(1);
        private final Thread thread;
        private boolean hasFailed;
        private volatile Object outcome;

        Read(Supplier<byte[]> get) {
            thread = Thread.ofPlatform().start(() -> {
                READ.set(this);
                try {
                    outcome = get.get();
                } catch (RuntimeException | Error e) {
                    outcome = e;
                } finally {
                    begun.countDown();
                }
            });
            Waits.await(begun);
        }
    }

    @Override
    public void run() {
        closeBeside(store -> new Read(() -> store.get(KEY)));
        closeBeside(store -> {
            Snapshot snapshot = store.snapshot();
            return new Read(() -> snapshot.get(KEY));
        });
    }

    private interface Reader {
        Read begin(KeyValueStore store);
    }

    /** In an environment that stays open: one that belongs to the store would wait for the read when it is closed with it. */
    private static void closeBeside(Reader reader) {
        try (Environment environment = EngineAccess.open(ENVIRONMENT, new SimulatedMachine(1))) {
            KeyValueStore store = environment.open(SimulatedStoreHost.DIRECTORY, StoreOptions.defaults());
            store.put(KEY, new byte[100]);
            Read read = reader.begin(store);
            Thread closer = Thread.ofPlatform().start(store::close);
            boolean waits = false;
            while (!waits && closer.isAlive()) {
                List<String> stack = Arrays.stream(closer.getStackTrace()).map(StackTraceElement::getMethodName).toList();
                waits = stack.contains("awaitUsers") && stack.contains("parkNanos");
            }
            read.mayGoOn.countDown();
            Waits.join(read.thread);
            Waits.join(closer);
            assertTrue(waits, "the store was closed beneath a read");
            assertInstanceOf(ClosedException.class, read.outcome);
        }
    }
}
