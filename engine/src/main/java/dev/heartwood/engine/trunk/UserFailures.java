package dev.heartwood.engine.trunk;

import dev.heartwood.KeyValueStore;

/** What becomes of failures of the user's operators and filters in merges. Thread-safe. */
public final class UserFailures {
    private final TrunkEvents events;

    public UserFailures(TrunkEvents events) {
        this.events = events;
    }

    /**
     * Counts what the user's code has thrown, whatever it is: a merge that passed it on would stop the store, and the next opening would
     * meet it again. A full Java heap may be anybody's doing, and is treated as anywhere else.
     */
    public void contain(Throwable thrown) {
        if (thrown instanceof OutOfMemoryError full) {
            throw full;
        }
        events.filterFailed();
    }

    /** Whether a store can hold what the user's code has made, null included; otherwise that counts as a failure of it. */
    public boolean isNotTooLong(byte[] made) {
        if (made == null || made.length <= KeyValueStore.VALUE_BYTES_MAX) {
            return true;
        }
        events.filterFailed();
        return false;
    }
}
