package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A merge operator that adds up in the arrays that it is given, and takes operands off their list, before it fails: nothing of that is kept. */
class ChangingOperatorTest {
    private static final byte[] ON_VALUE = {1};
    private static final byte[] ON_NOTHING_KNOWN = {2};

    /** Adds operands; fails as long as it is told to. */
    private static final class Adding implements MergeOperator {
        private volatile boolean fails;

        @Override
        public String name() {
            return "adding";
        }

        @Override
        public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            byte[] sum = existing == null ? new byte[1] : existing;
            return sum(sum, operands);
        }

        @Override
        public byte[] combine(byte[] key, List<byte[]> operands) {
            return sum(operands.removeFirst(), operands);
        }

        private byte[] sum(byte[] sum, List<byte[]> operands) {
            while (!operands.isEmpty()) {
                sum[0] += operands.removeFirst()[0];
                if (fails) {
                    throw new IllegalStateException("the user's");
                }
            }
            return sum;
        }
    }

    @Test
    void whatItWasToMergeIsKeptAsItWas() {
        Adding operator = new Adding();
        StoreOptions options = StoreOptions.builder()
                .memory(EnvironmentOptions.MEMORY_MIN)
                .memtable(ByteSize.kib(64))
                .mergeOperator(operator)
                .build();
        try (KeyValueStore store = SimulatedStoreHost.open(new SimulatedMachine(1), options)) {
            operator.fails = true;
            store.put(ON_VALUE, new byte[] {10});
            store.put(ON_NOTHING_KNOWN, new byte[] {20});
            store.checkpoint();
            for (byte[] key : List.of(ON_VALUE, ON_NOTHING_KNOWN)) {
                for (int operand = 1; operand <= 3; operand++) {
                    store.merge(key, new byte[] {(byte) operand});
                }
                store.checkpoint();
            }
            store.settle();
            assertTrue(store.stats().filterFailures() > 0);
            operator.fails = false;
            assertArrayEquals(new byte[] {16}, store.get(ON_VALUE));
            assertArrayEquals(new byte[] {26}, store.get(ON_NOTHING_KNOWN));
        }
    }
}
