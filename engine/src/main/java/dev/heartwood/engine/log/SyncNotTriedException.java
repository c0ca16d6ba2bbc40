package dev.heartwood.engine.log;

import dev.heartwood.StoreException;

/**
 * A segment could not be opened to be synced, as for want of descriptors. No sync of it was tried, and so none may have lost anything:
 * unlike a sync that fails this is not final.
 */
final class SyncNotTriedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    SyncNotTriedException(StoreException refusal) {
        super(null, refusal, false, false);
    }

    /** What the caller of the log is to hear. */
    StoreException refusal() {
        return (StoreException) getCause();
    }
}
