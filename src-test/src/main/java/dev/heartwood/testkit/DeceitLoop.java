package dev.heartwood.testkit;

import dev.heartwood.CorruptionException;
import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.os.MemoryRegions;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;

/**
 * One life of a store, from opening what a killed process left to closing it, again and again with the first, the second, the third
 * read or write of its data file lying, until a life passes in which none does. A read gives what was written or says what is
 * damaged, at once and whenever the store is opened later; writes go on. What a read alone made up is gone with the next read, and
 * what a write did wrong is listed by verification if any read meets it. Everything runs in {@link SteppedEnvironment}s.
 */
public final class DeceitLoop {
    private static final Path DIRECTORY = SimulatedStoreHost.DIRECTORY;
    private static final int CALLERS = 2;
    private static final int FIRST_STEPS = 50;
    private static final int STEPS = 100;
    private static final int CHECKPOINT_STEPS = 20;

    /** How the device lies. */
    public enum Deceit {
        LOST_WRITE,
        MISDIRECTED_WRITE,
        MISDIRECTED_READ,
        FLIPPED_READ;

        private void arm(FaultPlan faults, long nth) {
            switch (this) {
                case LOST_WRITE -> faults.dropWrite(nth);
                case MISDIRECTED_WRITE -> faults.misdirectWrite(nth);
                case MISDIRECTED_READ -> faults.misdirectRead(nth);
                case FLIPPED_READ -> faults.flipRead(nth);
            }
        }

        private boolean isOfWrites() {
            return this == LOST_WRITE || this == MISDIRECTED_WRITE;
        }
    }

    private final long seed;
    private final StoreOptions options;
    private final SteppedCallers callers;
    private final SimulatedMachine killed;
    private long lives;
    private long noticed;
    private boolean complained;
    /** What told the lies so far: the parts of a page's header, and of its contents, that complaints named. */
    private final Set<String> tells = new TreeSet<>();

    /** A loop over the life of a seed; the callers are lent. */
    public DeceitLoop(long seed, StoreOptions options, SteppedCallers callers) {
        this.seed = seed;
        this.options = options;
        this.callers = callers;
        SimulatedMachine machine = new SimulatedMachine(seed);
        History history = newHistory();
        try (SteppedEnvironment environment = newEnvironment(machine)) {
            killed = callers.call(0, () -> {
                KeyValueStore store = environment.open(DIRECTORY, options);
                while (history.begun() < FIRST_STEPS) {
                    history.advance(store);
                    environment.step();
                }
                return copy(machine);
            });
        }
    }

    private History newHistory() {
        return new History(seed, STEPS, History.Sizes.LARGE, Durability.SYNC, Durability.BUFFERED);
    }

    private SteppedEnvironment newEnvironment(SimulatedMachine machine) {
        return new SteppedEnvironment(seed, OptionMatrix.environment(options), machine);
    }

    private SimulatedMachine copy(SimulatedMachine machine) {
        return machine.crash(CrashKind.KILL, new SplittableRandom(seed));
    }

    /** Lives so far. */
    public long lives() {
        return lives;
    }

    /** Lives in which something said that it met the lie. */
    public long noticed() {
        return noticed;
    }

    /** What complaints said was expected and not found, but for numbers. */
    public Set<String> tells() {
        return Collections.unmodifiableSet(tells);
    }

    private void complain(CorruptionException damage) {
        complained = true;
        tells.add(damage.expected().replaceAll("( 0x[0-9a-f]+| -?[0-9]+)", ""));
    }

    /** Has every single read or write lie, each in a life of its own. */
    public void run(Deceit deceit) {
        long nth = 1;
        while (runOne(deceit, nth)) {
            nth++;
        }
    }

    /** Lives a life with one lie; returns whether it was told. */
    private boolean runOne(Deceit deceit, long nth) {
        SimulatedMachine machine = copy(killed);
        deceit.arm(machine.faults(), nth);
        complained = false;
        try {
            live(deceit, machine);
        } catch (Throwable failure) {
            throw new AssertionError("with " + deceit + " number " + nth + ": " + failure, failure);
        }
        if (machine.faults().injected() == 0) {
            check(!complained, "there was no lie, and yet a complaint");
            return false;
        }
        lives++;
        noticed += complained ? 1 : 0;
        return true;
    }

