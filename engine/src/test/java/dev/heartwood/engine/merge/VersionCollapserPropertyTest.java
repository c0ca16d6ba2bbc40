package dev.heartwood.engine.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CompactionFilter;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.MergeOperator;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.node.KeptVersions;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.trunk.TrunkEvents;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Collapses random versions and compares what every live snapshot and the newest reader see before and after. */
class VersionCollapserPropertyTest {
    private static final String SEED = "heartwood.seed";
    private static final int ROUNDS = 4000;
    private static final int SCRATCH_BYTES = ListCursor.SCRATCH_BYTES;

    @Test
    void whatAnyReaderSeesStaysAndNothingNeedlessIsKept() {
        long first = Long.getLong(SEED, System.nanoTime());
        try (MemoryPool pool = MemoryPool.open(1 << 20)) {
            long scratch = pool.allocate(2 * SCRATCH_BYTES);
            for (long seed = first; seed < first + ROUNDS; seed++) {
                try {
                    new Round(new SplittableRandom(seed), scratch).run();
                } catch (RuntimeException | AssertionError e) {
                    throw new AssertionError("rerun: -Dtest=VersionCollapserPropertyTest -D" + SEED + "=" + seed, e);
                }
            }
            pool.free(scratch, 2 * SCRATCH_BYTES);
        }
    }

    /** As that of an entry whose value is too large to be put together in memory. */
    private static final class Scattered extends ListCursor {
        Scattered(TreeMap<String, List<History.Version>> input, long scratch) {
            super(input, scratch);
        }

        @Override
        public long valueAddress() {
            throw new InsufficientMemoryException("no block for a value");
        }
    }

    @Test
    void filtersAreShownValuesThatFindNoBlock() {
        List<String> shown = new ArrayList<>();
        CompactionFilter dropping = new CompactionFilter() {
            @Override
            public String name() {
                return "dropping";
            }

            @Override
            public Decision filter(MemorySegment key, MemorySegment value) {
                assertTrue(value.isReadOnly());
                shown.add(History.string(value.toArray(ValueLayout.JAVA_BYTE)));
                return Decision.DROP;
            }
        };
        TreeMap<String, List<History.Version>> input = new TreeMap<>();
        input.put("a", List.of(new History.Version(1, Entries.PUT, "one")));
        input.put("b", List.of(new History.Version(2, Entries.PUT, "two")));
        Sink sink = new Sink();
        TrunkEvents events = new TrunkEvents();
        try (MemoryPool pool = MemoryPool.open(1 << 20)) {
            long scratch = pool.allocate(2 * SCRATCH_BYTES);
            new VersionCollapser(new long[0], true, null, dropping, events)
                    .run(new Scattered(input, scratch), sink, scratch + SCRATCH_BYTES);
            pool.free(scratch, 2 * SCRATCH_BYTES);
        }
        assertEquals(List.of("one", "two"), shown);
        assertEquals(Map.of(), sink.output);
        assertEquals(0, events.filterFailures());
    }

    private static final class Round {
        private final SplittableRandom random;
        private final long scratch;
        private final TreeSet<Long> snapshots = new TreeSet<>();
        private final boolean bottom;
        private final boolean throwing;
        /** How much is gathered at once of a key's operands; all of them, or next to nothing. */
        private final long gatheredBytes;
        /** What the last merge has kept for snapshots alone. */
        private KeptVersions lastKept;

        Round(SplittableRandom random, long scratch) {
            this.random = random;
            this.scratch = scratch;
            this.bottom = random.nextBoolean();
            this.throwing = random.nextInt(8) == 0;
            this.gatheredBytes = random.nextBoolean() ? Long.MAX_VALUE : random.nextLong(500);
        }

        void run() {
            int span = random.nextInt(5, 40);
            for (int i = random.nextInt(5); i > 0; i--) {
                snapshots.add(random.nextLong(1, span));
            }
            TreeMap<String, List<History.Version>> below = new TreeMap<>();
            TreeMap<String, List<History.Version>> input = new TreeMap<>();
            int inputFrom = bottom ? 1 : span / 3;
            for (long sequence = 1; sequence <= span; sequence++) {
                String key = "k".repeat(random.nextInt(5));
                TreeMap<String, List<History.Version>> to = sequence < inputFrom ? below : input;
                to.computeIfAbsent(key, k -> new ArrayList<>()).addFirst(version(sequence));
            }
            TreeMap<String, List<History.Version>> output = collapse(input, snapshots);
            TreeSet<Long> readers = new TreeSet<>(snapshots);
            readers.add(Entries.NEWEST);
            for (String key : input.keySet()) {
                List<History.Version> older = below.getOrDefault(key, List.of());
                List<History.Version> kept = output.getOrDefault(key, List.of());
                for (long reader : readers) {
                    String before = History.fold(joined(input.get(key), older), reader);
                    String after = History.fold(joined(kept, older), reader);
                    assertEquals(before, after, () -> reader + " of " + input + " over " + older + " became " + kept);
                }
                checkNeeded(input.get(key), kept);
            }
            assertTrue(input.keySet().containsAll(output.keySet()), "keys out of nothing");
            if (isCollapsedWhole()) {
                checkKept(output);
            }
        }

