package dev.heartwood.engine.auto;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.PolicyChange.Part;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.trunk.TreeGauge;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

/** What the store decides by itself, over simulated hours: a sample is a second. */
class AutoPolicyTest {
    private static final long MEMTABLE_BYTES = 1 << 20;
    private static final int ASKED = 4;
    private static final int ROOM = 60;
    private static final int HOUR = 3600;
    private static final int LEAVES = 20;
    private static final long LEAF_BYTES = 7_500_000;
    private static final long INNER_BYTES = 50_000_000;
    private static final int FAR = 8 * ROOM;

    /** A second of a store of 200 MB: megabytes written, scans of a leaf with 50 entries each, pages that reads miss. */
    private record Second(double writtenMb, int scans, int misses, double owed) {
        static final Second IDLE = new Second(0, 0, 0, 0);
        /** Lookups that the record cache or a memtable answers: they ask no filter. */
        static final Second CACHED_READS = new Second(0, 0, 0, -1);
        static final Second LOAD = new Second(40, 0, 0, 0);
        static final Second READS = new Second(0, 0, 20_000, 0);
        static final Second SCANS = new Second(0, 5000, 2000, 0);
        static final Second SCANS_AND_WRITES = new Second(2, 3000, 2000, 0);
        static final Second MANY_WRITES_AND_FEW_SCANS = new Second(40, 20, 0, 0);
        static final Second READS_AND_WRITES = new Second(20, 0, 15_000, 0);
        static final Second READS_AND_FEW_WRITES = new Second(5, 0, 15_000, 0);

        boolean isAsked() {
            return misses > 0 || scans > 0 || this == CACHED_READS;
        }
    }

    /** A list that has no room for some of what is added. */
    private static final class FullHeap extends ArrayList<Decision> {
        private int refusals;

        private void refuse() {
            if (refusals > 0) {
                refusals--;
                throw new OutOfMemoryError("for a test");
            }
        }

        @Override
        public boolean add(Decision decision) {
            refuse();
            return super.add(decision);
        }

        @Override
        public boolean addAll(Collection<? extends Decision> decisions) {
            refuse();
            return super.addAll(decisions);
        }
    }

    /** What scans came to, for which there is now and then no room. */
    private static final class FullHeat extends ScanHeat {
        private int refusals;

        @Override
        Span hot() {
            if (refusals > 0) {
                refusals--;
                throw new OutOfMemoryError("for a test");
            }
            return super.hot();
        }
    }

    /** A store that looks into fewer runs where it is eager, and the policy that sees it. */
    private static final class Simulation {
        private final FullHeat heat = new FullHeat();
        private final AutoPolicy policy = new AutoPolicy(ASKED, MEMTABLE_BYTES, heat);
        private final List<Decision> decisions = new ArrayList<>();
        private final int[] scans = new int[LEAVES];
        private boolean leavesEager;
        private boolean innerEager;
        private Span span = Span.ALL;
        private int distance = ASKED;
        private int hotLeaves = LEAVES;
        private int quiet;
        private final FullHeap due = new FullHeap();

        void run(int seconds, Second second) {
            run(seconds, i -> second);
        }

        void run(int seconds, IntFunction<Second> load) {
            for (int i = 0; i < seconds; i++) {
                step(load.apply(i));
            }
        }

