package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.device.Storage;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is done while a sync of the log takes its time. */
class LongSyncTest {
    private static final byte[] KEY = {1};

    @TempDir
    private Path directory;

    private final AtomicReference<Runnable> duringSync = new AtomicReference<>();
    private final EngineEnvironment environment = EngineEnvironment.open(
            EnvironmentOptions.builder().memory(ByteSize.mib(16)).build(),
            path -> watched(Storage.class, new FileStorage(path, DeviceKind.POSIX, IoMode.BUFFERED)));
    private KeyValueStore store;

    @BeforeEach
    void open() {
        store = environment.open(directory, StoreOptions.builder().build());
    }

    @AfterEach
    void close() {
        environment.close();
    }

    /**
     * The storage, or a file of it; the next sync of its directory, or of a mapped one, has something happen. That of the directory comes first
     * in a store that is new, and holds no lock of the log that closing needs.
     */
    private <T> T watched(Class<T> type, T of) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
            boolean isSync = type == MappedFile.class && method.getName().equals("sync") || method.getName().equals("syncDirectory");
            Runnable event = isSync ? duringSync.getAndSet(null) : null;
            if (event != null) {
                event.run();
            }
            try {
                Object result = method.invoke(of, arguments);
                return result instanceof MappedFile file ? watched(MappedFile.class, file) : result;
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }));
    }

    /** It held back what all stores of the environment would have freed meanwhile. */
    @Test
    void holdsNothingBack() {
        Runnable[] calls = {
            () -> store.put(KEY, KEY, Durability.SYNC), store::sync, () -> store.write(store.newBatch(), Durability.SYNC)
        };
        for (Runnable call : calls) {
            store.put(KEY, KEY, Durability.BUFFERED);
            boolean[] hasPassed = {false};
            // One thread: no other call is active.
            duringSync.set(() -> hasPassed[0] = environment.epochs().passed(environment.epochs().advance()));
            call.run();
            assertTrue(hasPassed[0]);
        }
    }

    @Test
    void isWaitedForByWhoCloses() throws InterruptedException {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread closing = Thread.ofPlatform().unstarted(() -> {
            try {
                store.close();
            } catch (Throwable e) {
                failure.set(e);
            }
        });
        boolean[] hasWaited = {false};
        duringSync.set(() -> {
            closing.start();
            boolean isClosingLog = false;
            while (closing.isAlive() && !isClosingLog && !hasWaited[0]) {
                hasWaited[0] = isIn(closing, "awaitUsers", "StoreLifecycle");
                isClosingLog = isIn(closing, "syncAndMark", "WriteAheadLog");
            }
        });
        store.put(KEY, KEY, Durability.SYNC);
        closing.join();
        assertEquals(null, failure.get());
        assertTrue(hasWaited[0], "the log was closed under the sync");
        try (KeyValueStore again = environment.open(directory, StoreOptions.builder().build())) {
            assertArrayEquals(KEY, again.get(KEY));
        }
    }

    /** Whether the thread is in a method that a method of a class has called. */
    static boolean isIn(Thread thread, String method, String caller) {
        StackTraceElement[] frames = thread.getStackTrace();
        return IntStream.range(1, frames.length)
                .anyMatch(i -> frames[i - 1].getMethodName().equals(method) && frames[i].getClassName().endsWith("." + caller));
    }
}
