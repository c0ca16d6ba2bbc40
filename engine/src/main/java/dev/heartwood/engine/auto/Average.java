package dev.heartwood.engine.auto;

/** An average over intervals, of which the newest counts most. Belongs to one thread at a time. */
final class Average {
    private final double weight;
    private double value;

    /** @param intervals over about how many it is taken */
    Average(int intervals, double begin) {
        this.weight = 1.0 / intervals;
        this.value = begin;
    }

    void add(double next) {
        value += weight * (next - value);
    }

    double value() {
        return value;
    }
}
