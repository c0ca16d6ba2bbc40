package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Keys of the greatest length, of which the nodes of the trunk keep some for each run. */
class LongKeysTest {
    private static final long SEED = 5;

    /** As many memtables of one key each as a node may keep runs for. */
    private static final int KEYS = 64;

    private static final byte[] VALUE = {7};

    private static StoreOptions options(int fanout) {
        return StoreOptions.builder().memory(ByteSize.mib(32)).fanout(fanout).build();
    }

    private static byte[] key(int number) {
        return ByteBuffer.allocate(KeyValueStore.KEY_BYTES_MAX).putInt(number).array();
    }

    /** The image of such a root is named by a superblock, which was too small for all of its pages. */
    @Test
    void aRootOfManyRunsOfLongKeysIsCheckpointed() {
        for (int fanout : new int[] {8, 15}) {
            SimulatedMachine machine = new SimulatedMachine(SEED);
            KeyValueStore store = SimulatedStoreHost.open(machine, options(fanout));
            for (int i = 0; i < KEYS; i++) {
                store.put(key(i), VALUE);
                store.checkpoint();
            }
            SimulatedMachine killed = machine.crash(CrashKind.KILL, new SplittableRandom(SEED));
            store.close();
            for (SimulatedMachine found : new SimulatedMachine[] {machine, killed}) {
                try (KeyValueStore again = SimulatedStoreHost.open(found, options(fanout))) {
                    for (int i = 0; i < KEYS; i++) {
                        assertArrayEquals(VALUE, again.get(key(i)));
                    }
                    assertTrue(again.verify().isClean());
                }
            }
        }
    }
}
