package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.Cursor;
import dev.heartwood.KeyOrder;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SteppedEnvironment;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What loads cost under each policy, and under the one that decides by itself: bytes read and written, and bytes merged, in a store whose
 * background works in steps, so that every number is the same in every run. A second is so many calls, about a twentieth of what real
 * files allow. {@code -Dheartwood.sweep=true} prints all numbers, of more loads and for a larger checkpoint distance too.
 */
class PolicyCostTest {
    private static final boolean SWEEP = Boolean.getBoolean("heartwood.sweep");
    private static final int RECORDS = 150_000;
    private static final int WRITES_PER_SECOND = 15_000;
    private static final int RECORDS_PER_FINISH = 200;
    private static final int SECONDS = SWEEP ? 30 : 10;

    /** Calls in a second, by kind; skewed: a tenth of the keys has most of them. */
    private record Mix(int reads, int updates, int inserts, int scans, boolean isSkewed) {
        static final Mix READS = new Mix(1_000, 0, 0, 0, false);
        static final Mix SCANS = new Mix(0, 0, 0, 300, false);
        static final Mix OVERWRITES = new Mix(0, WRITES_PER_SECOND, 0, 0, false);
    }

    /** A steady load; YCSB's by their letters. */
    private enum SteadyLoad {
        LOAD(null, KeyOrder.SORTED),
        SEQUENTIAL(null, KeyOrder.SORTED),
        HASHED(null, KeyOrder.HASHED),
        A(new Mix(2_000, 2_000, 0, 0, true), KeyOrder.SORTED),
        B(new Mix(2_375, 125, 0, 0, true), KeyOrder.SORTED),
        C(new Mix(2_500, 0, 0, 0, true), KeyOrder.SORTED),
        D(new Mix(5_700, 0, 300, 0, true), KeyOrder.SORTED),
        E(new Mix(0, 0, 25, 475, true), KeyOrder.SORTED),
        F(new Mix(2_500, 1_250, 0, 0, true), KeyOrder.SORTED),
        READS(Mix.READS, KeyOrder.SORTED),
        SCANS(Mix.SCANS, KeyOrder.SORTED),
        OVERWRITE(Mix.OVERWRITES, KeyOrder.SORTED),
        HASHED_A(new Mix(2_000, 2_000, 0, 0, true), KeyOrder.HASHED),
        HASHED_OVERWRITE(Mix.OVERWRITES, KeyOrder.HASHED),
        UPDATES_AND_SCANS(new Mix(0, 3_000, 0, 150, false), KeyOrder.SORTED),
        MANY_UPDATES_AND_FEW_SCANS(new Mix(0, 6_000, 0, 100, false), KeyOrder.SORTED);

        private final Mix mix;
        private final KeyOrder order;

        SteadyLoad(Mix mix, KeyOrder order) {
            this.mix = mix;
            this.order = order;
        }

        void run(Subject subject) {
            subject.load(this == SEQUENTIAL);
            if (mix != null) {
                subject.settle();
                subject.run(name(), mix, SECONDS);
            }
        }
    }

    /** A store under one policy. */
    private static final class Subject implements AutoCloseable {
        private final String name;
        private final PolicyChanges changes = new PolicyChanges();
        private final SteppedEnvironment environment;
        private final KeyValueStore store;
        private final SplittableRandom random = new SplittableRandom(1);
        private final StringBuilder steps = new StringBuilder();
        private int records;
        private int written;
        private StoreStats before;
        private long cost;

        Subject(CompactionPolicyKind policy, int distance, KeyOrder order) {
            name = policy + (distance == 4 ? "" : " " + distance);
            StoreOptions options = StoreOptions.builder()
                    .memory(ByteSize.mib(16))
                    .memtable(ByteSize.kib(256))
                    .policy(policy)
                    .checkpointDistance(distance)
                    .keyOrder(order)
                    // What is merged for space is not the policies' doing.
                    .spaceAmplificationTarget(100)
                    .listener(changes)
                    .build();
            environment = new SteppedEnvironment(1, OptionMatrix.environment(options), new SimulatedMachine(1));
            environment.holdTime();
            store = environment.open(Path.of("store"), options);
            before = store.stats();
        }

        /** Puts all records, in an order that is that of the keys or has nothing to do with it. */
        void load(boolean isSequential) {
            for (int i = 0; i < RECORDS; i++) {
                put(isSequential ? Load.inOrder(i) : Load.key(i));
                if ((i + 1) % WRITES_PER_SECOND == 0) {
                    environment.passTime();
                }
            }
            records = RECORDS;
            count("load");
        }

