package dev.heartwood.engine.backup;

import dev.heartwood.engine.base.ImageReader;
import dev.heartwood.engine.base.ImageReader.MalformedImageException;
import dev.heartwood.engine.base.ImageWriter;
import dev.heartwood.engine.checkpoint.CheckedFile;
import dev.heartwood.engine.device.Storage;
import java.util.ArrayList;
import java.util.List;

/**
 * What a directory with a backup says of it, in the file {@value #NAME}.
 *
 * @param storeId the store that it is of
 * @param directoryId names the directory; drawn at the first backup
 * @param checkpoints the checkpoints that the superblocks may name: one, or two while a backup is being completed
 * @param used the pages that those reach
 */
record BackupRecord(long storeId, long directoryId, List<Long> checkpoints, PageSet used) {
    static final String NAME = "backup";

    void write(Storage files) {
        ImageWriter image = new ImageWriter().putLong(storeId).putLong(directoryId);
        image.putVarint(checkpoints.size());
        checkpoints.forEach(image::putLong);
        used.putTo(image);
        CheckedFile.write(files, NAME, image);
    }

    /**
     * The record of a directory; null when it has none.
     *
     * @throws dev.heartwood.CorruptionException when it is damaged
     */
    static BackupRecord read(Storage files) {
        ImageReader image = CheckedFile.read(files, NAME);
        if (image == null) {
            return null;
        }
        try {
            long storeId = image.getLong();
            long directoryId = image.getLong();
            List<Long> checkpoints = new ArrayList<>();
            for (int left = image.getCount(); left > 0; left--) {
                checkpoints.add(image.getLong());
            }
            return new BackupRecord(storeId, directoryId, checkpoints, PageSet.readFrom(image));
        } catch (MalformedImageException e) {
            throw CheckedFile.damaged(files, NAME, "the record of a backup", e.getMessage());
        }
    }
}
