package dev.heartwood.engine.task;

import dev.heartwood.engine.base.Clock;

/**
 * Has a long computation give its processor to whoever waits for it, now and then. For one thread.
 *
 * <p>Linux takes a processor from a thread that computes at its ticks, 4 ms apart on most machines. Where threads of the background
 * compute beside writers, on few processors, a writer that lost its own waits for a tick of each of them.
 */
public final class TimeSlice {
    /** Long beside what a thread loses by giving way, short beside a tick. */
    static final long SLICE_NANOS = 1_000_000;

    private final Clock clock;
    private final Runnable giveWay;
    private long endNanos;

    /** Begins now. */
    public TimeSlice() {
        this(Clock.SYSTEM, Thread::yield);
    }

    TimeSlice(Clock clock, Runnable giveWay) {
        this.clock = clock;
        this.giveWay = giveWay;
        this.endNanos = clock.nanoTime() + SLICE_NANOS;
    }

    /** Lets other threads run if the slice is over, and begins the next. To be called several times a slice. */
    public void check() {
        if (clock.nanoTime() - endNanos >= 0) {
            giveWay.run();
            endNanos = clock.nanoTime() + SLICE_NANOS;
        }
    }
}