        private void step(Second second) {
            List<TreeGauge.Leaf> leaves = new ArrayList<>();
            for (int i = 0; i < LEAVES; i++) {
                scans[i] += i < hotLeaves ? second.scans / hotLeaves : 0;
                leaves.add(new TreeGauge.Leaf(span(i, i + 1), scans[i], LEAF_BYTES, leavesEager ? 2 : 8));
            }
            int leafRuns = leavesEager ? 2 : 8;
            int innerRuns = innerEager ? 3 : 10;
            WorkloadSample sample = new WorkloadSample(
                    second.isAsked(),
                    (long) (second.writtenMb * 1e6),
                    second.misses,
                    second.scans,
                    (long) second.scans * leafRuns,
                    (long) second.scans * innerRuns,
                    (long) second.scans * (leafRuns + innerRuns) / 10,
                    second.scans * 50L,
                    second.owed,
                    ROOM,
                    1);
            due.clear();
            try {
                policy.decide(sample, new TreeGauge(leaves, INNER_BYTES, 2, 0), due);
            } catch (OutOfMemoryError full) {
                // What was decided before is carried out all the same.
            }
            for (Decision decision : due) {
                decisions.add(decision);
                switch (decision.part()) {
                    case LEAVES -> leavesEager = decision.isEager();
                    case INNER_NODES -> innerEager = decision.isEager();
                    case CHECKPOINT_DISTANCE -> distance = decision.distance();
                }
                if (decision.isEager()) {
                    span = decision.span();
                }
            }
            if (policy.isQuietBegun()) {
                quiet++;
                policy.quietSpent();
            }
        }

        /** The keys of some leaves. */
        static Span span(int from, int to) {
            return new Span(
                    from == 0 ? null : new byte[] {(byte) from}, to == LEAVES ? null : new byte[] {(byte) to});
        }

        long changes(Part part) {
            return decisions.stream().filter(decision -> decision.part() == part).count();
        }
    }

    /** After a load of one kind, the same again changes nothing. */
    private static Simulation settled(Second second) {
        Simulation store = new Simulation();
        store.run(60, second);
        List<Decision> first = List.copyOf(store.decisions);
        store.run(HOUR, second);
        assertEquals(first, store.decisions, "changes although nothing changes");
        return store;
    }

    @Test
    void eachSteadyLoadGetsWhatIsBestForIt() {
        Simulation load = settled(Second.LOAD);
        assertFalse(load.leavesEager || load.innerEager);
        assertEquals(FAR, load.distance);

        Simulation reads = settled(Second.READS);
        assertEquals(List.of(), reads.decisions, "reads are as cheap without merges");

        Simulation mixed = settled(Second.SCANS_AND_WRITES);
        assertTrue(mixed.leavesEager && mixed.innerEager, mixed.decisions.toString());
        assertEquals(FAR, mixed.distance);

        Simulation scans = settled(Second.SCANS);
        assertEquals(List.of(), scans.decisions, "scans have merged what they pass, once");

        Simulation few = settled(Second.MANY_WRITES_AND_FEW_SCANS);
        assertFalse(few.leavesEager || few.innerEager);

        assertEquals(FAR, settled(Second.READS_AND_WRITES).distance);
        Simulation updates = settled(Second.READS_AND_FEW_WRITES);
        assertEquals(List.of(), updates.decisions, "unwritten pages would take the cache from reads");

        assertEquals(List.of(), settled(Second.IDLE).decisions);
    }

    @Test
    void itFollowsALoadThatChangesEveryMinute() {
        Simulation store = new Simulation();
        for (int round = 0; round < 3; round++) {
            store.run(60, Second.LOAD);
            assertFalse(store.leavesEager || store.innerEager, "load: " + store.decisions);
            assertEquals(FAR, store.distance);
            store.run(60, Second.READS);
            assertEquals(ASKED, store.distance);
            boolean before = store.leavesEager;
            store.run(60, Second.SCANS);
            assertEquals(before, store.leavesEager, "scans have merged what they pass: " + store.decisions);
            store.run(60, Second.READS_AND_WRITES);
            assertFalse(store.leavesEager || store.innerEager, "updates: " + store.decisions);
            store.run(60, Second.IDLE);
            assertTrue(store.leavesEager, "time to merge what scans were on: " + store.decisions);
            assertEquals(round + 1, store.quiet);
        }
    }

