package dev.heartwood.engine.branch;

import static dev.heartwood.engine.branch.BranchFixture.assertSame;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.BranchFixture.Entry;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Branches of random entries against a sorted list. */
class BranchPropertyTest {
    private static final int ROUNDS = Integer.getInteger("heartwood.rounds", 25);

    @Test
    void anyBranchIsTheListItWasWrittenFrom() {
        long first = Long.getLong("heartwood.seed", System.nanoTime());
        for (long seed = first; seed < first + ROUNDS; seed++) {
            try {
                round(seed);
            } catch (Throwable e) {
                throw new AssertionError(
                        "rerun: mvn test -pl engine -Dtest=BranchPropertyTest -Dheartwood.rounds=1 -Dheartwood.seed=" + seed, e);
            }
        }
    }

    private static void round(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        RandomEntries generator = new RandomEntries(random);
        List<Entry> entries = generator.entries(3000);
        if (entries.isEmpty()) {
            return;
        }
        try (BranchFixture fixture = new BranchFixture()) {
            long before = fixture.pool.allocated();
            Branch branch = fixture.write(entries, random.nextBoolean() ? WriteMode.CACHED : WriteMode.THROUGH);
            if (random.nextBoolean()) {
                branch = recoded(fixture, branch);
            }
            assertEquals(List.of(), BranchVerifier.verify(branch).problems());
            try (BranchCursor cached = BranchCursor.cached(branch, Span.ALL);
                    BranchCursor streamed = BranchCursor.streaming(branch, List.of(Span.ALL));
                    BranchCursor inSmallPieces =
                            BranchCursor.streaming(branch, List.of(Span.ALL), 1 << random.nextInt(4), null)) {
                assertSame(entries, BranchFixture.forward(inSmallPieces), "streamed in small pieces");
                assertSame(entries, BranchFixture.forward(cached), "forward");
                assertSame(entries, BranchFixture.backward(cached), "backward");
                assertSame(entries, BranchFixture.forward(streamed), "streamed");
                assertSame(entries, BranchFixture.backward(streamed), "streamed backward");
                walk(fixture, random, generator, cached, entries);
            }
            ranges(fixture, random, generator, branch, entries);
            points(fixture, random, generator, branch, entries);
            branch.release();
            assertEquals(0, fixture.extents.allocatedCount());
        }
    }

    private static Branch recoded(BranchFixture fixture, Branch branch) {
        ByteBuffer image = ByteBuffer.allocate(branch.encodedBytes());
        branch.encode(image);
        assertEquals(0, image.remaining());
        image.flip();
        // The store is reopened: the descriptor written and its counts are forgotten.
        try (OverflowGroups groups = new OverflowGroups()) {
            Branch decoded = Branch.decode(image, fixture.storage, groups, "test", 0);
            assertEquals(branch.shape(), decoded.shape());
            assertEquals(branch.stats(), decoded.stats());
            return decoded;
        }
    }

    private static byte[] someKey(SplittableRandom random, RandomEntries generator, List<Entry> entries) {
        if (random.nextInt(3) == 0) {
            return generator.key();
        }
        byte[] key = entries.get(random.nextInt(entries.size())).key();
        return switch (random.nextInt(4)) {
            case 0 -> Arrays.copyOf(key, Math.min(key.length + 1, Branch.KEY_BYTES_MAX));
            case 1 -> Arrays.copyOf(key, key.length == 0 ? 0 : random.nextInt(key.length));
            default -> key;
        };
    }

