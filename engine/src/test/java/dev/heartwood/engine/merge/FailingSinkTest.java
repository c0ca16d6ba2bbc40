package dev.heartwood.engine.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.StoreException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.trunk.TrunkEvents;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A branch that could not take an entry takes nothing after it, whatever the entry was made by, and whoever merges is told. */
class FailingSinkTest {
    private static final int KEYS = 6;
    private static final int GATHERED_BYTES = 512;

    /** Refuses one entry. */
    private static final class Refusing implements EntrySink {
        private final int refused;
        private final StoreException refusal = new InsufficientMemoryException("no buffer");
        private int added;

        Refusing(int refused) {
            this.refused = refused;
        }

        @Override
        public void addCurrent(EntryCursor cursor, long sequence) {
            add(cursor.keyAddress(), cursor.keyLength(), sequence, cursor.kind(), cursor.value());
        }

        @Override
        public void add(long key, int keyLength, long sequence, byte kind, byte[] value) {
            if (++added == refused) {
                throw refusal;
            }
        }

        @Override
        public long entries() {
            return added;
        }
    }

    /** Of each kind of key one: with operands above a value, above a deletion or nothing, few or more than are held at once, and without any. */
    private static TreeMap<String, List<History.Version>> input() {
        TreeMap<String, List<History.Version>> versions = new TreeMap<>();
        for (int i = 0; i < KEYS; i++) {
            String key = "key" + i;
            List<History.Version> newestFirst = new ArrayList<>();
            for (int operand = i < KEYS / 2 ? 2 : 20; operand > 0; operand--) {
                newestFirst.add(new History.Version(operand + 1, Entries.MERGE, "x"));
            }
            if (i % 3 > 0) {
                newestFirst.add(new History.Version(1, i % 3 == 1 ? Entries.PUT : Entries.DELETE, ""));
            }
            versions.put(key, newestFirst);
            versions.put(key + "plain", List.of(new History.Version(1, Entries.PUT, "plain")));
        }
        return versions;
    }

    private static void collapse(boolean bottom, TrunkEvents events, EntrySink sink) {
        try (MemoryPool pool = MemoryPool.open(1 << 20)) {
            long scratch = pool.allocate(2 * ListCursor.SCRATCH_BYTES);
            new VersionCollapser(
                            new Strata(new long[0], bottom),
                            new History.Append(false),
                            null,
                            events,
                            new GatheredOperands(GATHERED_BYTES))
                    .run(new ListCursor(input(), scratch), sink, scratch + ListCursor.SCRATCH_BYTES);
            pool.free(scratch, 2 * ListCursor.SCRATCH_BYTES);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void nothingFollowsWhatWasRefused(boolean bottom) {
        Refusing all = new Refusing(0);
        collapse(bottom, new TrunkEvents(), all);
        assertTrue(all.added >= 2 * KEYS, all.added + " entries");
        for (int refused = 1; refused <= all.added; refused++) {
            Refusing sink = new Refusing(refused);
            TrunkEvents events = new TrunkEvents();
            assertSame(sink.refusal, assertThrows(StoreException.class, () -> collapse(bottom, events, sink)));
            assertEquals(refused, sink.added);
            assertEquals(0, events.filterFailures());
        }
    }
}