    /** Until something is asked, be it what no filter or leaf is asked for. */
    @Test
    void leavesThatWereScannedAreMadeReadyWhileNothingIsAsked() {
        Simulation store = new Simulation();
        store.hotLeaves = 5;
        store.run(60, Second.SCANS);
        store.run(20, Second.READS_AND_WRITES);
        store.run(9, Second.IDLE);
        assertNull(store.policy.resting());
        for (int second = 0; second < 600; second++) {
            store.run(1, Second.IDLE);
            assertEquals(Simulation.span(0, 5), store.policy.resting());
        }
        for (Second busy : List.of(Second.CACHED_READS, Second.READS, Second.LOAD, Second.SCANS)) {
            store.run(1, busy);
            assertNull(store.policy.resting());
            store.run(9, Second.IDLE);
            assertNull(store.policy.resting());
        }
    }

    /** A rest was decided in one interval alone: where that found the Java heap full, there was none until the next quiet time. */
    @Test
    void aRestThatFindsTheHeapFullIsDecidedInTheNextInterval() {
        Simulation store = new Simulation();
        store.hotLeaves = 5;
        store.run(60, Second.SCANS);
        store.run(20, Second.READS_AND_WRITES);
        store.run(9, Second.IDLE);
        store.heat.refusals = 2;
        store.run(2, Second.IDLE);
        assertEquals(0, store.heat.refusals);
        assertNull(store.policy.resting());
        store.run(1, Second.IDLE);
        assertEquals(Simulation.span(0, 5), store.policy.resting());
        store.run(1, Second.READS);
        assertNull(store.policy.resting());
    }

    @Test
    void leavesThatAreHardlyScannedAreLeftAsTheyAre() {
        Simulation store = new Simulation();
        store.run(60, Second.SCANS);
        store.run(2000, Second.CACHED_READS);
        store.run(60, Second.IDLE);
        assertNull(store.policy.resting(), "scans of half an hour ago");
        store.run(60, Second.LOAD);
        store.run(60, new Second(0, 1, 0, 0));
        store.run(60, Second.IDLE);
        assertNull(store.policy.resting(), "a scan a second");
    }

    /** However much scans were spared: leaves are made ready for them again once the writes are over, and not all the while. */
    @Test
    void scansThatAreOverDoNotMakeWritesDearer() {
        Simulation store = new Simulation();
        store.run(60, Second.SCANS_AND_WRITES);
        assertTrue(store.leavesEager);
        Second writes = new Second(3, 0, 0, 0);
        store.run(10, writes);
        assertFalse(store.leavesEager || store.innerEager, store.decisions.toString());
        store.run(60, writes);
        assertFalse(store.leavesEager || store.innerEager, store.decisions.toString());
        store.run(60, Second.IDLE);
        assertTrue(store.leavesEager, store.decisions.toString());
    }

    @Test
    void onlyKeysThatAreScannedAreMergedEagerly() {
        Simulation store = new Simulation();
        store.hotLeaves = 3;
        store.run(60, Second.SCANS_AND_WRITES);
        assertTrue(store.leavesEager);
        assertEquals(Simulation.span(0, 3), store.span);
        store.hotLeaves = LEAVES;
        store.run(60, Second.SCANS_AND_WRITES);
        assertEquals(Span.ALL, store.span, store.decisions.toString());
        store.hotLeaves = 2;
        store.run(120, Second.SCANS_AND_WRITES);
        assertEquals(Simulation.span(0, 2), store.span, store.decisions.toString());
        assertTrue(store.changes(Part.LEAVES) <= 5, store.decisions.toString());
    }

    @Test
    void aSecondOfAnotherLoadChangesNothing() {
        for (Second usual : new Second[] {Second.IDLE, Second.READS}) {
            Simulation store = new Simulation();
            store.run(HOUR, usual);
            store.run(1, new Second(0, 1500, 600, 0));
            store.run(HOUR, usual);
            assertEquals(List.of(), store.decisions);
        }
    }

    @Test
    void nothingIsMergedEagerlyWhileTooMuchIsOwed() {
        Simulation store = new Simulation();
        Second pressed = new Second(2, 3000, 2000, 0.7);
        store.run(HOUR, pressed);
        assertFalse(store.leavesEager || store.innerEager);
        store.run(60, Second.SCANS_AND_WRITES);
        assertTrue(store.leavesEager);
        store.run(60, pressed);
        assertFalse(store.leavesEager || store.innerEager, store.decisions.toString());
    }

