package dev.heartwood.bench.workload;

/** A stream of pseudo-random numbers that is a function of its seed (SplitMix64). Belongs to one thread. */
public final class SeededRandom {
    private static final long GOLDEN_RATIO = 0x9e3779b97f4a7c15L;

    private long state;

    /** A stream for {@code seed}; equal seeds make equal streams. */
    public SeededRandom(long seed) {
        state = seed;
    }

    /** Spreads every bit of {@code x} over all bits of the result; a permutation of the longs. */
    public static long mix(long x) {
        long z = (x ^ x >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }

    /** The next 64 bits. */
    public long nextLong() {
        state += GOLDEN_RATIO;
        return mix(state);
    }

    /** A number from 0 to {@code bound} - 1, each as likely as the other to within {@code bound} / 2^64. */
    public long below(long bound) {
        return Math.unsignedMultiplyHigh(nextLong(), bound);
    }

    /** A number from 0, inclusive, to 1, exclusive. */
    public double nextDouble() {
        return (nextLong() >>> 11) * 0x1p-53;
    }
}
