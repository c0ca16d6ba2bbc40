package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.PreviousFailureException;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.TestDirectory;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** A store that stops with all memory for memtables: who is refused some is told which store has it. */
class StoppedNeighbourTest {
    /** Keeps the background from packing until it may fail. */
    private static final class Failing implements MergeOperator {
        private final CountDownLatch mayFail = new CountDownLatch(1);

        @Override
        public String name() {
            return "failing";
        }

        @Override
        public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            return operands.getLast();
        }

        @Override
        public byte[] combine(byte[] key, List<byte[]> operands) {
            try {
                mayFail.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            throw new OutOfMemoryError("planned");
        }
    }

    @Test
    void itIsNamedToOthersUntilItIsClosed() throws InterruptedException {
        EnvironmentOptions shared = EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
        Failing operator = new Failing();
        try (TestDirectory directory = new TestDirectory("stopped");
                Environment environment = Heartwood.openEnvironment(shared);
                KeyValueStore other = environment.open(directory.path().resolve("other"), StoreOptions.defaults())) {
            KeyValueStore stopping = environment.open(
                    directory.path().resolve("stopping"), StoreOptions.builder().mergeOperator(operator).build());
            Thread writer = new Thread(() -> {
                stopping.merge(new byte[1], new byte[1]);
                stopping.merge(new byte[1], new byte[1]);
                assertThrows(PreviousFailureException.class, () -> fill(stopping));
            });
            writer.start();
            // Nothing is packed before the operator fails, so one writer takes all of it, block by block.
            long memory = environment.memoryStats().budgetBytes() * 15 / 64;
            while (environment.memoryStats().memtableBytes() < memory && writer.isAlive()) {
                Thread.onSpinWait();
            }
            operator.mayFail.countDown();
            writer.join();

            InsufficientMemoryException refused = assertThrows(InsufficientMemoryException.class, () -> fill(other));
            assertTrue(refused.getMessage().contains(directory.path().resolve("stopping").toString()), refused.getMessage());
            assertThrows(PreviousFailureException.class, stopping::close);
            for (int i = 0; i < 1_000; i++) {
                other.put(new byte[] {(byte) i, (byte) (i >> 8)}, new byte[1_000]);
            }
        }
    }

    private static void fill(KeyValueStore store) {
        for (int i = 0; i < 200_000; i++) {
            store.put(new byte[] {(byte) i, (byte) (i >> 8)}, new byte[1_000]);
        }
    }
}
