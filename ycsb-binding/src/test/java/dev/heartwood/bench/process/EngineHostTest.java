package dev.heartwood.bench.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.bench.engine.Engine;
import dev.heartwood.bench.engine.EngineSettings;
import dev.heartwood.bench.engine.RecordBuffer;
import dev.heartwood.bench.engine.Session;
import dev.heartwood.bench.process.PhaseTask.Checking;
import dev.heartwood.bench.workload.Phase;
import dev.heartwood.bench.workload.Step;
import dev.heartwood.bench.workload.Values;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EngineHostTest {
    /** Of the difference of two doubles. */
    private static final double ROUNDING = 1e-9;

    @TempDir
    Path directory;

    private final AnyEngine engine = new AnyEngine();

    private EngineHost host() {
        EngineSettings settings = new EngineSettings(
                directory.resolve("any"), 1, 1_000, 24, 100, 1 << 20, Durability.NONE, DeviceKind.AUTO, Map.of());
        return new EngineHost("any", opened -> engine, settings, Checking.EVERYTHING, 1);
    }

    /** They were thrown away with what the warm-up measured. */
    @Test
    void faultsOfAWarmUpEndIt() throws Exception {
        try (EngineHost host = host()) {
            engine.length = -1;
            String message = assertThrows(IllegalStateException.class, () -> host.warmUp(100, 1, List.of(Phase.READ))).getMessage();
            assertEquals("phase read of its warm-up had N missing and 0 wrong values", message.replaceFirst("\\d+ missing", "N missing"));
        }
    }

    /** It was charged to nothing. */
    @Test
    void whatTheProcessDoesBetweenPhasesIsToldWithTheNext() throws Exception {
        try (EngineHost host = host()) {
            host.run(Step.of(Phase.LOAD, 0), 1, operations -> {});
            compute(0.3);
            PhaseResult settling = host.settle();
            assertTrue(settling.between().cpuSeconds() >= 0.3 - ROUNDING, settling.between().toString());
            compute(0.5);
            PhaseResult read = host.run(new Step(Phase.READ, 100, 0), 1, operations -> {});
            assertTrue(read.between().cpuSeconds() >= 0.5 - ROUNDING, read.between().toString());
        }
    }

    /** As an engine's threads do in the background. */
    private static void compute(double seconds) {
        double until = ProcessCounters.now().cpuSeconds() + seconds;
        while (ProcessCounters.now().cpuSeconds() < until) {
            Thread.onSpinWait();
        }
    }

    /** Has the right value for every key, of some length, and does nothing by itself. */
    private static final class AnyEngine implements Engine {
        private volatile int length = 100;

        @Override
        public Session session(RecordBuffer buffer, Access access) {
            return new Session() {
                @Override
                public void put() {}

                @Override
                public int get() {
                    Values.fill(buffer.key(), buffer.result(), 1);
                    return length;
                }

                @Override
                public void delete() {}

                @Override
                public int scan(int records, ScanVisitor visitor) {
                    throw new UnsupportedOperationException();
                }

                @Override
                public void close() {}
            };
        }

        @Override
        public void sync() {}

        @Override
        public void settle() {}

        @Override
        public String describe() {
            return "";
        }

        @Override
        public void close() {}
    }
}
