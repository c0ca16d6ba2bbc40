package dev.heartwood.engine.inspect;

import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.verify.Progress;
import java.io.PrintStream;

/** Prints from time to time how far a long walk is. One thread. */
final class PrintedProgress implements Progress {
    private static final long INTERVAL_NANOS = 2_000_000_000L;

    private final PrintStream to;
    private final Clock clock;
    private long next;

    PrintedProgress(PrintStream to, Clock clock) {
        this.to = to;
        this.clock = clock;
        this.next = clock.nanoTime() + INTERVAL_NANOS;
    }

    @Override
    public void at(String what, long done, long total) {
        if (clock.nanoTime() - next >= 0) {
            to.println(what + ": " + done + " of " + total + " (" + done * 100 / Math.max(1, total) + " %)");
            next = clock.nanoTime() + INTERVAL_NANOS;
        }
    }
}
