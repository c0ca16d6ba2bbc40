package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * A replay that packs memtables reshapes the tree in memory while the superblocks still name the tree of the last checkpoint. That
 * tree was not held, so its extents were used again, and a second crash before the next checkpoint found them overwritten.
 */
class CrashAfterReplayTest {
    private static final int KEYS = 3000;

    private static final byte[] COUNTER = {1};

    private static final StoreOptions OPTIONS = StoreOptions.builder()
            .memory(ByteSize.mib(16))
            .memtable(ByteSize.kib(64))
            .fanout(4)
            .checkpointDistance(1024)
            .build();

    @Test
    void whatTheSuperblocksReachOutlivesAReplayThatPacks() {
        SimulatedMachine machine = new SimulatedMachine(1);
        SplittableRandom random = new SplittableRandom(1);
        try (KeyValueStore store = SimulatedStoreHost.open(machine, OPTIONS)) {
            write(store, 0);
            store.checkpoint();
            write(store, 1);
            machine = machine.crash(CrashKind.KILL, random);
        }
        for (int crash = 0; crash < 4; crash++) {
            try (KeyValueStore store = SimulatedStoreHost.open(machine, OPTIONS)) {
                check(store, 1 + crash);
                write(store, 2 + crash);
                machine = machine.crash(CrashKind.KILL, random);
            }
        }
        try (KeyValueStore store = SimulatedStoreHost.open(machine, OPTIONS)) {
            check(store, 5);
        }
        SimulatedStoreHost.verify(machine);
    }

    /**
     * A replay that packed memtables left the rest in memory, and settling made a checkpoint of the packed part, with the generation of the
     * checkpoint before. After a loss of power the log, of which nothing had been synced, replayed less on top of it: older entries over
     * newer ones.
     */
    @Test
    void aCheckpointOfWhatAReplayPackedIsNeverReplayedOver() {
        for (int seed = 0; seed < 8; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            SimulatedMachine machine = new SimulatedMachine(seed);
            try (KeyValueStore store = SimulatedStoreHost.open(machine, OPTIONS)) {
                for (int i = 0; i < KEYS; i++) {
                    store.put(key(i), value(i, 0));
                    store.put(COUNTER, Integer.toString(i).getBytes());
                }
                machine = machine.crash(CrashKind.KILL, random);
            }
            try (KeyValueStore store = SimulatedStoreHost.open(machine, OPTIONS)) {
                store.settle();
                machine = machine.crash(CrashKind.POWER_LOSS, random);
            }
            try (KeyValueStore store = SimulatedStoreHost.open(machine, OPTIONS)) {
                byte[] counter = store.get(COUNTER);
                int written = counter == null ? 0 : Integer.parseInt(new String(counter)) + 1;
                for (int i = 0; i < KEYS; i++) {
                    boolean isThere = store.contains(key(i));
                    assertTrue(i == written || isThere == i < written, "key " + i + " of a prefix of " + written);
                }
            }
        }
    }

    private static void write(KeyValueStore store, int round) {
        for (int i = 0; i < KEYS; i++) {
            store.put(key(i), value(i, round));
        }
    }

    private static void check(KeyValueStore store, int round) {
        for (int i = 0; i < KEYS; i++) {
            assertArrayEquals(value(i, round), store.get(key(i)));
        }
    }

    private static byte[] key(int i) {
        return String.format("key%07d", i * 7919 % KEYS).getBytes();
    }

    private static byte[] value(int i, int round) {
        byte[] value = new byte[120];
        new SplittableRandom(31L * i + round).nextBytes(value);
        return value;
    }
}
