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
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.log.LogOptions;
import dev.heartwood.engine.log.WriteAheadLog;
import dev.heartwood.engine.store.Generations.Generation;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Timer;
import dev.heartwood.engine.task.Workers;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of a writer that has left its epoch to look for room. */
class WritePathTest {
    /** So small that nobody pays for what fills it: this write path has no background to pay for. */
    private static final int MEMTABLE_BYTES = 16 << 10;

    private static final LogOptions LOG = new LogOptions(32 << 10, 256 << 10);

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
        int length = MEMTABLE_BYTES * 3 / 4;
        Operation operation = environment.operations().begin();
        try {
            operation.require(length);
            long key = operation.copy(new byte[length]);
            path.write(operation, Entries.PUT, key, 8, key + 8, length - 8, Durability.BUFFERED);
        } finally {
            operation.end();
        }
    }

    /** Closing does not wait for calls outside of their epochs: it could be closing the log while the writer rotated it. */
    @Test
    void sealsNothingOnceTheStoreCloses() throws InterruptedException {
        try (FileStorage storage = new FileStorage(directory, DeviceKind.POSIX, IoMode.BUFFERED)) {
            storage.lock();
            FailStop failStop = new FailStop();
            Lanes lanes = new Lanes(1);
            try (WriteAheadLog log = WriteAheadLog.create(storage, 1, lanes.count(), LOG);
                    BlockDevice data = storage.openDevice("data", true)) {
                AtomicLong sequence = new AtomicLong(1);
                log.rotate(1, 1);
                ExtentAllocator extents = new ExtentAllocator(data, Long.MAX_VALUE, 1);
                MemtableSource source = environment.memtableSource(
                        lanes.count(), MEMTABLE_BYTES, new SpacePromise.Space(extents, () -> 0, MEMTABLE_BYTES));
                Generations generations = new Generations(source.make(1));
                Background background = new Background(
                        environment.epochs(), environment.workers(), generations, null, null, null, failStop, null, 1);
                MemtableRotation rotation = new MemtableRotation(
                        environment.epochs(),
                        lanes,
                        log,
                        generations,
                        source,
                        failStop,
                        background.packing(),
                        environment.workers(),
                        sequence::get);
                path = new WritePath(
                        environment.epochs(),
                        environment.clock(),
                        lanes,
                        log,
                        generations,
                        source,
                        rotation,
                        failStop,
                        background,
                        new UserCode(),
                        new DeadRanges(true, () -> sequence.get() - 1),
                        sequence);
                put();
                writer.start();
                searches.await();
                rotation.close();
                mayGoOn.countDown();
                writer.join();

                assertInstanceOf(ClosedException.class, refusal.get());
                assertEquals(0, generations.sealedCount());
                // Refused if the log were in that generation already.
                log.rotate(2, 2);
                for (Generation each : generations.newestFirst()) {
                    each.release();
                }
            }
        }
    }
}
