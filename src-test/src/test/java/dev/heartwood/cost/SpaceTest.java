package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionFilter;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.Cursor;
import dev.heartwood.KeyOrder;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SteppedEnvironment;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * What space a store takes that is overwritten, once its background has come to rest by itself. All records are of one size, so
 * entries stand for bytes. Nothing happens in the background but when the tests say so: every number is the same in every run.
 */
class SpaceTest {
    private static final int KEYS = 60_000;
    private static final int RECORDS_PER_FINISH = 500;
    /** As many as it takes for the background to look what they would profit from. */
    private static final int SCANS_PER_FINISH = 256;

    private static final double TARGET = 1.2;
    /** Whether the figures are printed, as for docs/TREES.md. */
    private static final boolean PRINTS = Boolean.getBoolean("heartwood.sweep");

    /** No more is ever redundant: left to the policy. */
    private static final double NO_TARGET = 100;

    /** Where many views are open: one that merges as late as any, and the default. */
    private static final CompactionPolicyKind[] MANY_VIEWS = {CompactionPolicyKind.SIZE_TIERED, CompactionPolicyKind.AUTO};

    private static StoreOptions options(CompactionPolicyKind policy, KeyOrder order, double target) {
        return StoreOptions.builder()
                .memory(ByteSize.mib(64))
                .memtable(ByteSize.kib(256))
                .policy(policy)
                .keyOrder(order)
                .spaceAmplificationTarget(target)
                .build();
    }

    private static final class Subject implements AutoCloseable {
        private final SteppedEnvironment environment;
        private final KeyValueStore store;
        private final SplittableRandom random = new SplittableRandom(3);

        Subject(StoreOptions options) {
            environment = new SteppedEnvironment(1, OptionMatrix.environment(options), new SimulatedMachine(1));
            store = environment.open(Path.of("store"), options);
        }

        /** Writes each key once, and overwrites keys at random as often as there are keys, some times. */
        Subject overwritten(int times) {
            write(0, (times + 1) * KEYS, environment::finish);
            return rest();
        }

        void write(int from, int to, Runnable now) {
            for (int i = from; i < to; i++) {
                store.put(Load.key(i < KEYS ? i : random.nextInt(KEYS)), Load.value(i));
                if (i % RECORDS_PER_FINISH == 0) {
                    now.run();
                }
            }
        }

        Subject rest() {
            environment.finish();
            store.checkpoint();
            environment.finish();
            return this;
        }

        double entriesForEachKey() {
            return (double) store.stats().entriesEstimate() / KEYS;
        }

        @Override
        public void close() {
            environment.close();
        }
    }

