package dev.heartwood.engine.checkpoint;

import dev.heartwood.NotAStoreException;
import dev.heartwood.StoreIoException;
import dev.heartwood.UnsuitableTargetException;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.os.Errno;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** The names of a store's files; those of the log and the lock are their packages' own. */
public final class StoreFiles {
    /** Superblocks, tree and filters. */
    public static final String DATA = "data.hw";

    /** Present while a store is being made; see {@link Creation}. */
    public static final String CREATING = "creating";

    /**
     * Present while a copy of a store is being written: what is there then is neither the old one nor the new one. Of a backup over
     * another it names what can be put back.
     */
    public static final String COPYING = "copy-unfinished";

    /** What {@link #COPYING} has in it while a salvage is under way. No backup makes whole what one leaves that is broken off. */
    private static final byte[] SALVAGING = {2};

    private StoreFiles() {}

    /** Has every open refuse a directory, before there is anything else in it, until {@link #endSalvage}. */
    public static void beginSalvage(Storage files) {
        files.writeFile(COPYING, SALVAGING);
    }

    /** Takes away what a salvage has made that found no way to make its data file; a device in its place stays. */
    public static void takeBackSalvage(Storage files) {
        if (files.exists(DATA) && !files.isRawDevice(DATA)) {
            files.delete(DATA);
        }
        if (files.exists(CREATING)) {
            files.delete(CREATING);
        }
        files.syncDirectory();
        if (files.exists(COPYING)) {
            files.delete(COPYING);
            files.syncDirectory();
        }
    }

    /**
     * Lets a directory be opened into which a salvage has copied all. Where that cannot be made durable every open is to go on refusing it: else a
     * copy that was said to be none would be a store, until power is lost.
     */
    public static void endSalvage(Storage files) {
        files.delete(COPYING);
        try {
            files.syncDirectory();
        } catch (RuntimeException | Error e) {
            try {
                beginSalvage(files);
            } catch (RuntimeException | Error again) {
                if (again != e) {
                    e.addSuppressed(again);
                }
            }
            throw e;
        }
    }

    /**
     * The names of what lies in a directory that a copy is to be made in, none if there is no such directory.
     *
     * @throws UnsuitableTargetException when it is a file
     */
    public static List<String> namesInTarget(Storage target) {
        try {
            return target.list();
        } catch (NotAStoreException file) {
            throw new UnsuitableTargetException(target.directory().toString(), "it is not a directory");
        }
    }

    /**
     * Refuses a directory within that of the store that is copied: its name may be one that the store's own files have or may get, and a
     * directory {@link #COPYING} or {@link #CREATING} there has every open refuse the store. Paths are compared as they are given.
     *
     * @throws UnsuitableTargetException when it is one
     */
    public static void requireApart(Storage store, Storage target) {
        Path within = target.directory().normalize();
        Path directory = store.directory().normalize();
        if (within.startsWith(directory) && !within.equals(directory)) {
            throw new UnsuitableTargetException(target.directory().toString(), "it lies in the directory of the store, " + directory);
        }
    }

    /** Whether a failure says that the data file of a directory cannot be opened with O_DIRECT. */
    public static boolean isDirectRefused(StoreIoException failure, Storage files) {
        return failure.errno() == Errno.EINVAL && Path.of(failure.path()).equals(files.directory().resolve(DATA));
    }

    /** Whether a salvage to this directory was begun and not finished. */
    public static boolean isSalvageBegun(Storage files) {
        return files.exists(COPYING) && Arrays.equals(SALVAGING, files.readFile(COPYING, SALVAGING.length + 1));
    }

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
        if (isSalvageBegun(files)) {
            throw new NotAStoreException(
                    files.directory().toString(),
                    "a salvage to it was never finished; it has to be emptied before another one, or a backup, goes there");
        }
        if (files.exists(COPYING)) {
            throw new NotAStoreException(
                    files.directory().toString(),
                    "a copy to it was never finished; if it was a backup, another to it makes it whole; after a salvage both want it"
                            + " empty; if there was a backup before, opening the store brings that back");
        }
    }
}
