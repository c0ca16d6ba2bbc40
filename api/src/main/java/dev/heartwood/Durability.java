package dev.heartwood;

/** What an acknowledged write survives. Levels may be mixed in one store. */
public enum Durability {
    /**
     * Not logged: a crash loses what the last checkpoint does not hold. Logged writes that came later survive without it; do not use it for
     * what they depend on.
     */
    NONE,
    /** Logged before the call returns: survives the death of the process, not the loss of power. */
    BUFFERED,
    /**
     * Logged and synced before the call returns: survives the loss of power, and with it every write logged before.
     * Concurrent writers share a sync. A call whose sync fails, or could not be tried, throws; what it wrote is there all the same, and
     * survives what a {@link #BUFFERED} write does.
     */
    SYNC
}
