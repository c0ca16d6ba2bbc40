package dev.heartwood.engine.branch;

import static dev.heartwood.engine.branch.BranchFixture.assertSame;

import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.BranchFixture.Entry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Merges of random branches against a sorted list. */
class MergeCursorPropertyTest {
    private static final int ROUNDS = Integer.getInteger("heartwood.rounds", 25);

    @Test
    void aMergeIsTheSortedUnionOfItsSources() {
        long first = Long.getLong("heartwood.seed", System.nanoTime());
        for (long seed = first; seed < first + ROUNDS; seed++) {
            try {
                round(seed);
            } catch (Throwable e) {
                throw new AssertionError(
                        "rerun: mvn test -pl engine -Dtest=MergeCursorPropertyTest -Dheartwood.rounds=1 -Dheartwood.seed=" + seed, e);
            }
        }
    }

    private static void round(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        RandomEntries generator = new RandomEntries(random);
        List<Entry> pool = generator.entries(2000);
        int count = random.nextInt(10);
        List<List<Entry>> lists = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            lists.add(new ArrayList<>());
        }
        // Younger sources hold newer versions only, and come first among equal ones.
        List<Entry> expected = new ArrayList<>();
        boolean disjoint = random.nextBoolean();
        int turn = 0;
        int youngest = count - 1;
        for (int e = 0; e < pool.size() && count > 0; e++) {
            Entry entry = pool.get(e);
            if (!disjoint || e % 50 == 0) {
                turn = random.nextInt(count);
            }
            boolean sameKey = e > 0 && Arrays.equals(pool.get(e - 1).key(), entry.key());
            youngest = sameKey ? youngest : count - 1;
            int limit = youngest;
            for (int i = limit; i >= 0; i--) {
                if (i == Math.min(turn, limit) || random.nextInt(40) == 0) {
                    youngest = i;
                    byte[] value = entry.value().length == 0 ? entry.value() : entry.value().clone();
                    if (value.length > 0) {
                        value[0] = (byte) i;
                    }
                    Entry own = new Entry(entry.key(), entry.sequence(), entry.kind(), value);
                    lists.get(i).add(own);
                    expected.add(own);
                }
            }
        }
        try (BranchFixture fixture = new BranchFixture()) {
            List<Branch> branches = new ArrayList<>();
            List<EntryCursor> cursors = new ArrayList<>();
            for (List<Entry> list : lists) {
                if (list.isEmpty()) {
                    cursors.add(new MergeCursor());
                    continue;
                }
                Branch branch = fixture.write(list);
                branches.add(branch);
                cursors.add(random.nextBoolean()
                        ? BranchCursor.cached(branch, Span.ALL)
                        : BranchCursor.streaming(branch, List.of(Span.ALL)));
            }
            try (MergeCursor merge = new MergeCursor(cursors.toArray(EntryCursor[]::new))) {
                assertSame(expected, BranchFixture.forward(merge), "forward");
                assertSame(expected, BranchFixture.backward(merge), "backward");
                BranchPropertyTest.walk(fixture, random, generator, merge, expected);
                rewrite(fixture, merge, expected);
            }
            branches.forEach(Branch::release);
            org.junit.jupiter.api.Assertions.assertEquals(0, fixture.extents.allocatedCount());
        }
    }

    /** Compacts the merge into one branch, which shares the large values of its sources. */
    private static void rewrite(BranchFixture fixture, MergeCursor merge, List<Entry> expected) {
        BranchWriter writer = new BranchWriter(fixture.storage, fixture.newId(), WriteMode.THROUGH);
        for (merge.seekFirst(); merge.valid(); merge.next()) {
            writer.add(merge);
        }
        Branch merged = writer.finish();
        if (merged == null) {
            org.junit.jupiter.api.Assertions.assertTrue(expected.isEmpty());
            return;
        }
        org.junit.jupiter.api.Assertions.assertEquals(List.of(), BranchVerifier.verify(merged).problems());
        try (BranchCursor cursor = BranchCursor.cached(merged, Span.ALL)) {
            assertSame(expected, BranchFixture.forward(cursor), "merged");
        }
        merged.release();
    }
}
