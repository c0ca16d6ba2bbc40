package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Durability;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreException;
import dev.heartwood.StoreOptions;
import dev.heartwood.TooLargeException;
import dev.heartwood.engine.os.MemoryRegions;
import dev.heartwood.engine.store.EngineEnvironment;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.SimulatedMachine;
import java.nio.file.Path;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * An error that strikes once it is armed, and what is done meanwhile; runs in the engine that {@link PlantedErrorTest} has loaded, in
 * which a method begins with {@link #strike}.
 */
public final class PlantedError {
    private static final Path DIRECTORY = Path.of("store");
    private static final EnvironmentOptions ENVIRONMENT =
            EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
    private static final StoreOptions OPTIONS =
            StoreOptions.builder().memtable(ByteSize.kib(64)).build();

    private static final byte[] KEY = {1};
    /** Two of them do not fit into a memtable. */
    private static final byte[] VALUE = new byte[40_000];

    /** How many calls from now it strikes; 0 when it does not. */
    private static int armed;

    /** What it throws. */
    private static RuntimeException failure;

    private PlantedError() {}

    /** Throws, if it is armed and it is time, and is armed no more. */
    public static synchronized void strike() {
        if (armed > 0 && --armed == 0) {
            if (failure != null) {
                throw failure;
            }
            throw new InternalError("for a test");
        }
    }

    private static void arm() {
        arm(1);
    }

    private static synchronized void arm(int calls) {
        armed = calls;
        failure = null;
    }

    private static synchronized void arm(RuntimeException thrown) {
        armed = 1;
        failure = thrown;
    }

    private static synchronized boolean isArmed() {
        return armed > 0;
    }

    /** Arms it no more; returns whether it was armed still. */
    private static synchronized boolean disarm() {
        boolean was = armed > 0;
        armed = 0;
        return was;
    }

    /** Strikes while an environment is opened; neither threads nor memory are left of it. */
    public static final class WhileOpeningAnEnvironment implements Runnable {
        @Override
        public void run() {
            openWithAnErrorAt(1);
        }
    }

    /** As {@link WhileOpeningAnEnvironment}, the second time. */
    public static final class WhileOpeningAnEnvironmentLater implements Runnable {
        @Override
        public void run() {
            openWithAnErrorAt(2);
        }
    }

    private static void openWithAnErrorAt(int call) {
        int regions = MemoryRegions.count();
        Set<Thread> threads = workers();
        arm(call);
        assertThrows(InternalError.class, () -> EngineEnvironment.open(ENVIRONMENT, new SimulatedMachine(1)));
        assertEquals(regions, MemoryRegions.count());
        assertEquals(threads, workers());
    }

    /** Those of this environment, and of others. */
    private static Set<Thread> workers() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("heartwood-"))
                .collect(Collectors.toSet());
    }

    /** Strikes while a store is closed; another opens with what that one held. */
    public static final class WhileClosing implements Runnable {
        @Override
        public void run() {
            try (Environment environment = EngineEnvironment.open(ENVIRONMENT, new SimulatedMachine(1))) {
                int regions = MemoryRegions.count();
                KeyValueStore store = environment.open(DIRECTORY, OPTIONS);
                store.put(KEY, KEY);
                arm();
                assertThrows(InternalError.class, store::close);
                assertEquals(regions, MemoryRegions.count());
                try (KeyValueStore again = environment.open(DIRECTORY, OPTIONS)) {
                    assertArrayEquals(KEY, again.get(KEY));
                }
            }
        }
    }

    /** Strikes while a store is opened whose log has something; it opens the next time, with that, and nothing is left of the first. */
    public static final class WhileOpening implements Runnable {
        @Override
        public void run() {
            SimulatedMachine machine = new SimulatedMachine(1);
            SimulatedMachine killed;
            try (Environment environment = EngineEnvironment.open(ENVIRONMENT, machine);
                    KeyValueStore store = environment.open(DIRECTORY, OPTIONS)) {
                store.put(KEY, KEY);
                killed = machine.crash(CrashKind.KILL, new SplittableRandom(1));
            }
            try (Environment environment = EngineEnvironment.open(ENVIRONMENT, killed)) {
                int regions = MemoryRegions.count();
                arm();
                assertThrows(InternalError.class, () -> environment.open(DIRECTORY, OPTIONS));
                assertEquals(regions, MemoryRegions.count());
                assertEquals(0, environment.memoryStats().memtableBytes());
                try (KeyValueStore store = environment.open(DIRECTORY, OPTIONS)) {
                    assertArrayEquals(KEY, store.get(KEY));
                }
            }
        }
    }

    /** Strikes while snapshots are opened. */
    public static final class WhileOpeningSnapshots implements Runnable {
        @Override
        public void run() {
            openAgainAndAgain(KeyValueStore::snapshot);
        }
    }

    /** Strikes while cursors are opened. */
    public static final class WhileOpeningCursors implements Runnable {
        @Override
        public void run() {
            openAgainAndAgain(KeyValueStore::cursor);
        }
    }

    /** What was not opened holds no memtable: all of them together would take more than the memory there is. */
    private static void openAgainAndAgain(Consumer<KeyValueStore> opening) {
        try (Environment environment = EngineEnvironment.open(ENVIRONMENT, new SimulatedMachine(1))) {
            KeyValueStore store = environment.open(DIRECTORY, OPTIONS);
            long bytes = 0;
            while (bytes < 2 * ENVIRONMENT.memory().bytes()) {
                store.put(KEY, VALUE, Durability.NONE);
                bytes += VALUE.length;
                arm();
                assertThrows(InternalError.class, () -> opening.accept(store));
            }
            assertEquals(0, store.stats().snapshots());
            store.close();
            assertEquals(0, environment.memoryStats().memtableBytes());
        }
    }

    /** Strikes while a range is discarded, once the tree has let go of it: no cached record shows what lay there. */
    public static final class WhileDiscarding implements Runnable {
        @Override
        public void run() {
            try (Environment environment = EngineEnvironment.open(ENVIRONMENT, new SimulatedMachine(1));
                    KeyValueStore store = environment.open(DIRECTORY, OPTIONS)) {
                store.put(KEY, KEY);
                store.checkpoint();
                for (int i = 0; i < 3; i++) {
                    assertArrayEquals(KEY, store.get(KEY));
                }
                assertTrue(store.stats().recordHits() > 0);
                arm();
                assertThrows(InternalError.class, () -> store.discard(KeyRange.all()));
                assertNull(store.get(KEY));
            }
        }
    }

    /** Strikes while a range is discarded, as it is looked up what merges owe then; it is free once it is discarded again. */
    public static final class BeforeDiscarding implements Runnable {
        @Override
        public void run() {
            assertEquals(bytesLeft(false), bytesLeft(true));
        }

        private static long bytesLeft(boolean strikes) {
            try (Environment environment = EngineEnvironment.open(ENVIRONMENT, new SimulatedMachine(1));
                    KeyValueStore store = environment.open(DIRECTORY, OPTIONS)) {
                store.put(KEY, VALUE);
                store.checkpoint();
                store.settle();
                if (strikes) {
                    arm();
                    assertThrows(InternalError.class, () -> store.discard(KeyRange.all()));
                }
                store.discard(KeyRange.all());
                store.settle();
                return store.stats().liveBytes();
            }
        }
    }

    /** A node is too large to be written, in a checkpoint that was asked for and in one of the background: the store goes on, and makes it later. */
    public static final class WhileWritingNodes implements Runnable {
        @Override
        public void run() {
            SimulatedMachine machine = new SimulatedMachine(1);
            try (Environment environment = EngineEnvironment.open(ENVIRONMENT, machine)) {
                try (KeyValueStore store = environment.open(DIRECTORY, OPTIONS)) {
                    store.put(KEY, VALUE);
                    arm(new TooLargeException("trunk node", 2, 1));
                    assertThrows(TooLargeException.class, store::checkpoint);
                    arm(new TooLargeException("trunk node", 2, 1));
                    while (isArmed()) {
                        store.put(KEY, VALUE);
                    }
                    store.put(KEY, KEY);
                    store.checkpoint();
                }
                try (KeyValueStore store = environment.open(DIRECTORY, OPTIONS)) {
                    assertArrayEquals(KEY, store.get(KEY));
                }
            }
        }
    }

    /** Strikes while memtables are packed, at the first call, the second, the third; no memtable's memory is lost. */
    public static final class WhilePacking implements Runnable {
        @Override
        public void run() {
            int call = 1;
            while (pack(call)) {
                call++;
            }
            assertTrue(call > 1, "nothing was struck");
        }

        /** Returns whether there was such a call. */
        private static boolean pack(int call) {
            boolean struck;
            try (Environment environment = EngineEnvironment.open(ENVIRONMENT, new SimulatedMachine(1))) {
                arm(call);
                KeyValueStore store = environment.open(DIRECTORY, OPTIONS);
                for (int i = 0; i < 4; i++) {
                    mayFail(() -> store.put(KEY, VALUE));
                }
                mayFail(store::close);
                struck = !disarm();
                // What is due to be given back is, by who packs.
                try (KeyValueStore other = environment.open(Path.of("other"), OPTIONS)) {
                    other.put(KEY, KEY);
                }
                assertEquals(0, environment.memoryStats().memtableBytes());
            }
            return struck;
        }

        /** It may strike here, or in the background, after which the store takes no more. */
        private static void mayFail(Runnable call) {
            try {
                call.run();
            } catch (StoreException | InternalError struck) {
                // What counts is what is left afterwards.
            }
        }
    }
}
