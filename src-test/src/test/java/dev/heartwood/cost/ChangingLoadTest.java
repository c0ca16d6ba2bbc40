package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.Cursor;
import dev.heartwood.KeyValueStore;
import dev.heartwood.PolicyChange;
import dev.heartwood.StoreListener;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SteppedEnvironment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * What a load that changes costs under each policy: bytes that are read and written, in a store whose background works in steps, so that
 * every number is the same in every run. A second is so many calls.
 */
class ChangingLoadTest {
    private static final int RECORDS = 100_000;
    private static final int WRITES_PER_SECOND = 15_000;
    private static final int READS_PER_SECOND = 1_000;
    private static final int SCANS_PER_SECOND = 300;
    private static final int RECORDS_PER_FINISH = 200;

    /** A store under one policy, through all of the load. */
    private static final class Subject implements AutoCloseable {
        private final List<PolicyChange> changes = new ArrayList<>();
        private final SteppedEnvironment environment;
        private final KeyValueStore store;
        private final SplittableRandom random = new SplittableRandom(1);
        private final StringBuilder steps = new StringBuilder();
        private StoreStats before;
        private long cost;

        Subject(CompactionPolicyKind policy) {
            StoreOptions options = StoreOptions.builder()
                    .memory(ByteSize.mib(16))
                    .memtable(ByteSize.kib(256))
                    .policy(policy)
                    .listener(new StoreListener() {
                        @Override
                        public void policyChange(PolicyChange event) {
                            changes.add(event);
                        }
                    })
                    .build();
            environment = new SteppedEnvironment(1, OptionMatrix.environment(options), new SimulatedMachine(1));
            store = environment.open(Path.of("store"), options);
            before = store.stats();
        }

        void cycle() {
            write("load", 7);
            read(15);
            scan(15);
            write("overwrite", 20);
            idle(20);
            scan(8);
            read(8);
        }

        private void write(String step, int seconds) {
            for (int i = 0; i < seconds * WRITES_PER_SECOND; i++) {
                store.put(Load.key(step.equals("load") ? i % RECORDS : random.nextInt(RECORDS)), Load.value(i));
                if (i % RECORDS_PER_FINISH == 0) {
                    environment.finish();
                }
                if ((i + 1) % WRITES_PER_SECOND == 0) {
                    environment.passTime();
                }
            }
            count(step);
        }

        private void read(int seconds) {
            for (int i = 0; i < seconds * READS_PER_SECOND; i++) {
                assertNotNull(store.get(Load.key(random.nextInt(RECORDS))));
                if ((i + 1) % READS_PER_SECOND == 0) {
                    environment.passTime();
                }
            }
            count("read");
        }

        private void scan(int seconds) {
            for (int i = 0; i < seconds * SCANS_PER_SECOND; i++) {
                try (Cursor cursor = store.cursor()) {
                    boolean more = cursor.seek(Load.key(random.nextInt(RECORDS)));
                    for (int left = 1 + random.nextInt(100); left > 0 && more; left--) {
                        more = cursor.next();
                    }
                }
                if ((i + 1) % SCANS_PER_SECOND == 0) {
                    environment.passTime();
                }
            }
            count("scan");
        }

        private void idle(int seconds) {
            for (int i = 0; i < seconds; i++) {
                environment.passTime();
            }
            count("idle");
        }

        /** What nobody waits for costs nothing. */
        private void count(String step) {
            StoreStats now = store.stats();
            long read = now.dataBytesRead() - before.dataBytesRead();
            long written = now.dataBytesWritten() - before.dataBytesWritten();
            long merged = now.compactionBytesWritten() - before.compactionBytesWritten();
            cost += step.equals("idle") ? 0 : read + written + merged;
            steps.append(String.format(
                    "  %-9s read %6.1f written %6.1f merged %6.1f MB, page reads %6d, runs %d%n",
                    step, read / 1e6, written / 1e6, merged / 1e6, now.pageReads() - before.pageReads(), now.runs()));
            before = now;
        }

        @Override
        public void close() {
            environment.close();
        }
    }

    @Test
    void whoDecidesByItselfPaysLess() {
        Map<CompactionPolicyKind, Long> costs = new EnumMap<>(CompactionPolicyKind.class);
        StringBuilder all = new StringBuilder();
        for (CompactionPolicyKind policy : CompactionPolicyKind.values()) {
            try (Subject subject = new Subject(policy)) {
                subject.cycle();
                costs.put(policy, subject.cost);
                all.append(policy).append(' ').append(subject.cost / 1e6).append('\n').append(subject.steps);
                subject.changes.forEach(change -> all.append("    ").append(change).append('\n'));
            }
        }
        if (Boolean.getBoolean("heartwood.sweep")) {
            System.out.println(all);
        }
        long own = costs.remove(CompactionPolicyKind.AUTO);
        long best = Collections.min(costs.values());
        assertTrue(own < 0.95 * best, all.toString());
    }
}
