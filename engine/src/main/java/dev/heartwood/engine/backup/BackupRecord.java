package dev.heartwood.engine.backup;

import dev.heartwood.engine.base.ImageReader;
import dev.heartwood.engine.base.ImageReader.MalformedImageException;
import dev.heartwood.engine.base.ImageWriter;
import dev.heartwood.engine.checkpoint.CheckedFile;
import dev.heartwood.engine.device.Storage;
import java.util.ArrayList;
import java.util.List;

/**
 * What a directory with a backup says of it, in the file {@value #NAME}: the numbers in this order, the checkpoints behind their count, the
 * pages last. Older versions had no completion; behind their {@code directoryId} stands the count of checkpoints, which is never 0, and
 * here a 0 first, by which they find that the record is none of theirs.
 *
 * @param storeId the store that it is of
 * @param directoryId names the directory; drawn at the first backup
 * @param completion names the backup that is there, among all of any history of the store; drawn for each. {@link #NONE} while one is being
 *     completed, where it then could not be named, and of a backup that an older version made
 * @param checkpoints the checkpoints that the superblocks may name: one, or more from when a backup is being completed until it is named
 * @param used the pages that those reach
 */
record BackupRecord(long storeId, long directoryId, long completion, List<Long> checkpoints, PageSet used) {
    static final String NAME = "backup";

    /** Names no backup. */
    static final long NONE = 0;

    private static final int WITH_COMPLETION = 0;

    void write(Storage files) {
        ImageWriter image = new ImageWriter().putLong(storeId).putLong(directoryId);
        image.putVarint(WITH_COMPLETION).putLong(completion);
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
            long completion = NONE;
            int count = image.getCount();
            if (count == WITH_COMPLETION) {
                completion = image.getLong();
                count = image.getCount();
            }
            List<Long> checkpoints = new ArrayList<>();
            for (int left = count; left > 0; left--) {
                checkpoints.add(image.getLong());
            }
            return new BackupRecord(storeId, directoryId, completion, checkpoints, PageSet.readFrom(image));
        } catch (MalformedImageException e) {
            throw CheckedFile.damaged(files, NAME, "the record of a backup", e.getMessage());
        }
    }
}
