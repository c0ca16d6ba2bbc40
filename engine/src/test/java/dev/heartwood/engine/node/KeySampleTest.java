package dev.heartwood.engine.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.merge.History;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.os.MemoryRegions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
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

    /**
     * Bytes that a run had, and none of the spans that it was written for, were taken for dead: such a node was merged again and again, for
     * as long as the store was open.
     */
    @Test
    void spansThatHaveAllKeysHaveAllBytes() {
        for (long seed = 1; seed <= 500; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            TreeMap<byte[], Integer> entries = new TreeMap<>(Arrays::compareUnsigned);
            for (int i = 1 + random.nextInt(40); i > 0; i--) {
                entries.put(longKey(random), 1 + random.nextInt(random.nextInt(4) == 0 ? 60_000 : 300));
            }
            KeySample sample = sampleOf(entries);
            TreeSet<byte[]> bounds = new TreeSet<>(Arrays::compareUnsigned);
            for (int i = random.nextInt(8); i > 0; i--) {
                bounds.add(longKey(random));
            }
            long bytes = 0;
            byte[] from = null;
            for (byte[] to : bounds) {
                bytes += bytesWithin(sample, entries, new Span(from, to));
                from = to;
            }
            bytes += bytesWithin(sample, entries, new Span(from, null));
            assertTrue(bytes >= sample.bytes(), "seed " + seed + ": " + bytes + " of " + sample.bytes());
        }
    }

    /** Of a span that has some of the keys. */
    private static long bytesWithin(KeySample sample, TreeMap<byte[], Integer> entries, Span span) {
        return entries.keySet().stream().anyMatch(span::contains) ? sample.bytesWithin(span) : 0;
    }

    /** Of some 60 bytes, which differ at a few places. */
    private static byte[] longKey(SplittableRandom random) {
        byte[] key = new byte[50 + random.nextInt(20)];
        Arrays.fill(key, (byte) 'L');
        key[random.nextInt(8)] += (byte) random.nextInt(3);
        key[48 + random.nextInt(2)] += (byte) random.nextInt(3);
        key[key.length - 1] += (byte) random.nextInt(3);
        return key;
    }

    private static KeySample sampleOf(TreeMap<byte[], Integer> entries) {
        KeySample.Builder builder = new KeySample.Builder();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment room = arena.allocate(100);
            MemoryRegions.add(room.address(), room.byteSize());
            entries.forEach((key, bytes) -> {
                MemorySegment.copy(key, 0, room, ValueLayout.JAVA_BYTE, 0, key.length);
                builder.add(room.address(), key.length, bytes);
            });
            MemoryRegions.remove(room.address());
        }
        return builder.finish(entries.lastKey());
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
