package dev.heartwood.engine.trunk;

import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The oldest open snapshot or cursor, and whether merges for the sake of space wait until it is closed: it may see what nobody else does.
 * Thread-safe.
 */
public final class OldestView {
    /*
     * Shared field   read       written    guarded by
     * waiting        volatile   volatile   this monitor, for writing
     * enough         volatile   volatile   this monitor, for writing
     *
     * Who waits sets these and then looks at the views once more; who closes one takes it off the list and then looks at these. So one of the
     * two sees the other. They are written under this monitor, so that who says that it is over takes back no other's wait by half.
     */
    /** The sequence number of a view that does not exist. */
    public static final long NONE = Long.MAX_VALUE;

    private final Supplier<long[]> views;
    private final LongSupplier sequenceMax;
    private volatile boolean waiting;
    /** Who waits goes on when the oldest view sees as much as this, though it does not see all that the tree has. */
    private volatile long enough = NONE;

    /**
     * @param views the sequence numbers that open views see, ascending
     * @param sequenceMax the greatest sequence number that the tree has
     */
    public OldestView(Supplier<long[]> views, LongSupplier sequenceMax) {
        this.views = views;
        this.sequenceMax = sequenceMax;
    }

    /** The sequence number that the oldest view sees; {@link #NONE} when none is older than something that the tree has. */
    public long sequence() {
        long[] oldestFirst = views.get();
        return oldestFirst.length == 0 || !isOlder(oldestFirst[0]) ? NONE : oldestFirst[0];
    }

    private boolean isOlder(long view) {
        return view < sequenceMax.getAsLong();
    }

    /** Whether a view is older than something that the tree has; if so, {@link #closed} says when none is any more. */
    public boolean isWaitedFor() {
        if (sequence() == NONE) {
            return false;
        }
        begin();
        return sequence() != NONE;
    }

    /** Whether one is that sees less than {@code enough}; if so, {@link #closed} says also when the oldest sees as much. */
    public boolean isWaitedFor(long enough) {
        if (sequence() == NONE) {
            return false;
        }
        beginUntil(enough);
        return sequence() < enough;
    }

    private synchronized void begin() {
        waiting = true;
    }

    private synchronized void beginUntil(long enough) {
        this.enough = enough;
        waiting = true;
    }

    private synchronized void end() {
        enough = NONE;
        waiting = false;
    }

    /** Whether {@link #closed} has not yet said what was waited for. */
    public boolean isStillWaitedFor() {
        return waiting;
    }

    /** Says that the oldest view was closed, and what the one sees that is the oldest now; returns whether that was waited for. */
    public boolean closed(long oldestNow) {
        if (!waiting || isOlder(oldestNow) && oldestNow < enough) {
            return false;
        }
        end();
        return true;
    }
}