        void run(String step, Mix mix, int seconds) {
            int calls = mix.reads + mix.updates + mix.inserts + mix.scans;
            for (int i = 0; i < seconds * calls; i++) {
                int dice = random.nextInt(calls);
                if (dice < mix.reads) {
                    assertNotNull(store.get(anyKey(mix)));
                } else if (dice < mix.reads + mix.updates) {
                    put(anyKey(mix));
                } else if (dice < mix.reads + mix.updates + mix.inserts) {
                    put(Load.key(records++));
                } else {
                    scan(anyKey(mix));
                }
                if ((i + 1) % calls == 0) {
                    environment.passTime();
                }
            }
            count(step);
        }

        private byte[] anyKey(Mix mix) {
            boolean isHot = mix.isSkewed && random.nextInt(10) < 8;
            return Load.key(isHot ? random.nextInt(records / 10) : random.nextInt(records));
        }

        private void put(byte[] key) {
            store.put(key, Load.value(written++));
            if (written % RECORDS_PER_FINISH == 0) {
                environment.finish();
            }
        }

        private void scan(byte[] from) {
            try (Cursor cursor = store.cursor()) {
                boolean more = cursor.seek(from);
                for (int left = 1 + random.nextInt(100); left > 0 && more; left--) {
                    more = cursor.next();
                }
            }
        }

        /** Nobody waits for what is done then, so it costs nothing. */
        void idle(int seconds) {
            for (int i = 0; i < seconds; i++) {
                environment.passTime();
            }
            long paid = cost;
            count("idle");
            cost = paid;
        }

        private void count(String step) {
            StoreStats now = store.stats();
            long read = now.dataBytesRead() - before.dataBytesRead();
            long writtenNow = now.dataBytesWritten() - before.dataBytesWritten();
            long merged = now.compactionBytesWritten() - before.compactionBytesWritten();
            cost += read + writtenNow + merged;
            steps.append(String.format(
                    Locale.ROOT,
                    "  %-18s %-13s read %6.1f written %6.1f merged %6.1f MB, %d runs%n",
                    name, step, read / 1e6, writtenNow / 1e6, merged / 1e6, now.runs()));
            before = now;
        }

        /** Has merged what the load has left, as the benchmark does; nothing of it counts. */
        void settle() {
            store.settle();
            count("settled");
            steps.setLength(0);
            cost = 0;
        }

        @Override
        public String toString() {
            StringBuilder text = new StringBuilder(steps);
            text.append(String.format(Locale.ROOT, "  %-18s %.1f MB%n", name, cost / 1e6));
            changes.all.forEach(change -> text.append("    ").append(change).append('\n'));
            return text.toString();
        }

        @Override
        public void close() {
            environment.close();
        }
    }

    /** What a load does to a store. */
    private interface Story {
        void tell(Subject subject);
    }

    /** The cost when the store decides by itself, as a multiple of that of the best fixed policy. */
    private static double share(String load, KeyOrder order, Story story) {
        StringBuilder all = new StringBuilder(load).append('\n');
        long best = Long.MAX_VALUE;
        long own = 0;
        for (CompactionPolicyKind policy : CompactionPolicyKind.values()) {
            boolean isFixed = policy != CompactionPolicyKind.AUTO;
            for (int distance : SWEEP && isFixed ? new int[] {4, 64} : new int[] {4}) {
                try (Subject subject = new Subject(policy, distance, order)) {
                    story.tell(subject);
                    all.append(subject);
                    own = subject.cost;
                    best = isFixed ? Math.min(best, subject.cost) : best;
                }
            }
        }
        double share = (double) own / best;
        all.append(String.format(Locale.ROOT, "  %s: %.2f of the best%n", load, share));
        if (SWEEP) {
            System.out.print(all);
        }
        return share;
    }

    static List<SteadyLoad> loads() {
        return SWEEP
                ? List.of(SteadyLoad.values())
                : List.of(SteadyLoad.LOAD, SteadyLoad.A, SteadyLoad.E, SteadyLoad.UPDATES_AND_SCANS);
    }

    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @MethodSource("loads")
    void onASteadyLoadItCostsHardlyMoreThanTheBest(SteadyLoad load) {
        double share = share(load.name(), load.order, load::run);
        assertTrue(SWEEP || share < 1.1, () -> load + " costs " + share + " of what it does under the best fixed policy");
    }

    /** Load, reads, scans, updates, a pause, and scans and reads again. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void onALoadThatChangesItCostsLessThanAnyFixedPolicy() {
        double share = share("changing", KeyOrder.SORTED, subject -> {
            subject.load(false);
            subject.run("reads", Mix.READS, 15);
            subject.run("scans", Mix.SCANS, 15);
            subject.run("overwrites", Mix.OVERWRITES, 20);
            subject.idle(20);
            subject.run("scans", Mix.SCANS, 8);
            subject.run("reads", Mix.READS, 8);
        });
        assertTrue(share < 0.85, () -> share + " of what it costs under the best fixed policy");
    }
}
