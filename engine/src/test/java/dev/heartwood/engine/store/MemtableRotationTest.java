package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.ByteSize;
import dev.heartwood.DeviceKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.background.QueuedWorkers;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Randomness;
import dev.heartwood.engine.device.FileStorage;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who waits for room, and whom that holds up. */
class MemtableRotationTest {
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
                RotationFixture fixture = new RotationFixture(environment, directory)) {
            AtomicReference<Thread.State> signaller = new AtomicReference<>();
            environment.epochs().defer(() -> signaller.set(ended(new Thread(fixture.rotation::signalRoom))));
            fixture.rotation.awaitRoom(fixture.generations.active());
            assertEquals(Thread.State.TERMINATED, signaller.get());
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