        /** Whether of each key there is one entry for each group of versions that the same readers see. */
        private boolean isCollapsedWhole() {
            return !throwing && gatheredBytes == Long.MAX_VALUE;
        }

        /** Counts what is there for the sake of snapshots alone, and when it is free; then a merge removes as much. */
        private void checkKept(TreeMap<String, List<History.Version>> output) {
            KeptVersions kept = lastKept;
            assertEquals(entries(output) - output.size(), kept.entries(), () -> snapshots + ": " + output);
            TreeSet<Long> oldestThen = new TreeSet<>(snapshots);
            oldestThen.add(Entries.NEWEST);
            for (long oldest : oldestThen) {
                long free = 0;
                for (List<History.Version> versions : output.values()) {
                    for (History.Version younger : versions.subList(0, versions.size() - 1)) {
                        free += snapshots.lower(younger.sequence()) < oldest ? 1 : 0;
                    }
                }
                assertEquals(free, kept.free(oldest), "beside " + oldest + ": " + output);
                TreeMap<String, List<History.Version>> merged = collapse(output, snapshots.tailSet(oldest));
                assertTrue(entries(merged) <= entries(output) - free, () -> output + " became " + merged);
            }
        }

        private static long entries(TreeMap<String, List<History.Version>> versions) {
            return versions.values().stream().mapToLong(List::size).sum();
        }

        private History.Version version(long sequence) {
            return switch (random.nextInt(4)) {
                case 0 -> new History.Version(sequence, Entries.DELETE, "");
                case 1 -> new History.Version(sequence, Entries.PUT, sequence + ";");
                default -> new History.Version(sequence, Entries.MERGE, "+" + sequence + ";");
            };
        }

        private static List<History.Version> joined(List<History.Version> younger, List<History.Version> older) {
            List<History.Version> all = new ArrayList<>(younger);
            all.addAll(older);
            return all;
        }

        /** One entry for each group of versions that the same readers see, and none that hides nothing. */
        private void checkNeeded(List<History.Version> input, List<History.Version> kept) {
            for (int i = 1; i < kept.size(); i++) {
                assertTrue(kept.get(i - 1).sequence() > kept.get(i).sequence(), () -> "order of " + kept);
            }
            if (snapshots.isEmpty() && bottom) {
                assertTrue(kept.stream().noneMatch(v -> v.kind() == Entries.DELETE), () -> "nothing below " + kept);
            }
            if (!isCollapsedWhole()) {
                return;
            }
            assertTrue(kept.size() <= snapshots.size() + 1, () -> kept + " for snapshots " + snapshots);
            if (snapshots.isEmpty() && bottom) {
                boolean gone = History.fold(input, Entries.NEWEST) == null;
                assertEquals(gone ? 0 : 1, kept.size(), () -> kept + " of " + input);
                assertTrue(gone || kept.getFirst().kind() == Entries.PUT, () -> kept + " of " + input);
            }
        }

        private TreeMap<String, List<History.Version>> collapse(
                TreeMap<String, List<History.Version>> input, SortedSet<Long> seen) {
            long[] live = seen.stream().mapToLong(Long::longValue).toArray();
            boolean combines = gatheredBytes == Long.MAX_VALUE || random.nextBoolean();
            MergeOperator operator = throwing ? new Throwing(random.nextBoolean()) : new History.Append(combines);
            Sink sink = new Sink();
            VersionCollapser collapser = new VersionCollapser(
                    new Strata(live, bottom), operator, null, new TrunkEvents(), new GatheredOperands(gatheredBytes));
            collapser.run(new ListCursor(input, scratch), sink, scratch + SCRATCH_BYTES);
            lastKept = collapser.kept();
            return sink.output;
        }
    }

    /** Throws always, or where it meets some operands. */
    private static final class Throwing implements MergeOperator {
        private final boolean always;
        private final History.Append append = new History.Append(true);

        Throwing(boolean always) {
            this.always = always;
        }

        @Override
        public String name() {
            return "throwing";
        }

        @Override
        public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            if (always || operands.stream().anyMatch(operand -> History.string(operand).contains("7"))) {
                throw new IllegalStateException("the operator of a user");
            }
            return append.merge(key, existing, operands);
        }
    }

    private static final class Sink implements EntrySink {
        final TreeMap<String, List<History.Version>> output = new TreeMap<>();
        private long entries;

        @Override
        public void addCurrent(EntryCursor cursor, long sequence) {
            add(cursor.keyAddress(), cursor.keyLength(), sequence, cursor.kind(), cursor.value());
        }

        @Override
        public void add(long key, int keyLength, long sequence, byte kind, byte[] value) {
            String name = History.string(Memory.bytes(key, keyLength));
            assertTrue(output.isEmpty() || output.lastKey().compareTo(name) <= 0, "keys out of order");
            output.computeIfAbsent(name, k -> new ArrayList<>())
                    .add(new History.Version(sequence, kind, History.string(value)));
            entries++;
        }

        @Override
        public long entries() {
            return entries;
        }
    }
}
