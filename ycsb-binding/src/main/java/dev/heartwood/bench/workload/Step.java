package dev.heartwood.bench.workload;

/**
 * A phase, and when it is over.
 *
 * @param phase what is done
 * @param operations how many operations, in turns over all records where the phase goes through them; 0 when the phase says it itself:
 *     after every record, or after the seconds
 * @param seconds the length of a timed phase without a number of operations
 */
public record Step(Phase phase, long operations, double seconds) {
    /** A phase that is over when it says so itself. */
    public static Step of(Phase phase, double seconds) {
        return new Step(phase, 0, seconds);
    }

    /** Whether it is over after some time, however much was done. */
    public boolean isTimed() {
        return operations == 0 && phase.extent() == Phase.Extent.TIMED;
    }

    /** How many operations it has in a store of so many records; {@link Long#MAX_VALUE} when it is timed. */
    public long turns(long records) {
        return isTimed() ? Long.MAX_VALUE : operations == 0 ? records : operations;
    }
}
