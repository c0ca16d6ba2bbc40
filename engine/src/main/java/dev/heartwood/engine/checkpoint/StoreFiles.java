package dev.heartwood.engine.checkpoint;

import dev.heartwood.NotAStoreException;
import dev.heartwood.engine.device.Storage;

/** The names of a store's files; those of the log and the lock are their packages' own. */
public final class StoreFiles {
    /** Superblocks, tree and filters. */
    public static final String DATA = "data.hw";

    /** Present while a store is being made: what is there then was never acknowledged and is made anew. */
    public static final String CREATING = "creating";

    /**
     * Present while a copy of a store is being written: what is there then is neither the old one nor the new one. Of a backup over
     * another it names what can be put back.
     */
    public static final String COPYING = "copy-unfinished";

    private StoreFiles() {}

    /**
     * Refuses a directory whose store was never made or copied to the end.
     *
     * @throws NotAStoreException when it says so
     */
    public static void requireFinished(Storage files) {
        if (files.exists(CREATING)) {
            throw new NotAStoreException(files.directory().toString(), "its creation was never finished");
        }
        requireNoCopying(files);
    }

    /**
     * Refuses a directory in which a copy was begun and not finished.
     *
     * @throws NotAStoreException when it says so
     */
    public static void requireNoCopying(Storage files) {
        if (files.exists(COPYING)) {
            throw new NotAStoreException(
                    files.directory().toString(),
                    "a copy to it was never finished; if it was a backup, another to it makes it whole; after a salvage both want it"
                            + " empty; if there was a backup before, opening the store brings that back");
        }
    }
}
