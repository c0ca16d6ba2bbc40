package dev.heartwood.engine.backup;

import dev.heartwood.BackupReport;
import dev.heartwood.CorruptionException;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.backup.BackupUndo.Place;
import dev.heartwood.engine.base.Randomness;
import dev.heartwood.engine.checkpoint.StoreFiles;
import dev.heartwood.engine.checkpoint.Superblock;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.engine.verify.PageRuns;
import dev.heartwood.engine.verify.PageRuns.Run;
import dev.heartwood.engine.verify.Progress;
import dev.heartwood.engine.verify.StoreView;
import dev.heartwood.engine.verify.Tree;
import java.util.ArrayList;
import java.util.List;

/** Copies the checkpoint that a view shows to a directory. Used once, by one thread. */
public final class Backup implements AutoCloseable {
    private static final System.Logger LOGGER = System.getLogger("dev.heartwood");

    private final StoreView source;
    private final Superblock superblock;
    private final BackupTarget target;
    private final MemoryPool pool;
    private final Progress progress;
    private final boolean isBuiltUpon;
    private final long directoryId;
    private final long completion;
    /** The pages of the checkpoint. */
    private final PageSet used = new PageSet();

    private long sourceBuffer;
    private long targetBuffer;

    private Backup(StoreView source, Storage sourceFiles, BackupTarget target, Randomness randomness, Progress progress) {
        this.source = source;
        this.superblock = source.newest();
        this.target = target;
        this.pool = source.pool();
        this.progress = progress;
        BackupRecord before = target.before();
        this.directoryId = before == null ? randomness.nextLong() : before.directoryId();
        Long made = MadeBackups.read(sourceFiles).get(directoryId);
        this.isBuiltUpon = before != null && before.completion() != BackupRecord.NONE && made != null && made == before.completion();
        this.completion = randomness.nextLong() | 1;
        this.sourceBuffer = allocate();
        this.targetBuffer = allocate();
    }

    /**
     * Makes {@code to} hold the checkpoint that {@code source} shows, and nothing else. Whoever calls keeps the checkpoint's pages
     * from being used again meanwhile.
     *
     * @param from the files of the store that is copied
     * @throws CorruptionException when a page that is to be copied is damaged; what was in {@code to} is as it was
     * @throws dev.heartwood.UnsuitableTargetException when {@code to} holds something else, or lies in the store's directory
     */
    public static BackupReport run(
            StoreView source, Storage from, Storage to, Randomness randomness, Progress progress) {
        StoreFiles.requireApart(from, to);
        try (BackupTarget target = new BackupTarget(to, source.pool(), source.newest().storeId());
                Backup backup = new Backup(source, from, target, randomness, progress)) {
            BackupReport report = backup.run();
            backup.remember(from);
            return report;
        }
    }

    /**
     * The copy is whole by now, whether its disk and the store's take notes of it or not: without both the next copy compares pages that it need
     * not. The store's is worth nothing without the other.
     */
    private void remember(Storage from) {
        try {
            target.name(superblock, directoryId, completion, used);
            MadeBackups.add(from, directoryId, completion);
        } catch (NoSpaceException | StoreIoException e) {
            LOGGER.log(System.Logger.Level.WARNING, "a backup was made and is not remembered", e);
        }
    }

    private long allocate() {
        long buffer = pool.allocate(PageLayout.EXTENT_BYTES);
        if (buffer == 0) {
            close();
            throw new InsufficientMemoryException("no memory for the buffers, of " + PageLayout.EXTENT_BYTES
                    + " bytes each, that a store is copied with: calls and cursors hold it; close cursors, or raise the memory option");
        }
        return buffer;
    }

