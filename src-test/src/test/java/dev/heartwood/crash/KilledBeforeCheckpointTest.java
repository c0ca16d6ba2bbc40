package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import dev.heartwood.testkit.SteppedCallers;
import dev.heartwood.testkit.SteppedEnvironment;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * A store with a limit that is overwritten with checkpoints far apart: its log holds its records many times, and when it is opened again after a kill
 * each memtable of it is packed beside what the last checkpoint has, before anything is merged. That must fit.
 */
class KilledBeforeCheckpointTest {
    private static final int KEYS = 3_000;
    private static final int ROUNDS = 20;
    private static final int VALUE_BYTES = 1_000;

    /** Many times a memtable of 64 KiB, and a few of them fill a store. */
    private static final int LARGE_BYTES = 400_000;

    private static final int LARGE_KEYS = 8;
    private static final int LARGE_WRITES = 60;

    private static final int LARGEST_BYTES = 2_000_000;

    /** The first has the active memtable sealed, each of the others that of the one before. */
    private static final int LARGE_WAITING = 4;

    private static StoreOptions options(int checkpointDistance) {
        return StoreOptions.builder()
                .memory(EnvironmentOptions.MEMORY_MIN)
                .diskMax(ByteSize.mib(20))
                .checkpointDistance(checkpointDistance)
                .policy(CompactionPolicyKind.SIZE_TIERED)
                .build();
    }

    private static byte[] key(int i) {
        return ByteBuffer.allocate(8).putLong(i * 0x9E3779B97F4A7C15L).array();
    }

    private static byte[] value(int i, int round) {
        byte[] value = new byte[VALUE_BYTES];
        new SplittableRandom(((long) round << 32) + i).nextBytes(value);
        return value;
    }

