package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreIoException;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.Errno;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SteppedEnvironment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Many stores in a small budget have little of their log segments in memory each; what they acknowledged survives all the same. */
class SharedLogMemoryTest {
    private static final int STORES = 16;
    private static final int KEYS = 4000;
    private static final EnvironmentOptions ENVIRONMENT =
            EnvironmentOptions.builder().memory(ByteSize.mib(16)).build();
    private static final StoreOptions OPTIONS = StoreOptions.builder().build();

    private final SplittableRandom random = new SplittableRandom(1);

    @Test
    void whatWasAcknowledgedSurvivesAKill() {
        survives(CrashKind.KILL, Durability.BUFFERED);
    }

    @Test
    void whatWasSyncedSurvivesALossOfPower() {
        survives(CrashKind.POWER_LOSS, Durability.SYNC);
    }

    private void survives(CrashKind kind, Durability durability) {
        SimulatedMachine machine = new SimulatedMachine(1);
        SimulatedMachine next;
        try (SteppedEnvironment environment = new SteppedEnvironment(1, ENVIRONMENT, machine)) {
            List<KeyValueStore> stores = open(environment);
            for (int key = 0; key < KEYS; key++) {
                boolean isLastOfStore = key >= KEYS - STORES;
                stores.get(key % STORES).put(key(key), value(key), isLastOfStore ? durability : Durability.BUFFERED);
                environment.step();
            }
            assertTrue(machine.faults().count(OperationKind.SLIDE) >= STORES);
            next = machine.crash(kind, random);
        }
        check(next, KEYS);
    }

    /** Bringing more of a segment into memory reads it, where it was used before: that write is refused, and the next is not. */
    @Test
    void aSegmentThatCannotBeReadRefusesOneWrite() {
        SimulatedMachine machine = new SimulatedMachine(1);
        SimulatedMachine next;
        int written = 0;
        try (SteppedEnvironment environment = new SteppedEnvironment(1, ENVIRONMENT, machine)) {
            List<KeyValueStore> stores = open(environment);
            machine.faults().fail(OperationKind.SLIDE, 1, Errno.EIO, Duration.ONCE);
            while (machine.faults().injected() == 0) {
                int key = written;
                try {
                    stores.get(key % STORES).put(key(key), value(key));
                    written++;
                } catch (StoreIoException e) {
                    assertEquals("EIO", e.errnoName());
                }
            }
            assertTrue(written < KEYS);
            for (; written < KEYS; written++) {
                stores.get(written % STORES).put(key(written), value(written));
            }
            next = machine.crash(CrashKind.KILL, random);
        }
        check(next, written);
    }

    private static List<KeyValueStore> open(SteppedEnvironment environment) {
        List<KeyValueStore> stores = new ArrayList<>();
        for (int store = 0; store < STORES; store++) {
            stores.add(environment.open(Path.of("store-" + store), OPTIONS));
        }
        return stores;
    }

    private static void check(SimulatedMachine machine, int keys) {
        try (SteppedEnvironment environment = new SteppedEnvironment(2, ENVIRONMENT, machine)) {
            List<KeyValueStore> stores = open(environment);
            for (int key = 0; key < keys; key++) {
                assertArrayEquals(value(key), stores.get(key % STORES).get(key(key)), "key " + key);
            }
            assertEquals(keys, stores.stream().mapToLong(SharedLogMemoryTest::count).sum());
        }
    }

    private static long count(KeyValueStore store) {
        long count = 0;
        try (Cursor cursor = store.cursor(KeyRange.all())) {
            while (cursor.next()) {
                count++;
            }
        }
        return count;
    }

    private static byte[] key(int key) {
        return ByteBuffer.allocate(4).putInt(key).array();
    }

    private static byte[] value(int key) {
        return ByteBuffer.allocate(300).putInt(key).array();
    }
}
