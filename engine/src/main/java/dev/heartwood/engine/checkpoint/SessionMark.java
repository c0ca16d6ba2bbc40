package dev.heartwood.engine.checkpoint;

import dev.heartwood.CorruptionException;
import dev.heartwood.KeyOrder;
import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.base.ImageReader;
import dev.heartwood.engine.base.ImageReader.MalformedImageException;
import dev.heartwood.engine.base.ImageWriter;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.page.PageType;

/**
 * The least checkpoint that the data file must have, in the file {@value #NAME} beside it (store id and number, 8 bytes each, and the
 * name of the order of keys): guards against an older copy of the data file put in its place, and tells what keys mean when no
 * superblock does. Written when a session has begun and when it has ended in good
 * order. Stateless.
 *
 * <p>Advice only: a store without the file opens all the same, and a full disk leaves the mark of the session before.
 */
public final class SessionMark {
    /** The file's name. */
    public static final String NAME = "session";

    /** The store, the number of a checkpoint that it has had, and the order of its keys. */
    public record Mark(long storeId, long number, KeyOrder order) {
        /** Whether a superblock is of the store, and not older. */
        public boolean allows(Superblock found) {
            return storeId == found.storeId() && number <= found.number();
        }
    }

    private SessionMark() {}

    /**
     * The mark; null when there is none.
     *
     * @throws CorruptionException when it is damaged
     */
    public static Mark read(Storage files) {
        ImageReader image = CheckedFile.read(files, NAME, CheckedFile.MARK_BYTES_MAX);
        try {
            return image == null ? null : new Mark(image.getLong(), image.getLong(), order(image));
        } catch (MalformedImageException | IllegalArgumentException e) {
            throw CheckedFile.damaged(files, NAME, "a mark", e.getMessage());
        }
    }

    /** A mark that names no order is one of a store whose keys are sorted. */
    private static KeyOrder order(ImageReader image) {
        return image.remaining() == 0 ? KeyOrder.SORTED : KeyOrder.valueOf(image.getString());
    }

    /** Writes the mark; the superblocks with this number are durable. */
    public static void write(Storage files, Superblock durable) {
        try {
            CheckedFile.write(
                    files,
                    NAME,
                    new ImageWriter()
                            .putLong(durable.storeId())
                            .putLong(durable.number())
                            .putString(StoreOptions.parse(durable.options()).keyOrder().name()));
        } catch (NoSpaceException e) {
            // The older mark stays, which is true of this session too.
        }
    }

    /**
     * Refuses a superblock that is older than the mark or of another store.
     *
     * @throws CorruptionException that says which it is, or that the mark itself is damaged
     */
    public static void check(Storage files, Superblock found) {
        Mark mark = read(files);
        if (mark != null && !mark.allows(found)) {
            throw new CorruptionException(
                    files.directory().resolve(StoreFiles.DATA).toString(),
                    0,
                    PageType.SUPERBLOCK.name(),
                    "store " + mark.storeId + " at checkpoint " + mark.number + " or later, as the file " + NAME + " says",
                    "store " + found.storeId() + " at checkpoint " + found.number());
        }
    }
}
