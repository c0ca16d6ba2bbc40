package dev.heartwood.bench.process;

/** A fixed order of the numbers below a count that has nothing to do with their own. Stateless. */
final class Permutation {
    /** A prime above every count, so that it divides none and every number is met once. */
    private static final long STEP = 2_654_435_761L;

    private Permutation() {}

    /** The number in place {@code index} of {@code count}, which is below 2^31. */
    static long apply(long index, long count) {
        return index * STEP % count;
    }
}
