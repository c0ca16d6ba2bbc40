package dev.heartwood.engine.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.CompactionFilter;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.trunk.TrunkEvents;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** A compaction filter without a decision fails, whichever way it fails: what it was asked for is kept and counted. Null was not counted. */
class FailingFilterTest {
    private static final int KEYS = 5;

    private record Deciding(Supplier<Decision> decision) implements CompactionFilter {
        @Override
        public String name() {
            return "deciding";
        }

        @Override
        public Decision filter(MemorySegment key, MemorySegment value) {
            return decision.get();
        }
    }

    /** Takes what is kept as it was, and nothing else. */
    private static final class Kept implements EntrySink {
        final TreeMap<String, String> values = new TreeMap<>();

        @Override
        public void addCurrent(EntryCursor cursor, long sequence) {
            byte[] key = Memory.bytes(cursor.keyAddress(), cursor.keyLength());
            values.put(new String(key, StandardCharsets.US_ASCII), new String(cursor.value(), StandardCharsets.US_ASCII));
        }

        @Override
        public void add(long key, int keyLength, long sequence, byte kind, byte[] value) {
            throw new AssertionError("changed");
        }

        @Override
        public long entries() {
            return values.size();
        }
    }

    private static long failures(Supplier<CompactionFilter.Decision> decision) {
        TreeMap<String, List<History.Version>> input = new TreeMap<>();
        TreeMap<String, String> values = new TreeMap<>();
        for (int i = 0; i < KEYS; i++) {
            input.put("key" + i, List.of(new History.Version(1, Entries.PUT, "value" + i)));
            values.put("key" + i, "value" + i);
        }
        TrunkEvents events = new TrunkEvents();
        Kept kept = new Kept();
        try (MemoryPool pool = MemoryPool.open(1 << 20)) {
            long scratch = pool.allocate(2 * ListCursor.SCRATCH_BYTES);
            new VersionCollapser(new Strata(new long[0], true), null, new Deciding(decision), events, new GatheredOperands())
                    .run(new ListCursor(input, scratch), kept, scratch + ListCursor.SCRATCH_BYTES);
            pool.free(scratch, 2 * ListCursor.SCRATCH_BYTES);
        }
        assertEquals(values, kept.values);
        return events.filterFailures();
    }

    @Test
    void itIsCountedHoweverItFails() {
        assertEquals(0, failures(() -> CompactionFilter.Decision.KEEP));
        assertEquals(KEYS, failures(() -> null));
        assertEquals(KEYS, failures(() -> {
            throw new IllegalStateException("fails");
        }));
    }
}
