package dev.heartwood.concurrency;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.ByteSize;
import dev.heartwood.ClosedException;
import dev.heartwood.Durability;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreIoException;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.store.EngineEnvironment;
import dev.heartwood.engine.store.Surroundings;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.Errno;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.OperationListener;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SteppedWorkers;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Closing beside what is under way: something is stopped at one operation of a machine while the closing begins. */
class CloseBesideTest {
    private static final Path DIRECTORY = Path.of("store");
    private static final EnvironmentOptions ENVIRONMENT =
            EnvironmentOptions.builder().memory(ByteSize.mib(16)).build();
    private static final StoreOptions OPTIONS = StoreOptions.builder().build();
    private static final byte[] KEY = {1};
    private static final byte[] VALUE = {2};

    /** Stops the first operation of a kind until it is let go on; no other takes effect meanwhile. */
    private static final class Stop implements OperationListener {
        private final OperationKind kind;
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch release = new CountDownLatch(1);

        Stop(OperationKind kind) {
            this.kind = kind;
        }

        @Override
        public void before(OperationKind begun, long ordinal, String path) {
            if (begun == kind) {
                reached.countDown();
                try {
                    release.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        }
    }

    /** The opening went on while the memory that it replayed its log into was unmapped. */
    @Test
    void anEnvironmentWaitsForAStoreThatIsBeingOpened() {
        SimulatedMachine machine = killed();
        // Workers without threads: nothing else is there to wait for.
        Surroundings surroundings =
                new Surroundings(count -> new SteppedWorkers(1, count), Clock.SYSTEM, () -> 1, 2);
        Environment environment = EngineEnvironment.open(ENVIRONMENT, machine, surroundings);
        Stop stop = new Stop(OperationKind.MAP_EXISTING);
        machine.faults().listen(stop);
        Thread[] closer = new Thread[1];
        CountDownLatch closing = new CountDownLatch(1);
        Threads.run(List.of(
                () -> assertThrows(ClosedException.class, () -> environment.open(DIRECTORY, OPTIONS)),
                () -> {
                    stop.reached.await();
                    closer[0] = Thread.currentThread();
                    closing.countDown();
                    environment.close();
                    assertEquals(0, stop.release.getCount(), "closed while a store was being opened");
                    // What was opened is closed again, and nothing is lost.
                    try (Environment later = EngineEnvironment.open(ENVIRONMENT, machine);
                            KeyValueStore store = later.open(DIRECTORY, OPTIONS)) {
                        assertArrayEquals(VALUE, store.get(KEY));
                    }
                },
                () -> {
                    closing.await();
                    try {
                        while (closer[0].getState() == Thread.State.RUNNABLE) {
                            Thread.onSpinWait();
                        }
                    } finally {
                        stop.release.countDown();
                    }
                }));
    }

    /** The checkpoint of the closing had been sealed, and no log had the write. */
    @Test
    void whatIsWrittenWhileAStoreClosesIsKept() {
        keepsWhatIsWrittenWhileItCloses(new SimulatedMachine(1), KeyValueStore::close);
    }

    /** The checkpoint had been made, and no log had the write; that the file which notes the end could not be written ended the closing there. */
    @Test
    void whatIsWrittenWhileAStoreClosesIsKeptWhateverEndsTheSession() {
        SimulatedMachine machine = new SimulatedMachine(1);
        keepsWhatIsWrittenWhileItCloses(machine, store -> {
            machine.faults().fail(OperationKind.WRITE_FILE, 1, Errno.EMFILE, Duration.FOR_GOOD);
            StoreIoException told = assertThrows(StoreIoException.class, store::close);
            assertEquals("EMFILE", told.errnoName());
            machine.faults().heal();
        });
    }

    private static void keepsWhatIsWrittenWhileItCloses(SimulatedMachine machine, Consumer<KeyValueStore> closing) {
        try (Environment environment = EngineEnvironment.open(ENVIRONMENT, machine)) {
            KeyValueStore store = environment.open(DIRECTORY, OPTIONS);
            store.put(VALUE, KEY, Durability.NONE);
            Stop stop = new Stop(OperationKind.SYNC);
            machine.faults().listen(stop);
            Threads.run(List.of(() -> closing.accept(store), () -> {
                stop.reached.await();
                try {
                    store.put(KEY, VALUE, Durability.NONE);
                } finally {
                    stop.release.countDown();
                }
            }));
            KeyValueStore again = environment.open(DIRECTORY, OPTIONS);
            assertArrayEquals(KEY, again.get(VALUE));
            assertArrayEquals(VALUE, again.get(KEY));
        }
    }

    /** It returned while the first one was still making everything durable: the store was locked, and whoever opened it again refused. */
    @Test
    void whoClosesAnEnvironmentBesideAnotherWaitsForTheStores() {
        SimulatedMachine machine = new SimulatedMachine(1);
        Environment environment = EngineEnvironment.open(ENVIRONMENT, machine);
        environment.open(DIRECTORY, OPTIONS).put(KEY, VALUE);
        Stop stop = new Stop(OperationKind.SYNC);
        machine.faults().listen(stop);
        Thread[] second = new Thread[1];
        CountDownLatch closing = new CountDownLatch(1);
        Threads.run(List.of(
                environment::close,
                () -> {
                    stop.reached.await();
                    second[0] = Thread.currentThread();
                    closing.countDown();
                    environment.close();
                    assertEquals(0, stop.release.getCount(), "returned before the store was closed");
                    try (Environment later = EngineEnvironment.open(ENVIRONMENT, machine)) {
                        assertArrayEquals(VALUE, later.open(DIRECTORY, OPTIONS).get(KEY));
                    }
                },
                () -> {
                    closing.await();
                    try {
                        while (second[0].getState() == Thread.State.RUNNABLE) {
                            Thread.onSpinWait();
                        }
                    } finally {
                        stop.release.countDown();
                    }
                }));
    }

    /** A machine with a store whose process was killed, so that it has a log to replay. */
    private static SimulatedMachine killed() {
        SimulatedMachine machine = new SimulatedMachine(1);
        try (Environment environment = EngineEnvironment.open(ENVIRONMENT, machine);
                KeyValueStore store = environment.open(DIRECTORY, OPTIONS)) {
            store.put(KEY, VALUE);
            return machine.crash(CrashKind.KILL, new SplittableRandom(1));
        }
    }
}
