package dev.heartwood.engine.store;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/**
 * The snapshots and cursors of a store that are open, each with the stack that opened it, so that those which nobody closed can be
 * named when the store closes. Thread-safe.
 */
final class OpenViews {
    private static final System.Logger LOGGER = System.getLogger("dev.heartwood");

    /** How many leaks are reported with their stacks; the others are counted. */
    private static final int REPORTED_MAX = 8;

    /** Where something was opened. Taking a stack costs no more than a look at it; frames get their names when it is printed. */
    private static final class OpenedHere extends Throwable {
        OpenedHere(String what) {
            super(what + " opened by thread " + Thread.currentThread().getName() + " and never closed", null, false, true);
        }
    }

    private record View(SnapshotState state, OpenedHere where) {}

    private final Map<Object, View> views = new ConcurrentHashMap<>();

    /** Notes that a snapshot or cursor was opened. */
    void add(Object holder, SnapshotState state) {
        String what = holder instanceof EngineCursor ? "a cursor was" : "a snapshot was";
        views.put(holder, new View(state, new OpenedHere(what)));
    }

    /** Notes that it was closed; false when the store has closed it already. */
    boolean remove(Object holder) {
        return views.remove(holder) != null;
    }

    /** Reports what is still open, and has {@code release} close it. */
    void closeAll(String store, BiConsumer<Object, SnapshotState> release) {
        int leaks = 0;
        for (Map.Entry<Object, View> entry : views.entrySet()) {
            if (++leaks <= REPORTED_MAX) {
                LOGGER.log(System.Logger.Level.WARNING, "leak in " + store, entry.getValue().where);
            }
            release.accept(entry.getKey(), entry.getValue().state);
        }
        if (leaks > REPORTED_MAX) {
            LOGGER.log(
                    System.Logger.Level.WARNING,
                    "leak in " + store + ": " + (leaks - REPORTED_MAX) + " more snapshots and cursors were never closed");
        }
        views.clear();
    }
}