    /** What the public documentation says: of each kind, in the long run, less than one change in thirty seconds. */
    private static void assertDamped(String load, Simulation store, int seconds) {
        for (Part part : Part.values()) {
            long most = seconds / 30 + 12;
            assertTrue(store.changes(part) <= most, load + ": " + store.changes(part) + " changes of " + part);
        }
    }

    /** Whatever the period of a load that alternates, and whatever is drawn by lot: few changes, and fewer than the load makes. */
    @Test
    void itNeverOscillates() {
        Second[] all = {
            Second.IDLE, Second.LOAD, Second.READS, Second.SCANS, Second.SCANS_AND_WRITES, Second.READS_AND_WRITES,
            Second.MANY_WRITES_AND_FEW_SCANS
        };
        for (int period : new int[] {1, 2, 3, 5, 8, 13, 20, 30, 45}) {
            Simulation store = new Simulation();
            store.run(10 * HOUR, i -> i / period % 2 == 0 ? Second.SCANS : Second.LOAD);
            assertDamped("a change every " + period + " s", store, 10 * HOUR);
            if (period <= 8) {
                // Faster than anything can be made of: soon only every five minutes, whatever comes then.
                for (Part part : Part.values()) {
                    long changes = store.changes(part);
                    assertTrue(changes <= 10 * HOUR / 150, "a change every " + period + " s: " + changes + " of " + part);
                }
            }
        }
        for (int seed = 0; seed < 6; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            Simulation store = new Simulation();
            store.run(5 * HOUR, i -> all[random.nextInt(all.length)]);
            assertDamped("lots drawn from " + seed, store, 5 * HOUR);
            Simulation jittery = new Simulation();
            jittery.run(5 * HOUR, i -> new Second(
                    4 * random.nextDouble(), random.nextInt(400), random.nextInt(500), random.nextDouble() / 2));
            assertDamped("noise drawn from " + seed, jittery, 5 * HOUR);
        }
    }

    /** Against a load that turns around whenever the store has followed it. */
    @Test
    void anAdversaryGetsNoMoreThanTheBound() {
        for (int wait = 0; wait < 60; wait += 7) {
            Simulation store = new Simulation();
            int since = 0;
            boolean before = false;
            for (int i = 0; i < 10 * HOUR; i++) {
                since = store.leavesEager == before ? since + 1 : 0;
                before = store.leavesEager;
                boolean turn = since > wait;
                store.step(store.leavesEager == turn ? Second.LOAD : Second.SCANS_AND_WRITES);
            }
            assertDamped("an adversary who waits " + wait + " s", store, 10 * HOUR);
        }
    }

    @Test
    void reasonsSayWhatWasWeighed() {
        Simulation store = new Simulation();
        store.run(60, Second.SCANS_AND_WRITES);
        Map<Part, String> reasons = Map.of(
                Part.LEAVES, "scans look into 8.0 runs at a leaf while lazy and 2.0 while eager",
                Part.INNER_NODES, "scans look into 10.0 runs at a leaf while lazy and 3.0 while eager",
                Part.CHECKPOINT_DISTANCE, "2.0 MB are written a second, and reads miss 2000 pages");
        Map<Part, String> after = Map.of(
                Part.LEAVES, "LAZY_LEVELING", Part.INNER_NODES, "LEVEL_TIERED", Part.CHECKPOINT_DISTANCE, Integer.toString(FAR));
        for (Decision decision : store.decisions) {
            boolean isDistance = decision.part() == Part.CHECKPOINT_DISTANCE;
            assertEquals(isDistance ? Integer.toString(ASKED) : "SIZE_TIERED", decision.from());
            assertEquals(after.get(decision.part()), decision.to());
            assertTrue(isDistance || decision.to().equals(decision.eager().name()));
            assertTrue(decision.reason().contains(reasons.get(decision.part())), decision.reason());
        }
        assertEquals(3, store.decisions.size());
    }

