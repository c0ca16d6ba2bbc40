package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.KeySample;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.TrunkNode;
import java.util.ArrayList;
import java.util.List;

/** Chooses where a leaf splits, from the samples of its runs. */
final class SplitKeys {
    private record Weighted(byte[] key, long bytes) {}

    private SplitKeys() {}

    /** Up to {@code parts - 1} keys, strictly inside {@code span} and ascending, that part the leaf's bytes about evenly. */
    static List<byte[]> choose(TrunkNode leaf, Span span, int parts) {
        List<Weighted> points = new ArrayList<>();
        long total = 0;
        for (Bundle bundle : leaf.bundles()) {
            Span both = span.intersect(bundle.span());
            for (Run run : bundle.runs()) {
                if (run != null) {
                    KeySample sample = run.sample();
                    for (int i = 0; i < sample.keys().size(); i++) {
                        if (both.contains(sample.keys().get(i))) {
                            points.add(new Weighted(sample.keys().get(i), sample.weight(i)));
                            total += sample.weight(i);
                        }
                    }
                }
            }
        }
        points.sort((a, b) -> Keys.compare(a.key, b.key));
        List<byte[]> keys = new ArrayList<>(parts - 1);
        byte[] previous = span.from() == null ? leaf.pivot(0).key() : span.from();
        long passed = 0;
        for (Weighted point : points) {
            passed += point.bytes;
            boolean due = keys.size() < parts - 1 && passed * parts >= total * (keys.size() + 1L);
            if (due && Keys.compare(point.key, previous) > 0) {
                keys.add(point.key);
                previous = point.key;
            }
        }
        return keys;
    }
}
