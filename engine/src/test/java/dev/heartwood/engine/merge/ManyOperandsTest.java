package dev.heartwood.engine.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.MergeOperator;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.trunk.TrunkEvents;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Merges, and whoever packed a memtable, had all operands of a key on the Java heap at once, where they take more than twenty times what they
 * took in memtables: a counter that was added to without a pause filled it, and did so again each time the store was opened.
 */
class ManyOperandsTest {
    private static final int OPERANDS = 10_000;
    private static final int GATHERED_BYTES = 8 << 10;
    /** An operand takes more than this. */
    private static final int GATHERED_MAX = GATHERED_BYTES / 32;

    /** Adds numbers. */
    private static final class Sum implements MergeOperator {
        private final boolean combines;
        /** The most operands that it was given at once. */
        private int most;

        Sum(boolean combines) {
            this.combines = combines;
        }

        @Override
        public String name() {
            return "sum";
        }

        @Override
        public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            most = Math.max(most, operands.size());
            long sum = existing == null ? 0 : number(existing);
            for (byte[] operand : operands) {
                sum += number(operand);
            }
            return History.bytes(Long.toString(sum));
        }

        @Override
        public byte[] combine(byte[] key, List<byte[]> operands) {
            return combines ? merge(key, null, operands) : null;
        }

        private static long number(byte[] value) {
            return Long.parseLong(History.string(value));
        }
    }

    /** The operands of a key, what becomes of them, and how many were taken and not yet given at any moment. */
    private static final class Collapse implements EntrySink {
        private final List<History.Version> input = new ArrayList<>();
        private final List<History.Version> output = new ArrayList<>();
        private int taken;
        private int mostHeld;

        /** Operands above a value, or above nothing for null. */
        Collapse(String base) {
            for (int i = 0; i < OPERANDS; i++) {
                input.add(new History.Version(OPERANDS + 1 - i, Entries.MERGE, Integer.toString(i % 7)));
            }
            if (base != null) {
                input.add(new History.Version(1, Entries.PUT, base));
            }
        }

        void run(boolean bottom, Sum operator) {
            try (MemoryPool pool = MemoryPool.open(1 << 20)) {
                long scratch = pool.allocate(2 * ListCursor.SCRATCH_BYTES);
                EntryCursor counted = new ListCursor(new TreeMap<>(Map.of("counter", input)), scratch) {
                    @Override
                    public void next() {
                        taken++;
                        super.next();
                    }
                };
                new VersionCollapser(
                                new Strata(new long[0], bottom),
                                operator,
                                null,
                                new TrunkEvents(),
                                new GatheredOperands(GATHERED_BYTES))
                        .run(counted, this, scratch + ListCursor.SCRATCH_BYTES);
                pool.free(scratch, 2 * ListCursor.SCRATCH_BYTES);
            }
            assertEquals(sum(input), sum(output));
            assertTrue(operator == null || operator.most <= GATHERED_MAX, () -> operator.most + " operands at once");
        }

        private static long sum(List<History.Version> versions) {
            return versions.stream().mapToLong(version -> Long.parseLong(version.value())).sum();
        }

        void assertGivesAsItTakes() {
            assertTrue(mostHeld <= GATHERED_MAX, mostHeld + " operands held");
        }

        @Override
        public void addCurrent(EntryCursor cursor, long sequence) {
            add(cursor.keyAddress(), cursor.keyLength(), sequence, cursor.kind(), cursor.value());
        }

        @Override
        public void add(long key, int keyLength, long sequence, byte kind, byte[] value) {
            mostHeld = Math.max(mostHeld, taken - output.size());
            output.add(new History.Version(sequence, kind, History.string(value)));
        }

        @Override
        public long entries() {
            return output.size();
        }
    }

    @Test
    void packingHoldsFewAtOnce() {
        Collapse packing = new Collapse(null);
        packing.run(false, new Sum(false));
        packing.assertGivesAsItTakes();
        assertEquals(packing.input, packing.output);
    }

    /** As in a node above the leaves, where others may follow that have nothing to be applied to. */
    @Test
    void aMergeAppliesTheOldestAndKeepsTheOthers() {
        Collapse merge = new Collapse("5");
        merge.run(false, new Sum(false));
        merge.assertGivesAsItTakes();
        int kept = merge.output.size() - 1;
        assertTrue(kept < OPERANDS, kept + " operands kept");
        assertEquals(merge.input.subList(0, kept), merge.output.subList(0, kept));
        assertEquals(Entries.PUT, merge.output.getLast().kind());
    }

    @Test
    void aMergeOfAllThereIsAppliesThemAll() {
        for (String base : new String[] {"5", null}) {
            Collapse merge = new Collapse(base);
            merge.run(true, new Sum(false));
            assertEquals(1, merge.output.size());
            assertEquals(Entries.PUT, merge.output.getFirst().kind());
        }
    }

    @Test
    void operandsThatCombineBecomeOne() {
        Collapse packing = new Collapse(null);
        packing.run(false, new Sum(true));
        assertEquals(1, packing.output.size());
        assertEquals(OPERANDS + 1, packing.output.getFirst().sequence());
        Collapse merge = new Collapse("5");
        merge.run(true, new Sum(true));
        assertEquals(1, merge.output.size());
        assertEquals(Entries.PUT, merge.output.getFirst().kind());
    }

    @Test
    void withoutAnOperatorAllIsKept() {
        Collapse merge = new Collapse("5");
        merge.run(true, null);
        merge.assertGivesAsItTakes();
        assertEquals(merge.input, merge.output);
    }
}