    private void live(Deceit deceit, SimulatedMachine machine) {
        History history = newHistory();
        history.resumeAt(FIRST_STEPS);
        int regions = MemoryRegions.count();
        SimulatedMachine[] beforeClosing = {copy(machine)};
        try (SteppedEnvironment environment = newEnvironment(machine)) {
            KeyValueStore store;
            try {
                store = callers.call(0, () -> environment.open(DIRECTORY, options));
            } catch (CorruptionException refused) {
                complain(refused);
                store = null;
            }
            if (store != null) {
                write(store, environment, machine, history);
                beforeClosing[0] = copy(machine);
            }
        }
        check(MemoryRegions.count() == regions, "memory is left behind");
        judge(deceit, beforeClosing[0], history.state());
        judge(deceit, machine, history.state());
    }

    private void write(KeyValueStore store, SteppedEnvironment environment, SimulatedMachine machine, History history) {
        SplittableRandom random = new SplittableRandom(seed);
        callers.call(0, () -> {
            readAll(store, history.state());
            return null;
        });
        while (history.begun() < STEPS) {
            callers.call(random.nextInt(CALLERS), () -> {
                history.advance(store);
                if (history.begun() % CHECKPOINT_STEPS == 0) {
                    store.checkpoint();
                }
                environment.step();
                readSome(store, history.state(), random);
                return null;
            });
        }
        callers.call(0, () -> {
            readAll(store, history.state());
            return null;
        });
    }

    private void readSome(KeyValueStore store, NavigableMap<byte[], byte[]> expected, SplittableRandom random) {
        for (int i = 0; i < 3; i++) {
            byte[] key = History.key(random);
            read(store, key, expected.get(key));
        }
    }

    private void read(KeyValueStore store, byte[] key, byte[] expected) {
        try {
            DifferentialRun.expectValue(key, expected, store.get(key), "get");
        } catch (CorruptionException noticedIt) {
            complain(noticedIt);
        }
    }

    /** Reads every key and scans; whatever comes is right. */
    private void readAll(KeyValueStore store, NavigableMap<byte[], byte[]> expected) {
        for (Map.Entry<byte[], byte[]> entry : expected.entrySet()) {
            read(store, entry.getKey(), entry.getValue());
        }
        long scanned = 0;
        try (Cursor cursor = store.cursor()) {
            while (cursor.next()) {
                DifferentialRun.expectValue(cursor.key(), expected.get(cursor.key()), cursor.value(), "scan");
                scanned++;
            }
            check(scanned == expected.size(), "a scan gave " + scanned + " of " + expected.size() + " keys");
        } catch (CorruptionException noticedIt) {
            complain(noticedIt);
        }
        complained |= store.stats().damagedPages() > 0;
    }

    /** What the life left is opened by a machine that tells the truth. */
    private void judge(Deceit deceit, SimulatedMachine left, NavigableMap<byte[], byte[]> expected) {
        boolean before = complained;
        complained = false;
        List<String> problems;
        try (Storage storage = copy(left).storage(DIRECTORY)) {
            problems = EngineAccess.problems(storage);
        }
        try (SteppedEnvironment environment = newEnvironment(copy(left))) {
            callers.call(0, () -> {
                try {
                    readAll(environment.open(DIRECTORY, options), expected);
                } catch (CorruptionException refused) {
                    complain(refused);
                }
                return null;
            });
        }
        check(!complained || !problems.isEmpty(), "a read complained, but verification did not");
        check(deceit.isOfWrites() || problems.isEmpty(), "a read that lied left damage: " + problems);
        complained |= before || !problems.isEmpty();
    }

    private static void check(boolean holds, String complaint) {
        DifferentialRun.check(holds, () -> complaint);
    }
}
