package dev.heartwood.bench.workload;

/**
 * Draws ranks from a zipfian distribution with exponent 0.99: rank r (from 0) with a probability in proportion to
 * 1 / (r + 1)^0.99. Belongs to one thread.
 *
 * <p>The method is that of Gray et al. (SIGMOD 1994, section 3.2): two ranks by comparison, the others by an
 * inverse of the cumulated curve. The normalising sum is exact over its first {@value #EXACT_TERMS} terms and
 * follows the Euler-Maclaurin formula beyond, so that a change of the count costs three powers and not a sum
 * over all ranks.
 */
public final class Zipfian {
    /** YCSB's exponent. */
    public static final double EXPONENT = 0.99;

    private static final int EXACT_TERMS = 1000;
    private static final double ZETA_OF_2 = exactZeta(2);
    private static final double ZETA_OF_EXACT = exactZeta(EXACT_TERMS);
    private static final double INVERSE = 1 / (1 - EXPONENT);

    private long count;
    private double zeta;
    private double eta;

    /** Ranks 0 to {@code count} - 1. */
    public Zipfian(long count) {
        resize(count);
    }

    /** The normalising sum of 1 / i^0.99 for i from 1 to {@code count}. */
    static double zeta(long count) {
        if (count <= EXACT_TERMS) {
            return exactZeta((int) count);
        }
        double m = EXACT_TERMS;
        double n = count;
        double atM = Math.pow(m, -EXPONENT);
        double atN = Math.pow(n, -EXPONENT);
        double integral = (n * atN - m * atM) / (1 - EXPONENT);
        double slopes = -EXPONENT * (atN / n - atM / m);
        return ZETA_OF_EXACT + integral + (atN - atM) / 2 + slopes / 12;
    }

    private static double exactZeta(int count) {
        double sum = 0;
        for (int i = count; i >= 1; i--) {
            sum += Math.pow(i, -EXPONENT);
        }
        return sum;
    }

    private void resize(long newCount) {
        if (newCount < 1) {
            throw new IllegalArgumentException("no ranks to draw from: " + newCount);
        }
        count = newCount;
        zeta = zeta(newCount);
        eta = (1 - Math.pow(2.0 / newCount, 1 - EXPONENT)) / (1 - ZETA_OF_2 / zeta);
    }

    /** A rank from 0 to {@code ranks} - 1; the count may differ from call to call. */
    public long next(SeededRandom random, long ranks) {
        if (ranks != count) {
            resize(ranks);
        }
        double u = random.nextDouble();
        double scaled = u * zeta;
        if (scaled < 1 || ranks == 1) {
            return 0;
        }
        if (scaled < ZETA_OF_2 || ranks == 2) {
            return 1;
        }
        return Math.min(ranks - 1, (long) (ranks * Math.pow(eta * u - eta + 1, INVERSE)));
    }
}
