package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.FileStoreHost;
import dev.heartwood.testkit.JavaProcess;
import dev.heartwood.testkit.JavaProcess.Ended;
import dev.heartwood.testkit.TestDirectory;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A store of the least memory, and a queue of the engine's, in a JVM with a small Java heap. */
class SmallHeapTest {
    private static final int ROUNDS = 8;

    private static Ended run(Path parent, String heap, int rounds) {
        Path store = parent.resolve("store");
        Ended ended = JavaProcess.of(SmallHeap.class, store.toString(), "1", Integer.toString(rounds))
                .flags(heap, "-XX:+UseSerialGC")
                .run(parent.resolve("output"));
        assertEquals(0, ended.exit(), ended::output);
        FileStoreHost.verify(store);
        return ended;
    }

    /** Calls that find the Java heap full fail, background work that does stops the store, and both harm nothing. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void aFullHeapHarmsNothing() {
        try (TestDirectory parent = new TestDirectory("heap")) {
            Ended ended = run(parent.path(), "-Xmx24m", ROUNDS);
            assertFalse(ended.output().startsWith(SmallHeap.report(0, 0)), ended::output);
            Campaign.report(getClass(), ROUNDS, "times out of heap: " + ended.output().strip());
        }
    }

    /** What waits in queues is still there after they found no room to grow. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void aFullHeapLosesNothingThatWaits() {
        try (TestDirectory parent = new TestDirectory("heap")) {
            Ended ended = JavaProcess.of(FullHeapQueue.class)
                    .flags("-Xmx8m", "-XX:+UseSerialGC")
                    .run(parent.path().resolve("output"));
            assertEquals(0, ended.exit(), ended::output);
        }
    }

    /** A merge applied more operands of one key at once than the heap has room for, each time the store was opened. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void aCounterThatIsAddedToWithoutAPauseFillsNoHeap() {
        try (TestDirectory parent = new TestDirectory("heap")) {
            Path store = parent.path().resolve("store");
            Ended ended = JavaProcess.of(HotCounter.class, store.toString(), "300000", "64")
                    .flags("-Xmx16m", "-XX:+UseSerialGC")
                    .run(parent.path().resolve("output"));
            assertEquals(0, ended.exit(), ended::output);
            FileStoreHost.verify(store);
        }
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void twelveMegabytesOfHeapAreEnough() {
        try (TestDirectory parent = new TestDirectory("heap")) {
            Ended ended = run(parent.path(), "-Xmx12m", 0);
            assertTrue(ended.output().startsWith(SmallHeap.report(0, 0)), ended::output);
        }
    }
}