    @Test
    void aStoreThatWasNeverShortOfSpaceIsOpenedAgain() {
        SimulatedMachine machine = new SimulatedMachine(1);
        SimulatedMachine killed;
        try (KeyValueStore store = SimulatedStoreHost.open(machine, options(1_000))) {
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < KEYS; i++) {
                    store.put(key(i), value(i, round));
                }
            }
            long packed = store.stats().memtablesSealed();
            assertTrue(packed > 40, packed + " memtables");
            killed = machine.crash(CrashKind.KILL, new SplittableRandom(1));
        }
        try (KeyValueStore store = SimulatedStoreHost.open(killed, options(1_000))) {
            for (int i = 0; i < KEYS; i++) {
                assertArrayEquals(value(i, ROUNDS - 1), store.get(key(i)), "key " + i);
            }
            store.verify();
        }
    }

    /** What a replay had packed counted twice, so that a store that was opened made checkpoints in half of the space that others have. */
    @Test
    void anOpenedStoreMakesNoCheckpointBeforeItHasTo() {
        StoreOptions options = smallMemtables(16);
        long most = untilKilled(options, Long.MAX_VALUE, Values.SMALL).packed - 1;
        assertTrue(most > 8, most + " memtables are packed before a checkpoint has to be made");
        // The replay packs what was in the active memtable, too.
        Life life = untilKilled(options, most - 1, Values.SMALL);
        assertEquals(most - 1, life.packed);
        try (SteppedCallers callers = new SteppedCallers(1);
                SteppedEnvironment environment = new SteppedEnvironment(3, OptionMatrix.environment(options), life.killed)) {
            environment.holdTime();
            KeyValueStore store = callers.call(0, () -> environment.open(SimulatedStoreHost.DIRECTORY, options));
            environment.finish();
            assertEquals(0, (long) callers.call(0, () -> store.stats().checkpoints()));
        }
    }

    /** An empty memtable takes any entry, and each was reckoned as a full one that is a small part of that: no checkpoint was made, and no opening found space. */
    @Test
    void aStoreOfLargeValuesInSmallMemtablesIsOpenedAgain() {
        StoreOptions options = smallMemtables(32);
        SimulatedMachine machine = new SimulatedMachine(4);
        try (SteppedCallers callers = new SteppedCallers(1)) {
            SimulatedMachine killed;
            long checkpoints;
            try (SteppedEnvironment environment = new SteppedEnvironment(4, OptionMatrix.environment(options), machine)) {
                environment.holdTime();
                KeyValueStore store = callers.call(0, () -> environment.open(SimulatedStoreHost.DIRECTORY, options));
                for (int i = 0; i < LARGE_WRITES; i++) {
                    int key = i % LARGE_KEYS;
                    byte[] value = random(LARGE_BYTES, i);
                    callers.call(0, () -> {
                        store.put(key(key), value);
                        environment.finish();
                        return null;
                    });
                }
                checkpoints = callers.call(0, () -> store.stats().checkpoints());
                killed = machine.crash(CrashKind.KILL, new SplittableRandom(4));
            }
            try (SteppedEnvironment environment = new SteppedEnvironment(4, OptionMatrix.environment(options), killed)) {
                KeyValueStore store = callers.call(0, () -> environment.open(SimulatedStoreHost.DIRECTORY, options));
                for (int i = LARGE_WRITES - LARGE_KEYS; i < LARGE_WRITES; i++) {
                    int key = i % LARGE_KEYS;
                    assertArrayEquals(random(LARGE_BYTES, i), callers.call(0, () -> store.get(key(key))), "write " + i);
                }
                assertTrue(checkpoints > 0 && checkpoints < LARGE_WRITES / 4, checkpoints + " checkpoints");
            }
        }
    }

    /** As many as may wait to be packed are replayed, too. */
    @Test
    void largeValuesThatWaitToBePackedFindSpaceToo() {
        StoreOptions options = smallMemtables(32).toBuilder().memory(ByteSize.mib(64)).build();
        long most = untilKilled(options, Long.MAX_VALUE, Values.LARGE).packed - 1;
        SimulatedMachine killed = untilKilled(options, most, Values.LARGE).killed;
        try (SteppedCallers callers = new SteppedCallers(1);
                SteppedEnvironment environment = new SteppedEnvironment(3, OptionMatrix.environment(options), killed)) {
            KeyValueStore store = callers.call(0, () -> environment.open(SimulatedStoreHost.DIRECTORY, options));
            assertArrayEquals(random(LARGEST_BYTES, LARGE_WAITING - 1), callers.call(0, () -> store.get(key(0))));
        }
    }

    private static StoreOptions smallMemtables(int diskMaxMib) {
        return StoreOptions.builder()
                .memory(EnvironmentOptions.MEMORY_MIN)
                .memtable(ByteSize.kib(64))
                .diskMax(ByteSize.mib(diskMaxMib))
                .checkpointDistance(1_000)
                .policy(CompactionPolicyKind.SIZE_TIERED)
                .workers(1)
                .build();
    }

    private static byte[] random(int bytes, long seed) {
        byte[] value = new byte[bytes];
        new SplittableRandom(seed).nextBytes(value);
        return value;
    }

    /** Memtables that a new store had packed, and what was left of it. */
    private record Life(long packed, SimulatedMachine killed) {}

    /** What a store is given before it is killed. */
    private enum Values {
        SMALL,
        /** To one key, again and again; and then as many as may wait to be packed. */
        LARGE
    }

    /** A store that is killed when so many memtables are packed, or a checkpoint is made. */
    private static Life untilKilled(StoreOptions options, long memtables, Values values) {
        SimulatedMachine machine = new SimulatedMachine(3);
        try (SteppedCallers callers = new SteppedCallers(1);
                SteppedEnvironment environment = new SteppedEnvironment(3, OptionMatrix.environment(options), machine)) {
            environment.holdTime();
            KeyValueStore store = callers.call(0, () -> environment.open(SimulatedStoreHost.DIRECTORY, options));
            long packed = 0;
            long checkpoints = 0;
            for (int i = 0; packed < memtables && checkpoints == 0; i++) {
                byte[] key = key(values == Values.LARGE ? 0 : i);
                byte[] value = values == Values.LARGE ? random(LARGEST_BYTES, i) : value(i, 0);
                callers.call(0, () -> {
                    store.put(key, value);
                    environment.finish();
                    return null;
                });
                packed = callers.call(0, () -> store.stats().memtablesSealed());
                checkpoints = callers.call(0, () -> store.stats().checkpoints());
            }
            // One that finds no space waits until all before it are packed, after which a checkpoint is due.
            environment.holdCheckpoints();
            for (int i = 0; values == Values.LARGE && i < LARGE_WAITING; i++) {
                byte[] value = random(LARGEST_BYTES, i);
                callers.call(0, () -> {
                    store.put(key(0), value);
                    return null;
                });
            }
            assertEquals(checkpoints, (long) callers.call(0, () -> store.stats().checkpoints()));
            SimulatedMachine killed = machine.crash(CrashKind.KILL, new SplittableRandom(3));
            environment.letCheckpointsGo();
            return new Life(packed, killed);
        }
    }

    /** Shorts of 1 look like a record's length, kind and length of its key wherever one may begin; log files that are used again are full of them. */
    @Test
    void whatOldValuesHoldIsNotTakenForRecords() {
        byte[] ones = new byte[VALUE_BYTES];
        for (int i = 0; i < VALUE_BYTES; i += 2) {
            ones[i] = 1;
        }
        SimulatedMachine machine = new SimulatedMachine(2);
        SimulatedMachine killed;
        try (KeyValueStore store = SimulatedStoreHost.open(machine, options(4))) {
            for (int i = 0; i < 3 * KEYS; i++) {
                store.put(key(i % KEYS), ones);
            }
            killed = machine.crash(CrashKind.KILL, new SplittableRandom(1));
        }
        try (KeyValueStore store = SimulatedStoreHost.open(killed, options(4))) {
            for (int i = 0; i < KEYS; i++) {
                assertArrayEquals(ones, store.get(key(i)), "key " + i);
            }
        }
    }
}
