package dev.heartwood.engine.auto;

/** An average over intervals, of which the newest counts most; of all intervals while there were few. Belongs to one thread at a time. */
final class Average {
    private final int intervals;
    private int seen;
    private double value;

    /** @param intervals over about how many it is taken */
    Average(int intervals) {
        this.intervals = intervals;
    }

    void add(double next) {
        seen = Math.min(seen + 1, intervals);
        value += (next - value) / seen;
    }

    /** The average; 0 before the first interval. */
    double value() {
        return value;
    }
}
