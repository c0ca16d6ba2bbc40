package dev.heartwood.soak;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.NoSpaceException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

/** What a loading process says of itself at its end: how long the longest calls took, and how many were refused for want of memory or space. Thread-safe. */
final class StressReport {
    /** Something that a store is asked for. */
    @FunctionalInterface
    interface Call {
        /** Does it. */
        void run() throws InterruptedException;
    }

    private static final int NANOS_PER_MILLI = 1_000_000;

    private final Map<String, Long> longest = new TreeMap<>();
    private final LongAdder withoutMemory = new LongAdder();
    private final LongAdder withoutSpace = new LongAdder();

    /** A call of a kind that began then has ended now. */
    void took(String kind, long startedNanos) {
        long millis = (System.nanoTime() - startedNanos) / NANOS_PER_MILLI;
        if (millis > 0) {
            synchronized (longest) {
                longest.merge(kind, millis, Math::max);
            }
        }
    }

    /** Makes a call, which may find no memory, or no space. */
    void tolerate(Call call) throws InterruptedException {
        try {
            call.run();
        } catch (InsufficientMemoryException refused) {
            withoutMemory.increment();
        } catch (NoSpaceException refused) {
            withoutSpace.increment();
        }
    }

    /** A line of words and numbers. */
    @Override
    public String toString() {
        synchronized (longest) {
            return "longest, ms: " + longest + ", refused for want of memory " + withoutMemory + ", of space " + withoutSpace;
        }
    }
}
