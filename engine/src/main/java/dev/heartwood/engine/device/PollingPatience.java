package dev.heartwood.engine.device;

import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.os.Ring;

/**
 * Whether reads poll: not for a while after one had to wait long for the device, or for its processor, which others had meanwhile. That
 * while doubles each time it happens, and shrinks a little with each read that it does not happen to. Thread-safe.
 */
final class PollingPatience {
    /*
     * Shared field   read     written
     * pollsFrom      plain    plain; a hint, like the next: what is lost between threads is made up for by their next reads
     * pauseNanos     plain    plain
     */
    /** More than other reads take to look, and to begin. */
    static final long AWAY_NANOS_MAX = 300_000;

    /** Longer than fast devices take. */
    static final long WAIT_NANOS_MAX = 500_000;

    static final long PAUSE_NANOS_MIN = 2_000_000;
    static final long PAUSE_NANOS_MAX = 256_000_000;

    /** A disturbance costs as much as some hundred reads gain; it is forgotten by then. */
    private static final int FORGOTTEN_SHARE = 64;

    private static final int LOOKS_PER_YIELD = 32;

    private final Clock clock;
    private final Runnable yield;
    private long pollsFrom;
    private long pauseNanos = PAUSE_NANOS_MIN;

    /** @param yield lets other threads have the processor */
    PollingPatience(Clock clock, Runnable yield) {
        this.clock = clock;
        this.yield = yield;
        this.pollsFrom = clock.nanoTime();
    }

    boolean mayPoll() {
        return clock.nanoTime() - pollsFrom >= 0;
    }

    /** Looks for a completion as long as it seems worth it. */
    void poll(Ring ring) {
        long began = clock.nanoTime();
        do {
            for (int i = 0; i < LOOKS_PER_YIELD; i++) {
                if (ring.completed()) {
                    paid();
                    return;
                }
                Thread.onSpinWait();
            }
        } while (giveWay(began));
    }

    /** Lets other threads run; whether the read that waits since {@code began} should go on polling. */
    boolean giveWay(long began) {
        long before = clock.nanoTime();
        yield.run();
        long now = clock.nanoTime();
        if (now - before <= AWAY_NANOS_MAX && now - began <= WAIT_NANOS_MAX) {
            return true;
        }
        pause(now);
        return false;
    }

    /** Notes a read that was done in time. */
    void paid() {
        long pause = pauseNanos;
        if (pause > PAUSE_NANOS_MIN) {
            pauseNanos = Math.max(PAUSE_NANOS_MIN, pause - pause / FORGOTTEN_SHARE);
        }
    }

    /** Notes that there was no ring, or that it took no read. */
    void exhausted() {
        pause(clock.nanoTime());
    }

    private void pause(long now) {
        if (now - pollsFrom < 0) {
            return; // what disturbed several reads at once counts once
        }
        long pause = pauseNanos;
        pollsFrom = now + pause;
        pauseNanos = Math.min(2 * pause, PAUSE_NANOS_MAX);
    }
}
