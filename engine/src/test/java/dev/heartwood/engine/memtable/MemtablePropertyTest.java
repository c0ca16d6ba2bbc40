package dev.heartwood.engine.memtable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.os.MemoryPool;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Random operations against a sorted map. Rerun one seed with {@code -Dmemtable.seed=N}.
 */
class MemtablePropertyTest {
    private static final int RUNS = 60;
    private static final int LANES = 3;

    /** Key, then newest version first, then the one inserted later first. */
    private record Version(byte[] key, long sequence, long ordinal) {
        static final Comparator<Version> ORDER = Comparator.comparing(Version::key, Arrays::compareUnsigned)
                .thenComparing(Comparator.comparingLong(Version::sequence).reversed())
                .thenComparing(Comparator.comparingLong(Version::ordinal).reversed());
    }

    @Test
    void behavesAsASortedMap() {
        Long chosen = Long.getLong("memtable.seed");
        long first = chosen != null ? chosen : new SplittableRandom().nextLong() >>> 16;
        for (long seed = first; seed < first + (chosen != null ? 1 : RUNS); seed++) {
            try {
                new Run(seed).run();
            } catch (Throwable e) {
                throw new AssertionError("rerun with -Dtest=MemtablePropertyTest -Dmemtable.seed=" + seed, e);
            }
        }
    }

    private static final class Run {
        private final SplittableRandom random;
        private final TreeMap<Version, MemtableFixture.Seen> model = new TreeMap<>(Version.ORDER);
        private final byte[][] keys;
        private MemtableFixture fixture;
        private final Set<Long> drawnSequences = new HashSet<>();
        private long ordinal;
        private long sequenceNext = 1;

        Run(long seed) {
            random = new SplittableRandom(seed);
            keys = randomKeys();
        }

        private byte[][] randomKeys() {
            byte[][] made = new byte[1 << random.nextInt(0, 11)][];
            int alphabet = 1 << random.nextInt(0, 9);
            int lengthMax = random.nextInt(1, 4) * random.nextInt(1, 20);
            byte[] prefix = bytes(random.nextInt(0, 12), alphabet);
            int prefixed = random.nextInt(3);
            for (int i = 0; i < made.length; i++) {
                byte[] tail = bytes(random.nextInt(0, lengthMax + 1), alphabet);
                boolean withPrefix = prefixed == 2 || prefixed == 1 && random.nextInt(20) != 0;
                made[i] = withPrefix ? Arrays.copyOf(prefix, prefix.length + tail.length) : tail;
                if (withPrefix) {
                    System.arraycopy(tail, 0, made[i], prefix.length, tail.length);
                }
            }
            return made;
        }

        private byte[] bytes(int length, int alphabet) {
            byte[] made = new byte[length];
            for (int i = 0; i < length; i++) {
                made[i] = (byte) random.nextInt(alphabet);
            }
            return made;
        }

        void run() {
            try (MemoryPool pool = MemoryPool.open(16 << 20);
                    MemoryPool scratch = MemoryPool.open(1 << 20)) {
                Memtable memtable = new Memtable(pool, new SortArrays(), 1, LANES, 8 << 20);
                fixture = new MemtableFixture(memtable, scratch);
                int steps = 1 << random.nextInt(4, 12);
                int checks = random.nextInt(1, 40);
                for (int step = 0; step < steps; step++) {
                    if (random.nextInt(10) == 0) {
                        batch(memtable);
                    } else {
                        insert();
                    }
                    if (random.nextInt(steps) < checks) {
                        check(memtable);
                    }
                    findRandom();
                }
                check(memtable);
                memtable.seal();
                List<String> all = model.values().stream().map(Object::toString).toList();
                assertSame(all, MemtableFixture.forward(memtable.sealedCursor()));
                assertEquals(model.size(), memtable.entries());
                memtable.release();
                assertEquals(0, pool.allocated());
            }
        }

        private void insert() {
            MemtableFixture.Seen seen = randomEntry(drawSequence());
            if (!fixture.insert(random.nextInt(LANES), seen.key(), seen.sequence(), seen.kind(), seen.value())) {
                throw new AssertionError("full");
            }
            add(seen);
        }

        /** Mostly the next one; sometimes one left out before, as when writers overtake each other. Never the same again. */
        private long drawSequence() {
            sequenceNext++;
            long drawn;
            do {
                drawn = sequenceNext * 8 + random.nextInt(8) - (random.nextInt(4) == 0 ? random.nextInt(64) : 0);
            } while (drawn < 1 || !drawnSequences.add(drawn));
            return drawn;
        }

