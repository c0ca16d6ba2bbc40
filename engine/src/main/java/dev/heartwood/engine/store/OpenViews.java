package dev.heartwood.engine.store;

import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.read.SnapshotState;
import dev.heartwood.engine.read.ViewWalk;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

/**
 * The snapshots and cursors of a store that are open, with where they were opened, so that those which nobody has closed can be
 * named when the store closes: a leak, unless a thread was within one and about to close it. Thread-safe.
 */
final class OpenViews {
    private static final System.Logger LOGGER = System.getLogger("dev.heartwood");

    /** How many leaks are reported one by one; the others are counted. */
    private static final int REPORTED_MAX = 8;

    private static final long POLL_NANOS = 100_000;

    /*
     * Taking a stack costs more than a short scan. The first views get one each, so a program that opens few is told exactly; of
     * the others every STRIDE-th, so a leak that recurs shows its stack all the same.
     */
    private static final int FIRST = 1024;
    private static final int STRIDE = 512;

    /** Where something was opened. */
    private static final class OpenedHere extends Throwable {
        OpenedHere(String thread) {
            super("opened by thread " + thread, null, false, true);
        }
    }

    /** What is open; {@code where} is null when no stack was taken. */
    private record View(SnapshotState state, OpenedHere where) {}

    private final Map<Object, View> views = new ConcurrentHashMap<>();
    private final AtomicInteger opened = new AtomicInteger();

    /** Notes that a snapshot or cursor was opened; it is not, when that throws. */
    void add(Object holder, SnapshotState state) {
        int number = opened.getAndIncrement();
        boolean looks = number >= 0 && number < FIRST || number % STRIDE == 0;
        View view = new View(state, looks ? new OpenedHere(Thread.currentThread().getName()) : null);
        try {
            views.put(holder, view);
        } catch (Error full) {
            views.remove(holder); // it may be there all the same, when a map that grows found no memory
            throw full;
        }
    }

    /** Notes that it was closed; false when the store has closed it already. */
    boolean remove(Object holder) {
        return views.remove(holder) != null;
    }

    /**
     * Has what is open read from the tree what it holds memtables for that the tree has by now; cursors that are moving do so by themselves,
     * soon. The store is not closed meanwhile.
     */
    void catchUp(Epochs epochs) {
        for (Map.Entry<Object, View> entry : views.entrySet()) {
            SnapshotState state = entry.getValue().state;
            if (state.tryRetain()) {
                try {
                    catchUp(entry.getKey(), state, epochs);
                } finally {
                    state.release();
                }
            }
        }
    }

    private static void catchUp(Object holder, SnapshotState state, Epochs epochs) {
        try {
            state.advance(epochs);
            if (holder instanceof ViewWalk walk) {
                walk.catchUp();
            }
        } catch (OutOfMemoryError full) {
            // It keeps what was not taken yet; others may have room to give theirs back.
        }
    }

    /** Waits until no cursor moves any more; none may begin to, and none is opened. */
    void awaitMoves() {
        while (isAnyMoving()) {
            Clock.SYSTEM.parkNanos(POLL_NANOS);
        }
    }

    private boolean isAnyMoving() {
        try {
            for (Object holder : views.keySet()) {
                if (holder instanceof ViewWalk walk && walk.isMoving()) {
                    return true;
                }
            }
            return false;
        } catch (OutOfMemoryError full) {
            return true; // for all that is known; nothing that a move uses may go
        }
    }

    /** Has {@code release} close what is still open, and reports it; whatever that throws, all is closed. */
    void closeAll(String store, BiConsumer<Object, SnapshotState> release) {
        Throwable failure = null;
        for (Map.Entry<Object, View> entry : views.entrySet()) {
            try {
                release.accept(entry.getKey(), entry.getValue().state);
            } catch (RuntimeException | Error e) {
                failure = Closing.join(failure, e);
            }
        }
        Closing.throwIfAny(Closing.join(failure, Closing.run(() -> report(store))));
    }

    /** A handler of the user's may throw from here. */
    private void report(String store) {
        int leaks = 0;
        for (Map.Entry<Object, View> entry : views.entrySet()) {
            if (++leaks <= REPORTED_MAX) {
                report(store, entry.getKey(), entry.getValue().where);
            }
        }
        if (leaks > REPORTED_MAX) {
            LOGGER.log(
                    System.Logger.Level.WARNING,
                    "leak in " + store + ": " + (leaks - REPORTED_MAX) + " more snapshots and cursors were still open when the store closed");
        }
        views.clear();
    }

    private static void report(String store, Object holder, OpenedHere where) {
        String what = holder instanceof ViewWalk ? "a cursor" : "a snapshot";
        LOGGER.log(
                System.Logger.Level.WARNING,
                "leak in " + store + ": " + what + " was still open when the store closed"
                        + (where == null ? "; of very many, the stack was taken of one in " + STRIDE : ""),
                where);
    }
}
