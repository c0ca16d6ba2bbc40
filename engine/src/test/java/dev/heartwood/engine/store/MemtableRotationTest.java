package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.ByteSize;
import dev.heartwood.DeviceKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Randomness;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.log.LogOptions;
import dev.heartwood.engine.log.WriteAheadLog;
import dev.heartwood.engine.store.Generations.Generation;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who waits for room, and whom that holds up. */
class MemtableRotationTest {
    private static final int MEMTABLE_BYTES = 16 << 10;
    private static final LogOptions LOG = new LogOptions(32 << 10, 256 << 10);

    @TempDir
    private Path directory;

    /** Who waited for room ran it under the lock of the rotation: writers that rotate, the packer and mergers waited for it, too. */
    @Test
    void whatWasDeferredHoldsUpNobodyWhoRotates() {
        Surroundings surroundings = new Surroundings(count -> new QueuedWorkers(new ArrayDeque<>()), Clock.SYSTEM, Randomness.SYSTEM, 1);
        try (EngineEnvironment environment = EngineEnvironment.open(
                        EnvironmentOptions.builder().memory(ByteSize.mib(16)).build(),
                        path -> new FileStorage(path, DeviceKind.POSIX, IoMode.BUFFERED),
                        surroundings);
                FileStorage storage = new FileStorage(directory, DeviceKind.POSIX, IoMode.BUFFERED)) {
            storage.lock();
            Lanes lanes = new Lanes(1);
            FailStop failStop = new FailStop();
            try (WriteAheadLog log = WriteAheadLog.create(storage, 1, lanes.count(), LOG);
                    BlockDevice data = storage.openDevice("data", true)) {
                ExtentAllocator extents = new ExtentAllocator(data, Long.MAX_VALUE, 1);
                MemtableSource source = environment.memtableSource(
                        lanes.count(), MEMTABLE_BYTES, new SpacePromise.Space(extents, () -> 0, MEMTABLE_BYTES));
                Generation active = source.make(1);
                Generations generations = new Generations(active);
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
                        () -> 1);
                AtomicReference<Thread.State> signaller = new AtomicReference<>();
                environment.epochs().defer(() -> signaller.set(ended(new Thread(rotation::signalRoom))));
                rotation.awaitRoom(active);
                assertEquals(Thread.State.TERMINATED, signaller.get());
                active.release();
            }
        }
    }

    /** Starts a thread; returns its state once it has ended or waits for somebody. */
    private static Thread.State ended(Thread thread) {
        thread.start();
        Thread.State state = thread.getState();
        while (state != Thread.State.TERMINATED && state != Thread.State.WAITING) {
            Thread.onSpinWait();
            state = thread.getState();
        }
        return state;
    }
}