    private BackupReport run() {
        List<Run> runs = PageRuns.of(tree());
        long end = runs.isEmpty() ? 1 : runs.getLast().first() + runs.getLast().count();
        target.device().allocate((end + PageLayout.EXTENT_PAGES - 1 >>> PageLayout.EXTENT_SHIFT) * PageLayout.EXTENT_BYTES);
        List<Run> missing = new ArrayList<>();
        List<Run> inTheWay = new ArrayList<>();
        long done = 0;
        for (Run run : runs) {
            used.add(run.first(), run.count());
            if (!isThere(run)) {
                (overwrites(run) ? inTheWay : missing).add(run);
            }
            progress.at("compared runs of pages", ++done, runs.size());
        }
        copyAll(missing);
        if (!inTheWay.isEmpty()) {
            // Read first as a whole: damage found here still leaves the backup that is there.
            checkAll(inTheWay);
            target.keep(inTheWay.stream().map(run -> new Place(run.first(), run.count())).toList(), targetBuffer, progress);
            copyAll(inTheWay);
        }
        missing.addAll(inTheWay);
        target.device().sync();
        verifyAll(missing);
        target.complete(superblock, directoryId, used);
        long copied = missing.stream().mapToLong(Run::count).sum();
        return new BackupReport(superblock.number(), used.count(), copied);
    }

    private Tree tree() {
        List<String> problems = new ArrayList<>();
        Tree tree = Tree.read(source, problems::add);
        if (!problems.isEmpty()) {
            throw new CorruptionException(
                    source.device().name(), 0, PageType.TRUNK.name(), "a sound tree", problems.getFirst());
        }
        return tree;
    }

    /**
     * Whether the pages are in the target already, and can be read there. What a backup that was broken off has written shows in the page
     * cache also where it never reached the disk: only those count that were synced before the record was written.
     */
    private boolean isThere(Run run) {
        if (!isKept(run) || run.position() + run.bytes() > target.device().size()) {
            return false;
        }
        try {
            readTarget(run);
        } catch (ReadFailedException lost) {
            return false; // the device may have another place for what is written
        }
        if (isBuiltUpon && run.type() != PageType.TRUNK) {
            try {
                run.verify(targetBuffer, superblock.storeId(), target.device().name());
                return true;
            } catch (CorruptionException somethingElse) {
                return false;
            }
        }
        readSource(run);
        return Memory.compare(sourceBuffer, run.bytes(), targetBuffer, run.bytes()) == 0;
    }

    /** Whether all of the pages belong to the backup that is there. */
    private boolean isKept(Run run) {
        return target.keptPages().containsAll(run.first(), run.count());
    }

    /** Whether some of the pages belong to the backup that is there. */
    private boolean overwrites(Run run) {
        return target.keptPages().containsAny(run.first(), run.count());
    }

    private void copyAll(List<Run> runs) {
        long done = 0;
        for (Run run : runs) {
            readSource(run);
            target.device().write(run.position(), sourceBuffer, run.bytes());
            progress.at("copied runs of pages", ++done, runs.size());
        }
    }

    private void checkAll(List<Run> runs) {
        long done = 0;
        for (Run run : runs) {
            readSource(run);
            progress.at("checked runs of pages", ++done, runs.size());
        }
    }

    /** Reads back what was copied. */
    private void verifyAll(List<Run> runs) {
        long done = 0;
        for (Run run : runs) {
            readTarget(run);
            run.verify(targetBuffer, superblock.storeId(), target.device().name());
            progress.at("verified runs of pages", ++done, runs.size());
        }
    }

    private void readSource(Run run) {
        BlockDevice device = source.device();
        device.read(run.position(), sourceBuffer, run.bytes());
        try {
            run.verify(sourceBuffer, superblock.storeId(), device.name());
        } catch (CorruptionException e) {
            source.met(e);
            throw e;
        }
    }

    private void readTarget(Run run) {
        target.device().read(run.position(), targetBuffer, run.bytes());
    }

    @Override
    public void close() {
        for (long buffer : new long[] {sourceBuffer, targetBuffer}) {
            if (buffer != 0) {
                pool.free(buffer, PageLayout.EXTENT_BYTES);
            }
        }
        sourceBuffer = 0;
        targetBuffer = 0;
    }
}
