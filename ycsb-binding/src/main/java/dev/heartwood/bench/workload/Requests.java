package dev.heartwood.bench.workload;

/** Draws the record numbers that a phase asks for. Belongs to one thread. */
public final class Requests {
    /** How often which record is asked for. */
    public enum Distribution {
        /** Every record as often as any other. */
        UNIFORM,
        /** Zipfian, the popular records spread over the whole key space. */
        ZIPFIAN,
        /** Zipfian, the newest record the most popular. */
        LATEST
    }

    /**
     * Ranks of the scrambled distribution, as in YCSB: so many that the curve does not depend on the number of
     * records.
     */
    static final long SCRAMBLED_RANKS = 10_000_000_000L;

    private final Distribution distribution;
    private final SeededRandom random;
    private final Zipfian zipfian;

    /** Requests of one distribution, drawn from {@code random}. */
    public Requests(Distribution distribution, SeededRandom random) {
        this.distribution = distribution;
        this.random = random;
        zipfian = new Zipfian(SCRAMBLED_RANKS);
    }

    /** A record number from 0 to {@code records} - 1. */
    public long next(long records) {
        return switch (distribution) {
            case UNIFORM -> random.below(records);
            case ZIPFIAN -> scramble(zipfian.next(random, SCRAMBLED_RANKS), records);
            case LATEST -> records - 1 - zipfian.next(random, records);
        };
    }

    private static long scramble(long rank, long records) {
        return Math.unsignedMultiplyHigh(SeededRandom.mix(rank + 1), records);
    }
}
