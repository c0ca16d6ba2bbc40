package dev.heartwood.engine.backup;

import dev.heartwood.StoreException;
import dev.heartwood.engine.base.ImageReader;
import dev.heartwood.engine.base.ImageReader.MalformedImageException;
import dev.heartwood.engine.base.ImageWriter;
import dev.heartwood.engine.checkpoint.CheckedFile;
import dev.heartwood.engine.device.Storage;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a store remembers of its backups, in the file {@value #NAME} of its own directory: for each directory the completion (see {@link
 * BackupRecord}) of the last one that went there. A backup may be built upon only when the store and the directory remember the same one. A
 * store that was restored from somewhere else does not, and its pages may have the numbers of others. Older versions noted the number of the
 * checkpoint instead, which other histories have too; no completion is equal to one. Stateless; the file is changed under the monitor of
 * the storage, which backups of a store that end together have in common.
 */
final class MadeBackups {
    static final String NAME = "backups-made";

    private static final int DIRECTORIES_MAX = 32;

    private MadeBackups() {}

    /** The last backup that went to each directory; nothing when the file is damaged, which only costs time. */
    static Map<Long, Long> read(Storage files) {
        Map<Long, Long> made = new LinkedHashMap<>();
        try {
            ImageReader image = CheckedFile.read(files, NAME, CheckedFile.MARK_BYTES_MAX);
            while (image != null && image.remaining() > 0) {
                made.put(image.getLong(), image.getLong());
            }
        } catch (StoreException | MalformedImageException e) {
            made.clear();
        }
        return made;
    }

    /** Remembers one more, and forgets the oldest beyond {@value #DIRECTORIES_MAX}. */
    static void add(Storage files, long directoryId, long completion) {
        synchronized (files) {
            Map<Long, Long> made = read(files);
            made.remove(directoryId);
            made.put(directoryId, completion);
            write(files, made);
        }
    }

    private static void write(Storage files, Map<Long, Long> made) {
        int surplus = made.size() - DIRECTORIES_MAX;
        ImageWriter image = new ImageWriter();
        for (Map.Entry<Long, Long> each : made.entrySet()) {
            if (surplus-- <= 0) {
                image.putLong(each.getKey()).putLong(each.getValue());
            }
        }
        CheckedFile.write(files, NAME, image);
    }
}