    private static int lowerBound(List<Entry> entries, byte[] key) {
        int low = 0;
        int high = entries.size();
        while (low < high) {
            int middle = low + high >>> 1;
            if (Arrays.compareUnsigned(entries.get(middle).key(), key) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Random moves of a cursor beside an index into the list. */
    static void walk(
            BranchFixture fixture,
            SplittableRandom random,
            RandomEntries generator,
            EntryCursor cursor,
            List<Entry> entries) {
        int at = -1;
        for (int step = 0; step < 200; step++) {
            boolean on = at >= 0 && at < entries.size();
            switch (random.nextInt(on ? 10 : 4)) {
                case 0 -> {
                    byte[] key = someKeyOrAny(random, generator, entries);
                    cursor.seek(fixture.key(key), key.length);
                    at = lowerBound(entries, key);
                }
                case 1 -> {
                    byte[] key = someKeyOrAny(random, generator, entries);
                    cursor.seekBefore(fixture.key(key), key.length);
                    at = lowerBound(entries, key) - 1;
                }
                case 2 -> {
                    cursor.seekFirst();
                    at = entries.isEmpty() ? -1 : 0;
                }
                case 3 -> {
                    cursor.seekLast();
                    at = entries.size() - 1;
                }
                case 4, 5, 6 -> {
                    cursor.next();
                    at++;
                }
                default -> {
                    cursor.previous();
                    at--;
                }
            }
            boolean valid = at >= 0 && at < entries.size();
            assertEquals(valid, cursor.valid(), "valid at " + at + " of " + entries.size());
            if (valid) {
                assertSame(entries.get(at), BranchFixture.entry(cursor), "step " + step);
            }
        }
    }

    private static byte[] someKeyOrAny(SplittableRandom random, RandomEntries generator, List<Entry> entries) {
        return entries.isEmpty() ? generator.key() : someKey(random, generator, entries);
    }

    private static void ranges(
            BranchFixture fixture, SplittableRandom random, RandomEntries generator, Branch branch, List<Entry> entries) {
        for (int round = 0; round < 10; round++) {
            TreeSet<byte[]> bounds = new TreeSet<>(Arrays::compareUnsigned);
            for (int i = random.nextInt(7); i >= 0; i--) {
                bounds.add(someKey(random, generator, entries));
            }
            List<Span> ranges = new ArrayList<>();
            List<byte[]> sorted = List.copyOf(bounds);
            int i = 0;
            if (random.nextBoolean()) {
                ranges.add(new Span(null, sorted.get(i++)));
            }
            for (; i + 1 < sorted.size(); i += random.nextInt(2) + 1) {
                ranges.add(new Span(sorted.get(i), sorted.get(i + 1)));
            }
            if (i < sorted.size() && random.nextBoolean()) {
                ranges.add(new Span(sorted.get(i), null));
            }
            List<Entry> expected = entries.stream()
                    .filter(entry -> ranges.stream().anyMatch(range -> range.contains(entry.key())))
                    .toList();
            try (BranchCursor cursor = random.nextBoolean()
                    ? BranchCursor.streaming(branch, ranges)
                    : BranchCursor.cached(branch, ranges)) {
                assertSame(expected, BranchFixture.forward(cursor), "ranges " + ranges);
                assertSame(expected, BranchFixture.backward(cursor), "ranges backward " + ranges);
                walk(fixture, random, generator, cursor, expected);
            }
        }
    }

    private static void points(
            BranchFixture fixture, SplittableRandom random, RandomEntries generator, Branch branch, List<Entry> entries) {
        for (int round = 0; round < 500; round++) {
            byte[] key = someKey(random, generator, entries);
            int at = lowerBound(entries, key);
            long snapshot = Long.MAX_VALUE;
            if (random.nextBoolean()) {
                Entry some = entries.get(random.nextInt(entries.size()));
                key = random.nextInt(4) == 0 ? key : some.key();
                at = lowerBound(entries, key);
                int version = at + random.nextInt(20);
                long near = version < entries.size() ? entries.get(version).sequence() : some.sequence();
                snapshot = Math.max(0, near + random.nextInt(3) - 1);
            }
            while (at < entries.size()
                    && Arrays.equals(entries.get(at).key(), key)
                    && entries.get(at).sequence() > snapshot) {
                at++;
            }
            boolean present = at < entries.size() && Arrays.equals(entries.get(at).key(), key);
            assertSame(present ? entries.get(at) : null, fixture.find(branch, key, snapshot), "point search");
        }
    }
}
