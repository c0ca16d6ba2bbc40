package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.TestDirectory;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A merge operator that throws for every key: what it was to merge is kept, and nothing waits for it. */
class ThrowingOperatorTest {
    private static final class Throwing implements MergeOperator {
        @Override
        public String name() {
            return "throwing";
        }

        @Override
        public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            throw new IllegalStateException("the user's");
        }
    }

    @Test
    void settlingEnds() {
        StoreOptions options = StoreOptions.builder()
                .memory(EnvironmentOptions.MEMORY_MIN)
                .memtable(ByteSize.kib(64))
                .mergeOperator(new Throwing())
                .build();
        byte[] deleted = {1};
        byte[] put = {2};
        try (TestDirectory directory = new TestDirectory("throwing");
                KeyValueStore store = Heartwood.open(directory.path().resolve("store"), options)) {
            store.delete(deleted);
            store.merge(deleted, new byte[] {10});
            store.put(put, new byte[] {20});
            store.merge(put, new byte[] {30});
            store.checkpoint();
            store.settle();
            assertThrows(IllegalStateException.class, () -> store.get(deleted));
            assertThrows(IllegalStateException.class, () -> store.get(put));
            assertTrue(store.stats().filterFailures() > 0);
            assertEquals(0, store.stats().debtBytes());
        }
    }
}
