package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.ClosedException;
import dev.heartwood.DeviceKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.device.Storage;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store that is closed while a writer looks for space. */
class ClosedWhileFullTest {
    private static final byte[] VALUE = new byte[4000];

    @TempDir
    private Path directory;

    private final Thread writer = Thread.currentThread();
    private final AtomicReference<Runnable> duringDeletion = new AtomicReference<>();
    private volatile boolean isFull;
    private final EngineEnvironment environment = EngineEnvironment.open(
            EnvironmentOptions.builder().memory(ByteSize.mib(16)).build(),
            path -> watched(new FileStorage(path, DeviceKind.POSIX, IoMode.BUFFERED)));
    private int written;

    @AfterEach
    void close() {
        environment.close();
    }

    /** The storage, which maps no segment once it is full; the writer's next deletion of one that the log has kept has something happen. */
    private Storage watched(Storage of) {
        return (Storage) Proxy.newProxyInstance(Storage.class.getClassLoader(), new Class<?>[] {Storage.class}, (proxy, method, arguments) -> {
            if (isFull && method.getName().equals("openMapped")) {
                throw new NoSpaceException("simulated");
            }
            if (method.getName().equals("delete") && LongSyncTest.isIn(writer, "returnFreeSpace", "WritePath$RoomSearch")) {
                Runnable event = duringDeletion.getAndSet(null);
                if (event != null) {
                    event.run();
                }
            }
            try {
                return method.invoke(of, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }

    private void fill(KeyValueStore store, int records) {
        for (int i = 0; i < records; i++) {
            store.put(ByteBuffer.allocate(Integer.BYTES).putInt(written++).array(), VALUE);
        }
    }

    /** It deleted files of a directory that was another's by then. */
    @Test
    void whoDeletesWhatTheLogKeepsIsWaitedFor() throws InterruptedException {
        KeyValueStore store = environment.open(directory, StoreOptions.builder().memtable(ByteSize.mib(1)).build());
        for (int i = 0; i < 3; i++) {
            fill(store, 400);
            store.checkpoint();
        }
        Thread closing = Thread.ofPlatform().unstarted(store::close);
        boolean[] hasWaited = {false};
        duringDeletion.set(() -> {
            closing.start();
            while (closing.isAlive() && !hasWaited[0]) {
                hasWaited[0] = LongSyncTest.isIn(closing, "awaitUsers", "StoreLifecycle");
            }
        });
        isFull = true;
        assertThrows(ClosedException.class, () -> fill(store, 10_000));
        assertEquals(null, duringDeletion.get());
        closing.join();
        assertTrue(hasWaited[0], "the log was closed under the deletion");
    }
}
