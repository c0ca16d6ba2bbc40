package dev.heartwood.engine.filter;

import java.util.List;

/** Merges sorted entries; what has one fingerprint becomes one, with all its values. Closes its sources. */
final class EntryMerge implements SortedEntries {
    /*
     * There are a handful of sources: a fresh run and the bundles of a node. So the least fingerprint is found by looking at
     * all of them.
     */
    private static final long ENDED = Long.MAX_VALUE;

    private final SortedEntries[] sources;
    private final long[] fingerprints;
    private long fingerprint;
    private long values;

    EntryMerge(List<SortedEntries> sources) {
        this.sources = sources.toArray(SortedEntries[]::new);
        this.fingerprints = new long[this.sources.length];
        for (int i = 0; i < fingerprints.length; i++) {
            advance(i);
        }
    }

    @Override
    public boolean next() {
        long least = ENDED;
        for (long other : fingerprints) {
            least = Math.min(least, other);
        }
        if (least == ENDED) {
            return false;
        }
        fingerprint = least;
        values = 0;
        for (int i = 0; i < fingerprints.length; i++) {
            if (fingerprints[i] == least) {
                values |= sources[i].values();
                advance(i);
            }
        }
        return true;
    }

    private void advance(int source) {
        fingerprints[source] = sources[source].next() ? sources[source].fingerprint() : ENDED;
    }

    @Override
    public long fingerprint() {
        return fingerprint;
    }

    @Override
    public long values() {
        return values;
    }

    @Override
    public void close() {
        for (SortedEntries source : sources) {
            source.close();
        }
    }
}