    /** A far distance is one of memory, but no farther than the log can be replayed soon. */
    @Test
    void theLogBetweenFarCheckpointsIsBounded() {
        for (long memtableMib : new long[] {1, 8, 64}) {
            for (int stores : new int[] {1, 4}) {
                AutoPolicy policy = new AutoPolicy(4, memtableMib << 20);
                int room = 100;
                WorkloadSample load = new WorkloadSample(false, 500 << 20, 0, 0, 0, 0, 0, 0, 0, room, stores);
                List<Decision> decisions = new ArrayList<>();
                for (int i = 0; i < 60; i++) {
                    policy.decide(load, new TreeGauge(List.of(), 0, 2, 0), decisions);
                }
                assertEquals(1, decisions.size());
                long byLog = 1024 / stores / memtableMib;
                assertEquals(Math.clamp(byLog, room, 8 * room), decisions.getFirst().distance());
            }
        }
    }

    /** Many small memtables would be as many runs wherever nothing is merged. */
    @Test
    void farIsNoFartherThanCanBeAskedFor() {
        assertEquals(List.of(1024), distances(new AutoPolicy(4, 64 << 10), 60, 750, 1));
    }

    /** It comes nearer as soon as more stores share the memory and the bound. */
    @Test
    void storesThatAreOpenedLaterHaveTheirPartOfTheLog() {
        AutoPolicy policy = new AutoPolicy(4, 8 << 20);
        assertEquals(List.of(128), distances(policy, 60, 100, 1));
        assertEquals(List.of(50), distances(policy, 1, 50, 3));
        assertEquals(List.of(), distances(policy, 60, 50, 3));
        assertEquals(List.of(4), distances(policy, 1, 3, 60));
        assertEquals(List.of(), distances(policy, 60, 3, 60));
        assertEquals(List.of(128), distances(policy, 60, 100, 1));
    }

    /** It stayed as near as other stores had made it, for as long as the load lasted. */
    @Test
    void storesThatAreClosedLeaveTheirPartOfTheLog() {
        AutoPolicy policy = new AutoPolicy(4, 8 << 20);
        assertEquals(List.of(128), distances(policy, 60, 100, 1));
        assertEquals(List.of(64), distances(policy, 1, 50, 2));
        assertEquals(List.of(), distances(policy, 60, 50, 2));
        assertEquals(List.of(), distances(policy, 1, 100, 1), "not before it has been so for a while");
        assertEquals(List.of(128), distances(policy, 60, 100, 1));
        int changes = 0;
        for (int second = 0; second < HOUR; second += 20) {
            changes += distances(policy, 10, 50, 2).size() + distances(policy, 10, 100, 1).size();
        }
        int doublings = Integer.numberOfTrailingZeros(Damping.DWELL_MAX / Damping.DWELL_MIN);
        assertTrue(changes <= 2 * (HOUR / Damping.DWELL_MAX + doublings + 1), changes + " changes where another store is opened time and again");
    }

    /** What the distance became, interval by interval, of a store that is loaded beside others. */
    private static List<Integer> distances(AutoPolicy policy, int seconds, int room, int stores) {
        WorkloadSample load = new WorkloadSample(false, 500 << 20, 0, 0, 0, 0, 0, 0, 0, room, stores);
        List<Decision> decisions = new ArrayList<>();
        for (int i = 0; i < seconds; i++) {
            policy.decide(load, new TreeGauge(List.of(), 0, 2, 0), decisions);
        }
        return decisions.stream().map(Decision::distance).toList();
    }

