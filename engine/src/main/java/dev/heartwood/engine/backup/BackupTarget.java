package dev.heartwood.engine.backup;

import dev.heartwood.CorruptionException;
import dev.heartwood.UnsuitableTargetException;
import dev.heartwood.engine.checkpoint.SessionMark;
import dev.heartwood.engine.checkpoint.StoreFiles;
import dev.heartwood.engine.checkpoint.Superblock;
import dev.heartwood.engine.checkpoint.Superblocks;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.log.SegmentName;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.verify.Progress;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The directory that a backup goes to, locked, and what is there of an earlier one. One thread. */
final class BackupTarget implements AutoCloseable {
    /** What a first backup has made while there is no record of it. */
    private static final Set<String> BEGUN = Set.of(StoreFiles.COPYING, StoreFiles.DATA);

    /** One of them is where a backup is, or was begun. */
    private static final Set<String> OWN =
            Set.of(StoreFiles.COPYING, StoreFiles.DATA, BackupRecord.NAME, BackupUndo.PAGES);

    private final Storage files;
    private final BackupRecord before;
    private final BlockDevice device;
    private final Superblocks superblocks;
    private boolean isMarked;
    private boolean keepsOverwritten;
    private PageSet kept = new PageSet();

    /**
     * Takes the lock and looks at what is there; changes nothing but an empty directory, or one in which a backup was broken off:
     * there what it overwrote is put back.
     *
     * @throws UnsuitableTargetException when something else is there, or a backup that was opened and written since
     * @throws dev.heartwood.LockedException when it is open
     */
    BackupTarget(Storage files, MemoryPool buffers, long storeId) {
        this.files = files;
        requireOwn();
        files.lock();
        putBack(buffers);
        requireNoSalvage();
        this.isMarked = files.exists(StoreFiles.COPYING);
        this.before = recordOf(storeId);
        if (before == null) {
            requireNothingBut(isMarked ? BEGUN : Set.of());
            if (!isMarked) {
                mark();
            }
        }
        this.device = files.openDevice(StoreFiles.DATA, !files.exists(StoreFiles.DATA));
        try {
            this.superblocks = new Superblocks(device, buffers);
        } catch (RuntimeException | Error e) {
            device.close();
            throw e;
        }
        try {
            if (!isMarked) {
                requireUntouched();
                kept = before.used();
            }
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** Before the lock, which leaves its file in a directory of something else. */
    private void requireOwn() {
        List<String> names = StoreFiles.namesInTarget(files);
        if (!names.isEmpty() && names.stream().noneMatch(OWN::contains)) {
            throw unsuitable("it is not empty and not a backup; there is " + names.getFirst());
        }
    }

    private void putBack(MemoryPool buffers) {
        try {
            BackupUndo.apply(files, buffers);
        } catch (CorruptionException e) {
            throw unsuitable("what the last backup to it overwrote cannot be put back: " + e.getMessage());
        }
    }

    private void requireNoSalvage() {
        if (StoreFiles.isSalvageBegun(files)) {
            throw unsuitable("it is not empty and not a backup; a salvage to it was never finished");
        }
    }

    private BackupRecord recordOf(long storeId) {
        BackupRecord record;
        try {
            record = BackupRecord.read(files);
        } catch (CorruptionException e) {
            throw unsuitable("the record of the backup that is there is damaged: " + e.getMessage());
        }
        if (record != null && record.storeId() != storeId) {
            throw unsuitable("it holds a backup of another store");
        }
        return record;
    }

    private void requireNothingBut(Set<String> own) {
        for (String name : files.list()) {
            if (!own.contains(name)) {
                throw unsuitable("it is not empty and not a backup; there is " + name);
            }
        }
    }

    private void requireUntouched() {
        Superblock found;
        try {
            found = superblocks.read();
        } catch (CorruptionException e) {
            throw unsuitable("the backup that is there is damaged: " + e.getMessage());
        }
        if (found.storeId() != before.storeId() || !before.checkpoints().contains(found.number()) || wasOpened()) {
            throw unsuitable("the backup that is there has been opened since it was made, and may hold other writes");
        }
    }

    /**
     * Whether something is there that only an opened store writes. Its number does not tell: of a backup that was broken off the record names
     * two, and sessions may have come to the newer one.
     */
    private boolean wasOpened() {
        return files.exists(SessionMark.NAME) || files.list().stream().anyMatch(SegmentName::isOfSegment);
    }

    private UnsuitableTargetException unsuitable(String found) {
        return new UnsuitableTargetException(files.directory().toString(), found);
    }

    /** What is known of the backup that is there; null when there is none. */
    BackupRecord before() {
        return before;
    }

    /** The pages of the whole backup that is there, which must not change before they are {@link #keep kept}; else none. */
    PageSet keptPages() {
        return kept;
    }

    BlockDevice device() {
        return device;
    }

    /** Has every open refuse the directory until {@link #complete}. */
    private void mark() {
        files.writeFile(StoreFiles.COPYING, BackupUndo.NOTHING_KEPT);
        isMarked = true;
    }

    /** Keeps pages of the backup that is there until {@link #complete}; from now on they may be overwritten. */
    void keep(List<BackupUndo.Place> overwritten, long buffer, Progress progress) {
        BackupUndo.keep(files, device, overwritten, buffer, progress);
        keepsOverwritten = true;
    }

    /** Makes what has been written, synced and verified the backup, which has no name yet: {@link #name} gives it one. */
    void complete(Superblock superblock, long directoryId, PageSet used) {
        PageSet both = new PageSet();
        both.addAll(used);
        both.addAll(kept);
        List<Long> checkpoints = isMarked ? List.of(superblock.number()) : withBefore(superblock.number());
        new BackupRecord(superblock.storeId(), directoryId, BackupRecord.NONE, checkpoints, both).write(files);
        superblocks.write(superblock);
        if (isMarked || keepsOverwritten) {
            BackupUndo.forget(files);
        }
    }

    /** Names a complete backup, for the next one to be built upon. */
    void name(Superblock superblock, long directoryId, long completion, PageSet used) {
        new BackupRecord(superblock.storeId(), directoryId, completion, List.of(superblock.number()), used).write(files);
    }

    private List<Long> withBefore(long number) {
        return Stream.concat(before.checkpoints().stream(), Stream.of(number))
                .distinct()
                .toList();
    }

    @Override
    public void close() {
        superblocks.close();
        device.close();
    }
}
