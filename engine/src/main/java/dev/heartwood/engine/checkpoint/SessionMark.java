package dev.heartwood.engine.checkpoint;

import dev.heartwood.CorruptionException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.engine.base.ImageReader;
import dev.heartwood.engine.base.ImageReader.MalformedImageException;
import dev.heartwood.engine.base.ImageWriter;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.page.PageType;

/**
 * The least checkpoint that the data file must have, in the file {@value #NAME} beside it (store id and number, 8 bytes each):
 * guards against an older copy of the data file put in its place. Written when a session has begun and when it has ended in good
 * order. Stateless.
 *
 * <p>Advice only: a store without the file opens all the same, and a full disk leaves the mark of the session before.
 */
public final class SessionMark {
    /** The file's name. */
    public static final String NAME = "session";

    private SessionMark() {}

    /** Writes the mark; the superblocks with this number are durable. */
    public static void write(Storage files, Superblock durable) {
        try {
            CheckedFile.write(
                    files, NAME, new ImageWriter().putLong(durable.storeId()).putLong(durable.number()));
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
        ImageReader image = CheckedFile.read(files, NAME);
        if (image == null) {
            return;
        }
        long storeId;
        long number;
        try {
            storeId = image.getLong();
            number = image.getLong();
        } catch (MalformedImageException e) {
            throw CheckedFile.damaged(files, NAME, "a mark", e.getMessage());
        }
        if (storeId != found.storeId() || number > found.number()) {
            throw new CorruptionException(
                    files.directory().resolve(StoreFiles.DATA).toString(),
                    0,
                    PageType.SUPERBLOCK.name(),
                    "store " + storeId + " at checkpoint " + number + " or later, as the file " + NAME + " says",
                    "store " + found.storeId() + " at checkpoint " + found.number());
        }
    }
}
