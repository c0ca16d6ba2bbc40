package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A merge operator that throws for every key: what it was to merge is kept, and nothing waits for it. */
class ThrowingOperatorTest {
    private static final int KEYS = 1000;
    private static final int OPERANDS = 3;
    private static final ByteSize MEMTABLE = ByteSize.kib(64);

    private enum Failure {
        EXCEPTION(IllegalStateException.class),
        ASSERTION(AssertionError.class),
        MISSING_CLASS(NoClassDefFoundError.class),
        RECURSION(StackOverflowError.class);

        private final Class<? extends Throwable> thrown;

        Failure(Class<? extends Throwable> thrown) {
            this.thrown = thrown;
        }

        byte[] fail() {
            return switch (this) {
                case EXCEPTION -> throw new IllegalStateException("the user's");
                case ASSERTION -> throw new AssertionError("the user's");
                case MISSING_CLASS -> throw new NoClassDefFoundError("the user's");
                case RECURSION -> new byte[endless(1)];
            };
        }

        private static int endless(int depth) {
            return depth < 0 ? depth : endless(depth + 1) + 1;
        }
    }

    /** Counts operands, or fails: the same operator for a store either way. */
    private record Counting(Failure failure) implements MergeOperator {
        @Override
        public String name() {
            return "counting";
        }

        @Override
        public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            int before = existing == null ? 0 : existing[0];
            return failure != null ? failure.fail() : new byte[] {(byte) (before + operands.size())};
        }

        @Override
        public byte[] combine(byte[] key, List<byte[]> operands) {
            return failure != null ? failure.fail() : null;
        }
    }

    private static KeyValueStore open(SimulatedMachine machine, Failure failure) {
        return SimulatedStoreHost.open(
                machine,
                StoreOptions.builder()
                        .memory(EnvironmentOptions.MEMORY_MIN)
                        .memtable(MEMTABLE)
                        .checkpointDistance(100)
                        .mergeOperator(new Counting(failure))
                        .build());
    }

    @ParameterizedTest
    @EnumSource(Failure.class)
    void settlingEnds(Failure failure) {
        byte[] deleted = {1};
        byte[] put = {2};
        try (KeyValueStore store = open(new SimulatedMachine(1), failure)) {
            store.delete(deleted);
            store.merge(deleted, new byte[] {10});
            store.put(put, new byte[] {20});
            store.merge(put, new byte[] {30});
            store.checkpoint();
            store.settle();
            assertThrows(failure.thrown, () -> store.get(deleted));
            assertThrows(failure.thrown, () -> store.get(put));
            assertTrue(store.stats().filterFailures() > 0);
            assertEquals(0, store.stats().debtBytes());
            store.put(put, new byte[] {40});
            assertArrayEquals(new byte[] {40}, store.get(put));
        }
    }

    private static byte[] key(int i) {
        return ("key" + i).getBytes();
    }

    /** The log of a killed process is longer than a memtable, so that opening packs some of it before the store is there. */
    @ParameterizedTest
    @EnumSource(Failure.class)
    void aLogIsReplayed(Failure failure) {
        SimulatedMachine machine = new SimulatedMachine(1);
        SimulatedMachine killed;
        try (KeyValueStore store = open(machine, null)) {
            for (int i = 0; i < KEYS; i++) {
                for (int operand = 0; operand < OPERANDS; operand++) {
                    store.merge(key(i), new byte[100]);
                }
            }
            assertTrue(store.stats().userBytesWritten() > 3 * MEMTABLE.bytes(), "everything fits into a memtable");
            killed = machine.crash(CrashKind.KILL, new SplittableRandom(1));
        }
        try (KeyValueStore store = open(killed, failure)) {
            assertTrue(store.stats().filterFailures() > 0, "nothing was packed");
            assertThrows(failure.thrown, () -> store.get(key(0)));
        }
        try (KeyValueStore store = open(killed, null)) {
            for (int i = 0; i < KEYS; i++) {
                assertArrayEquals(new byte[] {OPERANDS}, store.get(key(i)), "key " + i);
            }
        }
    }
}
