package dev.heartwood.engine.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.DeviceKind;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.device.Storage;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two backups of a store, to two directories, that end together. */
class MadeBackupsTest {
    private final AtomicReference<Thread> other = new AtomicReference<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    /** The later one's note was lost with the earlier one's, or its file taken away under its hands, which failed a backup that was complete. */
    @Test
    void bothAreRemembered(@TempDir Path directory) throws InterruptedException {
        try (Storage files = new FileStorage(directory, DeviceKind.POSIX, IoMode.BUFFERED)) {
            MadeBackups.add(writingBesideAnother(files), 1, 10);
            other.get().join();
            assertEquals(null, failure.get());
            assertEquals(Map.of(1L, 10L, 2L, 20L), MadeBackups.read(files));
        }
    }

    /** The files; whoever first writes one has another backup end beside it, or get as far as it may. */
    private Storage writingBesideAnother(Storage files) {
        Storage[] seen = new Storage[1];
        seen[0] = (Storage) Proxy.newProxyInstance(Storage.class.getClassLoader(), new Class<?>[] {Storage.class}, (p, method, arguments) -> {
            if (method.getName().equals("writeFile") && other.get() == null) {
                endBeside(seen[0]);
            }
            try {
                return method.invoke(files, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
        return seen[0];
    }

    private void endBeside(Storage files) {
        Thread thread = Thread.ofPlatform().unstarted(() -> {
            try {
                MadeBackups.add(files, 2, 20);
            } catch (Throwable e) {
                failure.set(e);
            }
        });
        other.set(thread);
        thread.start();
        while (thread.isAlive() && thread.getState() != Thread.State.BLOCKED) {
            Thread.onSpinWait();
        }
    }
}
