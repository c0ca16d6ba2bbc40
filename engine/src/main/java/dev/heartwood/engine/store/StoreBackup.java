package dev.heartwood.engine.store;

import dev.heartwood.BackupReport;
import dev.heartwood.StoreIoException;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.backup.Backup;
import dev.heartwood.engine.checkpoint.StoreFiles;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.verify.Progress;
import java.nio.file.Path;

/** Copies the last checkpoint of an open store to a directory, past the page cache where both file systems can do that. */
final class StoreBackup {
    private StoreBackup() {}

    /** Makes the directory a backup, or brings the one that is there up to date. */
    static BackupReport run(StoreParts parts, EngineEnvironment environment, Path directory, Progress progress) {
        StoreOptions options = parts.options();
        try (Storage to = environment.storage(directory, options)) {
            try {
                return run(parts, environment, to, progress);
            } catch (StoreIoException e) {
                if (options.ioMode() == IoMode.BUFFERED || !StoreFiles.isDirectRefused(e, to)) {
                    throw e;
                }
            }
        }
        try (Storage to = environment.storage(directory, options.toBuilder().ioMode(IoMode.BUFFERED).build())) {
            return run(parts, environment, to, progress);
        }
    }

    private static BackupReport run(StoreParts parts, EngineEnvironment environment, Storage to, Progress progress) {
        return CheckpointView.view(
                parts, environment.buffers(), view -> Backup.run(view, parts.files(), to, environment.randomness(), progress));
    }
}