    @Test
    void aDistanceThatIsAskedForIsInForceAtOnce() {
        Simulation store = new Simulation();
        store.run(60, Second.LOAD);
        assertEquals(FAR, store.distance);
        store.policy.ask(2 * ROOM);
        store.run(HOUR, Second.LOAD);
        assertEquals(1, store.changes(Part.CHECKPOINT_DISTANCE), "there is no room for more");
        store.policy.ask(1);
        store.run(60, Second.LOAD);
        Decision last = store.decisions.getLast();
        assertEquals("1 to " + FAR, last.from() + " to " + last.to());
    }

    /** It once counted as decided, and was neither carried out nor taken back for as long as the load stayed. */
    @Test
    void whatTheJavaHeapHadNoRoomForIsDecidedLater() {
        for (int refusals = 1; refusals <= 3; refusals++) {
            Simulation store = new Simulation();
            store.due.refusals = refusals;
            store.run(60, Second.SCANS_AND_WRITES);
            assertTrue(store.leavesEager && store.innerEager, store.decisions.toString());
            assertEquals(FAR, store.distance);
            assertEquals(0, store.due.refusals);
        }
    }

    /** It once counted as a change, after which the next one had to wait. */
    @Test
    void whatTheJavaHeapHadNoRoomForIsDecidedInTheNextInterval() {
        int usual = secondsUntilAllIsDecided(0);
        for (int refusals = 1; refusals <= 3; refusals++) {
            int seconds = secondsUntilAllIsDecided(refusals);
            assertTrue(seconds <= usual + refusals, seconds + " seconds instead of " + usual);
        }
    }

    private static int secondsUntilAllIsDecided(int refusals) {
        Simulation store = new Simulation();
        store.due.refusals = refusals;
        int seconds = 0;
        while (!store.leavesEager || !store.innerEager || store.distance != FAR) {
            store.run(1, Second.SCANS_AND_WRITES);
            seconds++;
        }
        assertEquals(0, store.due.refusals);
        return seconds;
    }

    /** A quiet time was told of in one interval only, and was lost when that one failed. */
    @Test
    void aQuietTimeIsToldOfUntilItIsSpentOrOver() {
        AutoPolicy policy = new AutoPolicy(ASKED, MEMTABLE_BYTES);
        for (boolean isSpent : new boolean[] {false, true}) {
            decide(policy, 4, false);
            assertFalse(policy.isQuietBegun());
            decide(policy, 1, false);
            assertTrue(policy.isQuietBegun());
            decide(policy, 20, false);
            assertTrue(policy.isQuietBegun());
            if (isSpent) {
                policy.quietSpent();
                assertFalse(policy.isQuietBegun());
                decide(policy, 20, false);
                assertFalse(policy.isQuietBegun());
            }
            decide(policy, 1, true);
            assertFalse(policy.isQuietBegun());
        }
    }

    private static void decide(AutoPolicy policy, int seconds, boolean isAsked) {
        WorkloadSample sample = new WorkloadSample(isAsked, 0, 0, 0, 0, 0, 0, 0, 0, ROOM, 1);
        for (int i = 0; i < seconds; i++) {
            policy.decide(sample, new TreeGauge(List.of(), 0, 2, 0), new ArrayList<>());
        }
    }

    /** Keys of eager nodes once counted as decided, too, and then as changed. */
    @Test
    void keysThatTheJavaHeapHadNoRoomForAreDecidedLater() {
        Simulation store = new Simulation();
        store.run(60, Second.SCANS_AND_WRITES);
        assertEquals(Span.ALL, store.span);
        store.hotLeaves = 2;
        store.due.refusals = 1;
        int seconds = 0;
        while (store.due.refusals > 0) {
            assertTrue(seconds++ < HOUR, "nothing was decided");
            store.run(1, Second.SCANS_AND_WRITES);
        }
        store.run(1, Second.SCANS_AND_WRITES);
        assertNotEquals(Span.ALL, store.span, "in the next interval");
        store.run(HOUR, Second.SCANS_AND_WRITES);
        assertEquals(Simulation.span(0, 2), store.span);
        Decision last = store.decisions.getLast();
        assertEquals("LEVEL_TIERED", last.to());
    }
}
