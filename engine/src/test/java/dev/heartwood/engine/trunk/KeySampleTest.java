package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Span;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class KeySampleTest {
    private static KeySample sample(String first, String last, long bytes, String... keys) {
        List<byte[]> sampled = java.util.Arrays.stream(keys).map(History::bytes).toList();
        long[] positions = new long[keys.length];
        java.util.Arrays.setAll(positions, i -> 4096L * (i + 1));
        return new KeySample(sampled, positions, History.bytes(first), History.bytes(last), bytes);
    }

    private static Span span(String from, String to) {
        return new Span(from == null ? null : History.bytes(from), to == null ? null : History.bytes(to));
    }

    @Test
    void touchesWhatLiesBetweenTheFirstAndTheLastKey() {
        KeySample sample = sample("d", "p", 100);
        assertTrue(sample.touches(Span.ALL));
        assertTrue(sample.touches(span("p", null)));
        assertFalse(sample.touches(span(null, "d")));
        assertFalse(sample.touches(span("q", null)));
        assertTrue(sample.touches(span("e", "f")));
    }

    /** The spans of a pivot and of a bundle may have no key in common: then nothing of a run lies in both, however wide it is. */
    @Test
    void touchesNothingWhereTheBoundsHaveCrossed() {
        KeySample sample = sample("a", "z", 100_000, "b", "k", "p");
        Span crossed = span("m", null).intersect(span(null, "f"));
        assertFalse(sample.touches(crossed));
        assertEquals(0, sample.bytesWithin(crossed));
    }

    /** A run that holds nothing but the empty key without a value has no bytes, but it is there. */
    @Test
    void theEmptyKeyWithoutAValueIsKept() {
        TreeShape shape = new TreeShape(8, 2, 4096, 4096, 8192);
        for (TrunkPolicies policies : TrunkPolicies.values()) {
            try (TrunkFixture tree = new TrunkFixture(shape, policies, null)) {
                tree.put("", "value");
                tree.pack();
                tree.delete("");
                tree.pack();
                assertEquals(Map.of(), tree.scan(tree.trunk.version(), Entries.NEWEST, null, true));
                tree.put("", "");
                tree.pack();
                tree.settle(CompactionPolicy.Urge.IDLE);
                assertEquals(Map.of("", ""), tree.scan(tree.trunk.version(), Entries.NEWEST, null, true));
                tree.releaseAll();
            }
        }
    }
}
