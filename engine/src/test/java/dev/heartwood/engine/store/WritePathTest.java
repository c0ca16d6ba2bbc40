package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.heartwood.ByteSize;
import dev.heartwood.ClosedException;
import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Randomness;
import dev.heartwood.engine.call.Operation;
import dev.heartwood.engine.call.UserCode;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Timer;
import dev.heartwood.engine.task.Workers;
import dev.heartwood.engine.write.DeadRanges;
import dev.heartwood.engine.write.WritePath;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of a writer that has left its epoch to look for room. */
class WritePathTest {
    @TempDir
    private Path directory;

    private final CountDownLatch searches = new CountDownLatch(1);
    private final CountDownLatch mayGoOn = new CountDownLatch(1);
    private final AtomicReference<Throwable> refusal = new AtomicReference<>();
    private final Thread writer = new Thread(() -> {
        try {
            put();
        } catch (Throwable e) {
            refusal.set(e);
        }
    });
    private final EngineEnvironment environment = EngineEnvironment.open(
            EnvironmentOptions.builder().memory(ByteSize.mib(16)).build(),
            path -> new FileStorage(path, DeviceKind.POSIX, IoMode.BUFFERED),
            new Surroundings(count -> new Idle(), this::nanoTime, Randomness.SYSTEM, 1));
    private WritePath path;

    /** Workers that do nothing. */
    private static final class Idle implements Workers {
        @Override
        public void submit(Priority priority, Runnable task) {}

        @Override
        public Timer timer(Priority priority, Runnable task) {
            return delayNanos -> {};
        }

        @Override
        public int count() {
            return 1;
        }

        @Override
        public void close() {}
    }

    @AfterEach
    void close() {
        environment.close();
    }

    /** The first time that the writer asks for is that at which its search for room begins. */
    private long nanoTime() {
        if (Thread.currentThread() == writer) {
            searches.countDown();
            try {
                mayGoOn.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
        return Clock.SYSTEM.nanoTime();
    }

    /** Writes more than half a memtable. */
    private void put() {
        int length = RotationFixture.MEMTABLE_BYTES * 3 / 4;
        Operation operation = environment.operations().begin();
        try {
            operation.require(Operation.Copied.WRITE, length);
            long key = operation.copy(new byte[length]);
            path.write(operation, Entries.PUT, key, 8, key + 8, length - 8, Durability.BUFFERED);
        } finally {
            operation.end();
        }
    }

    /** Closing does not wait for calls outside of their epochs: it could be closing the log while the writer rotated it. */
    @Test
    void sealsNothingOnceTheStoreCloses() throws InterruptedException {
        try (RotationFixture fixture = new RotationFixture(environment, directory)) {
            path = new WritePath(
                    environment.epochs(),
                    environment.clock(),
                    fixture.lanes,
                    fixture.log,
                    fixture.generations,
                    fixture.source,
                    fixture.rotation,
                    fixture.failStop,
                    fixture.background,
                    new UserCode(),
                    new DeadRanges(true, () -> fixture.sequence.get() - 1),
                    fixture.sequence);
            put();
            writer.start();
            searches.await();
            fixture.rotation.close();
            mayGoOn.countDown();
            writer.join();

            assertInstanceOf(ClosedException.class, refusal.get());
            assertEquals(0, fixture.generations.sealedCount());
            // Refused if the log were in that generation already.
            fixture.log.rotate(2, 2);
        }
    }
}