        private MemtableFixture.Seen randomEntry(long sequence) {
            byte kind = (byte) random.nextInt(Entries.PUT, Entries.MERGE + 1);
            byte[] value = kind == Entries.DELETE ? new byte[0] : bytes(random.nextInt(0, 30), 256);
            return new MemtableFixture.Seen(keys[random.nextInt(keys.length)], sequence, kind, value);
        }

        private void add(MemtableFixture.Seen seen) {
            model.put(new Version(seen.key(), seen.sequence(), ordinal++), seen);
        }

        private void batch(Memtable memtable) {
            List<MemtableFixture.Seen> entries = new ArrayList<>();
            int count = random.nextInt(0, 1 << random.nextInt(1, 8));
            long bytes = 0;
            long sequence = drawSequence();
            for (int i = 0; i < count; i++) {
                MemtableFixture.Seen seen = randomEntry(random.nextBoolean() ? sequence : drawSequence());
                entries.add(seen);
                bytes += seen.key().length + seen.value().length;
            }
            int lane = random.nextInt(LANES);
            if (!memtable.reserveBatch(lane, count, bytes)) {
                throw new AssertionError("full");
            }
            long batch = memtable.beginBatch(lane);
            for (MemtableFixture.Seen seen : entries) {
                fixture.insertInBatch(batch, seen.key(), seen.sequence(), seen.kind(), seen.value());
            }
            if (random.nextInt(4) == 0) {
                check(memtable);
            }
            findRandom();
            memtable.commitBatch(batch);
            entries.forEach(this::add);
        }

        private long randomSnapshot() {
            return random.nextInt(3) == 0 ? Entries.NEWEST : random.nextLong(0, sequenceNext * 8 + 8);
        }

        /** Names the first difference only: the lists are long. */
        private static void assertSame(List<String> expected, List<String> actual) {
            for (int i = 0; i < Math.min(expected.size(), actual.size()); i++) {
                assertEquals(expected.get(i), actual.get(i), "entry " + i);
            }
            assertEquals(expected.size(), actual.size());
        }

        private void findRandom() {
            byte[] key = keys[random.nextInt(keys.length)];
            long snapshot = randomSnapshot();
            Map.Entry<Version, MemtableFixture.Seen> expected =
                    model.ceilingEntry(new Version(key, snapshot, Long.MAX_VALUE));
            boolean isThere = expected != null && Arrays.equals(expected.getKey().key(), key);
            String text = isThere ? expected.getValue().toString() : "null";
            assertEquals(text, String.valueOf(fixture.find(key, snapshot)));
        }

        private void check(Memtable memtable) {
            long snapshot = randomSnapshot();
            List<MemtableFixture.Seen> visible = model.values().stream()
                    .filter(seen -> seen.sequence() <= snapshot)
                    .toList();
            List<String> expected = visible.stream().map(Object::toString).toList();
            EntryCursor cursor = memtable.cursor(snapshot);
            if (random.nextInt(4) == 0) {
                assertSame(expected, MemtableFixture.forward(cursor));
                assertSame(expected.reversed(), MemtableFixture.backward(cursor));
            }
            for (int i = 0; i < 4; i++) {
                walk(cursor, visible, expected);
            }
        }

        private void walk(EntryCursor cursor, List<MemtableFixture.Seen> visible, List<String> expected) {
            byte[] target = random.nextBoolean() ? keys[random.nextInt(keys.length)] : bytes(random.nextInt(0, 20), 256);
            int position = 0;
            while (position < visible.size() && Arrays.compareUnsigned(visible.get(position).key(), target) < 0) {
                position++;
            }
            if (random.nextBoolean()) {
                fixture.seek(cursor, target);
            } else {
                fixture.seekBefore(cursor, target);
                position--;
            }
            for (int step = 0; step < 30 && position >= 0 && position < expected.size(); step++) {
                assertEquals(expected.get(position), MemtableFixture.entry(cursor).toString());
                if (random.nextInt(3) != 0) {
                    cursor.next();
                    position++;
                } else {
                    cursor.previous();
                    position--;
                }
            }
            assertEquals(position >= 0 && position < expected.size(), cursor.valid());
        }
    }
}