    private static String text(String what, Subject subject) {
        StoreStats stats = subject.store.stats();
        return String.format(
                "%s: %.3f entries for each key, estimated %.3f; write amplification %.2f, %.2f by merges; %.1f MB of extents",
                what,
                subject.entriesForEachKey(),
                stats.spaceAmplification(),
                stats.dataWriteAmplification(),
                (double) stats.compactionBytesWritten() / stats.userBytesWritten(),
                stats.liveBytes() / 1e6);
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void whatIsOverwrittenThreeTimesComesToRestWithinTheTarget() {
        for (KeyOrder order : KeyOrder.values()) {
            for (CompactionPolicyKind policy : CompactionPolicyKind.values()) {
                try (Subject subject = new Subject(options(policy, order, TARGET)).overwritten(3)) {
                    String found = text(order + " " + policy, subject);
                    if (PRINTS) {
                        System.out.println(found);
                        System.out.println(leftToThePolicy(policy, order));
                    }
                    assertTrue(subject.entriesForEachKey() <= TARGET, found);
                    assertTrue(subject.store.stats().spaceAmplification() <= TARGET, found);
                }
            }
        }
    }

    /** What is written once is redundant only where parts of a run have moved on. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void aLoadIsHardlyMergedForSpace() {
        for (CompactionPolicyKind policy : CompactionPolicyKind.values()) {
            try (Subject subject = new Subject(options(policy, KeyOrder.SORTED, TARGET)).overwritten(0);
                    Subject left = new Subject(options(policy, KeyOrder.SORTED, NO_TARGET)).overwritten(0)) {
                String found = text(policy + "", subject) + "\n" + text("left to the policy", left);
                double most = 1.5 * left.store.stats().dataWriteAmplification();
                assertTrue(subject.store.stats().dataWriteAmplification() <= most, found);
            }
        }
    }

    private static String leftToThePolicy(CompactionPolicyKind policy, KeyOrder order) {
        try (Subject left = new Subject(options(policy, order, NO_TARGET)).overwritten(3)) {
            return text("  left to the policy", left);
        }
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void aTargetThatIsTunedLowerIsReachedWithoutAWrite() {
        StoreOptions options = options(CompactionPolicyKind.SIZE_TIERED, KeyOrder.SORTED, NO_TARGET);
        try (Subject subject = new Subject(options).overwritten(1)) {
            KeyValueStore store = subject.store;
            assertTrue(subject.entriesForEachKey() > 1.3, text("without a target", subject));
            store.tune(store.tuning().withSpaceAmplificationTarget(TARGET));
            assertEquals(TARGET, store.options().spaceAmplificationTarget());
            subject.environment.finish();
            assertTrue(subject.entriesForEachKey() <= TARGET, text("tuned to " + TARGET, subject));
            store.tune(store.tuning().withSpaceAmplificationTarget(1.05));
            subject.environment.finish();
            assertTrue(subject.entriesForEachKey() <= 1.05, text("tuned to 1.05", subject));
            long merges = store.stats().compactions();
            subject.rest();
            assertEquals(merges, store.stats().compactions());
            assertTrue(store.stats().spaceAmplification() >= 1, "estimated");
            store.tune(store.tuning().withSpaceAmplificationTarget(NO_TARGET));
            subject.environment.finish();
            assertEquals(0, store.stats().spaceAmplification(), "nothing is known without a target");
        }
    }

    /** What merges have replaced is the last checkpoint's until there is another, which nobody asks for while nothing is written. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void whatMergesReplacedIsFreeOnceAStoreIsAtRest() {
        StoreOptions options = options(CompactionPolicyKind.SIZE_TIERED, KeyOrder.SORTED, NO_TARGET);
        try (Subject subject = new Subject(options).overwritten(1)) {
            KeyValueStore store = subject.store;
            store.tune(store.tuning().withSpaceAmplificationTarget(TARGET));
            subject.environment.finish();
            StoreStats merged = store.stats();
            for (int second = 0; second < 5; second++) {
                subject.environment.passTime();
            }
            StoreStats rested = store.stats();
            assertEquals(merged.compactions(), rested.compactions());
            assertEquals(merged.checkpoints() + 1, rested.checkpoints());
            assertTrue(
                    rested.liveBytes() < 0.75 * merged.liveBytes(),
                    () -> merged.liveBytes() + " bytes in use before, " + rested.liveBytes() + " after");
            store.checkpoint();
            subject.environment.finish();
            assertTrue(store.stats().liveBytes() > 0.98 * rested.liveBytes(), "and nothing is left to be given back");
        }
    }

    /** Whatever is merged while a snapshot sees it stays; to merge it again and again would come to nothing. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void whatASnapshotSeesIsLeftUntilItIsClosed() {
        StoreOptions options = options(CompactionPolicyKind.SIZE_TIERED, KeyOrder.SORTED, NO_TARGET);
        try (Subject subject = new Subject(options).overwritten(0)) {
            KeyValueStore store = subject.store;
            Snapshot snapshot = store.snapshot();
            subject.write(KEYS, 2 * KEYS, subject.environment::finish);
            subject.rest();
            store.tune(store.tuning().withSpaceAmplificationTarget(TARGET));
            long merges = store.stats().compactions();
            subject.environment.finish();
            assertEquals(merges, store.stats().compactions());
            assertTrue(subject.entriesForEachKey() > TARGET, text("with the snapshot", subject));
            snapshot.close();
            subject.write(2 * KEYS, 3 * KEYS, subject.environment::finish);
            subject.rest();
            assertTrue(subject.entriesForEachKey() <= TARGET, text("without", subject));
        }
    }

    /**
     * However often a store is overwritten meanwhile, it takes what the view sees and what it would take without; and when the view is
     * closed only that, though nothing is written any more.
     */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void oneVersionOfEachKeyIsKeptForAnOldView() {
        for (CompactionPolicyKind policy : CompactionPolicyKind.values()) {
            try (Subject subject = new Subject(options(policy, KeyOrder.SORTED, TARGET)).overwritten(0)) {
                Snapshot snapshot = subject.store.snapshot();
                subject.write(KEYS, 6 * KEYS, subject.environment::finish);
                subject.rest();
                String with = text(policy + " with the view", subject);
                double entries = subject.entriesForEachKey();
                for (int i = 0; i < KEYS; i += 97) {
                    assertArrayEquals(Load.value(i), snapshot.get(Load.key(i)));
                }
                snapshot.close();
                subject.environment.finish();
                String without = text(policy + " without", subject);
                if (PRINTS) {
                    System.out.println(with + "\n" + without);
                }
                assertTrue(entries <= 1 + TARGET, with);
                assertTrue(subject.entriesForEachKey() <= TARGET, without);
            }
        }
    }

    /** Keys that are overwritten between views, and the number that each has the value of; the numbers as each open view sees them, oldest first. */
    private static final class Versions {
        private static final int KEYS = 10_000;
        /** Each has no divisor in common with the number of keys. */
        private static final int[] STEPS = {3, 7, 1237, 3571, 7919};

        private final Subject subject;
        private final long[] now = new long[KEYS];
        private final Deque<Snapshot> views = new ArrayDeque<>();
        private final Deque<long[]> seen = new ArrayDeque<>();
        private long written;

        Versions(Subject subject) {
            this.subject = subject;
        }

        /** Overwrites every key once, in an order that varies. */
        Versions overwriteAll() {
            int step = STEPS[subject.random.nextInt(STEPS.length)];
            for (int i = 0, key = 0; i < KEYS; i++, key = (key + step) % KEYS) {
                put(key);
            }
            return this;
        }

        Versions overwriteAtRandom(int times) {
            for (int i = 0; i < times; i++) {
                put(subject.random.nextInt(KEYS));
            }
            return this;
        }

        private void put(int key) {
            now[key] = ++written;
            subject.store.put(Load.key(key), Load.value(written));
            if (written % RECORDS_PER_FINISH == 0) {
                subject.environment.finish();
            }
        }

        Versions view() {
            views.add(subject.store.snapshot());
            seen.add(now.clone());
            return this;
        }

        void closeOldest() {
            views.remove().close();
            seen.remove();
            subject.environment.finish();
        }

        void closeAll() {
            while (!views.isEmpty()) {
                closeOldest();
            }
        }

        double entriesForEachKey() {
            return (double) subject.store.stats().entriesEstimate() / KEYS;
        }

        /** How many entries for each key the open views and the present need. */
        double needed() {
            List<long[]> all = new ArrayList<>(seen);
            all.add(now);
            long distinct = KEYS;
            for (int i = 1; i < all.size(); i++) {
                for (int key = 0; key < KEYS; key++) {
                    distinct += all.get(i)[key] != all.get(i - 1)[key] ? 1 : 0;
                }
            }
            return (double) distinct / KEYS;
        }

        void check() {
            List<long[]> expected = new ArrayList<>(seen);
            int i = 0;
            for (Snapshot view : views) {
                for (int key = i; key < KEYS; key += 97) {
                    assertArrayEquals(Load.value(expected.get(i)[key]), view.get(Load.key(key)));
                }
                i++;
            }
        }
    }

    /** The more versions a run had of a key, the less of them was known to be redundant when nobody saw them any more. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void whatWasKeptForManyViewsIsGoneOnceTheyAreClosed() {
        for (CompactionPolicyKind policy : MANY_VIEWS) {
            try (Subject subject = new Subject(options(policy, KeyOrder.SORTED, TARGET))) {
                Versions versions = keptForTwentyViews(subject);
                versions.closeAll();
                assertTrue(versions.entriesForEachKey() <= TARGET, policy + ": " + versions.entriesForEachKey());
            }
        }
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void aStoreThatSettlesKeepsNothingForViewsThatAreClosed() {
        for (CompactionPolicyKind policy : MANY_VIEWS) {
            try (Subject subject = new Subject(options(policy, KeyOrder.SORTED, NO_TARGET))) {
                Versions versions = keptForTwentyViews(subject);
                versions.closeAll();
                subject.store.settle();
                assertEquals(1, versions.entriesForEachKey(), 0.05, policy::toString);
                long merges = subject.store.stats().compactions();
                subject.store.settle();
                assertEquals(merges, subject.store.stats().compactions(), () -> policy + " merges the same again");
            }
        }
    }

    private static Versions keptForTwentyViews(Subject subject) {
        Versions versions = new Versions(subject).overwriteAll();
        for (int round = 0; round < 20; round++) {
            versions.view().overwriteAll();
        }
        subject.rest();
        assertTrue(versions.entriesForEachKey() >= versions.needed(), versions.entriesForEachKey() + " with the views");
        versions.check();
        return versions;
    }

    /** A key that was seldom overwritten made all that a run kept for the oldest view look as if others saw it. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void whatTheOldestOfSeveralViewsAloneSawIsGoneOnceItIsClosed() {
        for (CompactionPolicyKind policy : CompactionPolicyKind.values()) {
            try (Subject subject = new Subject(options(policy, KeyOrder.SORTED, 1.05))) {
                Versions versions = new Versions(subject).overwriteAll();
                for (int round = 0; round < 6; round++) {
                    versions.view().overwriteAtRandom(Versions.KEYS);
                }
                subject.rest();
                for (int open = 6; open > 0; open--) {
                    String found = policy + ", " + open + " open: " + versions.entriesForEachKey() + " of " + versions.needed();
                    if (PRINTS) {
                        System.out.println(found);
                    }
                    assertTrue(versions.entriesForEachKey() <= TARGET * versions.needed(), found);
                    versions.check();
                    versions.closeOldest();
                }
            }
        }
    }

    /** A younger one is opened whenever the oldest is closed. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void viewsThatFollowEachOtherKeepWhatTheOpenOnesSee() {
        for (int open : new int[] {2, 5, 20}) {
            try (Subject subject = new Subject(options(CompactionPolicyKind.SIZE_TIERED, KeyOrder.SORTED, TARGET))) {
                Versions versions = new Versions(subject).overwriteAll();
                for (int round = 0; round < open + 10; round++) {
                    versions.view().overwriteAtRandom(Versions.KEYS / 2);
                    if (round >= open) {
                        versions.closeOldest();
                    }
                }
                subject.rest();
                String found = open + " open: " + versions.entriesForEachKey() + " of " + versions.needed() + ", "
                        + text("", subject);
                if (PRINTS) {
                    System.out.println(found);
                }
                assertTrue(versions.entriesForEachKey() <= 1.25 * versions.needed(), found);
                versions.closeAll();
                assertTrue(versions.entriesForEachKey() <= TARGET, open + ": " + versions.entriesForEachKey());
            }
        }
    }

    /** Nothing asked for the merges that had waited before something was written, a checkpoint made or hundreds of cursors opened. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void closingTheOldestViewAloneBringsAStoreAtRestWithinItsTarget() {
        for (boolean isCursor : new boolean[] {false, true}) {
            StoreOptions options = options(CompactionPolicyKind.SIZE_TIERED, KeyOrder.SORTED, TARGET);
            try (Subject subject = new Subject(options).overwritten(0)) {
                KeyValueStore store = subject.store;
                Runnable closeOldest = isCursor ? store.cursor()::close : store.snapshot()::close;
                subject.write(KEYS, KEYS + KEYS / 4, subject.environment::finish);
                Snapshot second = store.snapshot();
                subject.write(KEYS + KEYS / 4, 2 * KEYS, subject.environment::finish);
                subject.rest();
                // It sees all that the tree has.
                Cursor newest = store.cursor();
                long merges = store.stats().compactions();

                second.close();
                subject.environment.finish();
                assertEquals(merges, store.stats().compactions(), "an older one is open");
                assertTrue(subject.entriesForEachKey() > TARGET, text("with views", subject));
                closeOldest.run();
                subject.environment.finish();
                assertTrue(store.stats().compactions() > merges);
                assertTrue(subject.entriesForEachKey() <= TARGET, text("without", subject));

                long after = store.stats().compactions();
                newest.close();
                store.cursor().close();
                subject.environment.finish();
                assertEquals(after, store.stats().compactions(), "nothing was held back any more");
            }
        }
    }

    /** What came to be merged when the store let go of it was not to be in any checkpoint, and the closing waited for it. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void nothingIsMergedForTheSakeOfAViewThatIsLeftToTheClosing() {
        AtomicInteger asked = new AtomicInteger();
        StoreOptions options = options(CompactionPolicyKind.SIZE_TIERED, KeyOrder.SORTED, TARGET).toBuilder()
                .compactionFilter(new CompactionFilter() {
                    @Override
                    public String name() {
                        return "counting";
                    }

                    @Override
                    public Decision filter(MemorySegment key, MemorySegment value) {
                        asked.incrementAndGet();
                        return Decision.KEEP;
                    }
                })
                .build();
        AtomicInteger leaks = new AtomicInteger();
        AtomicInteger askedThen = new AtomicInteger();
        Subject subject = new Subject(options);
        // A leak is reported between the moment when views are let go of and that when the background ends.
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord leak) {
                leaks.incrementAndGet();
                askedThen.set(asked.get());
                subject.environment.finish();
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("dev.heartwood");
        try (subject) {
            subject.overwritten(0);
            subject.store.snapshot();
            subject.write(KEYS, 2 * KEYS, subject.environment::finish);
            subject.rest();
            assertTrue(subject.entriesForEachKey() > TARGET, text("with a view", subject));
            logger.addHandler(handler);
            logger.setUseParentHandlers(false);
            subject.store.close();
            assertEquals(1, leaks.get());
            assertEquals(askedThen.get(), asked.get(), "entries merged while it was closing");
        } finally {
            logger.removeHandler(handler);
            logger.setUseParentHandlers(true);
        }
    }

    /** Those that see all that the tree has hold nothing back, though one of them is open at any time. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void cursorsThatComeAndGoLeaveTheTargetReached() {
        for (CompactionPolicyKind policy : CompactionPolicyKind.values()) {
            try (Subject subject = new Subject(options(policy, KeyOrder.SORTED, TARGET))) {
                Deque<Cursor> open = new ArrayDeque<>(List.of(subject.store.cursor()));
                Runnable scans = () -> {
                    for (int scan = 0; scan < SCANS_PER_FINISH; scan++) {
                        open.add(subject.store.cursor());
                        open.remove().close();
                    }
                    subject.environment.finish();
                };
                subject.write(0, 4 * KEYS, scans);
                subject.rest();
                scans.run();
                assertTrue(subject.entriesForEachKey() <= TARGET, text(policy + " beside cursors", subject));
                open.remove().close();
            }
        }
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void aTargetOutOfRangeIsRefused() {
        StoreOptions.Builder builder = StoreOptions.builder();
        for (double target : new double[] {1.04, 0, -1, 101, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThrows(IllegalArgumentException.class, () -> builder.spaceAmplificationTarget(target));
        }
        assertThrows(IllegalArgumentException.class, () -> builder.set("spaceAmplificationTarget", "little"));
        StoreOptions options = builder.spaceAmplificationTarget(1.05).build();
        assertEquals(1.05, StoreOptions.parse(options.toString()).spaceAmplificationTarget());
        assertEquals(TARGET, StoreOptions.defaults().spaceAmplificationTarget());
    }
}
