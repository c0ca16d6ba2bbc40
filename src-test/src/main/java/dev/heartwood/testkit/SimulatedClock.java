package dev.heartwood.testkit;

import dev.heartwood.engine.base.Clock;
import java.util.SplittableRandom;

/**
 * A clock that moves only when it is looked at, by random amounts, and jumps now and then by up to a day in either direction:
 * nothing may depend on it. Nobody waits for it. Thread-safe.
 */
public final class SimulatedClock implements Clock {
    private static final long DAY_NANOS = 86_400_000_000_000L;

    private final SplittableRandom random;
    private long now;
    private long waitedNanos;

    /** A clock whose moves follow from the seed. */
    public SimulatedClock(long seed) {
        random = new SplittableRandom(seed);
        now = random.nextLong();
    }

    @Override
    public synchronized long nanoTime() {
        now += random.nextInt(50) == 0 ? random.nextLong(-DAY_NANOS, DAY_NANOS) : random.nextLong(100_000);
        return now;
    }

    @Override
    public synchronized void parkNanos(long nanos) {
        now += nanos;
        waitedNanos += nanos;
    }

    /** How long callers would have waited so far. */
    public synchronized long waitedNanos() {
        return waitedNanos;
    }
}
