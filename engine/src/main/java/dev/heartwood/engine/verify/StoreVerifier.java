package dev.heartwood.engine.verify;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.StoreException;
import dev.heartwood.VerifyReport;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.BranchVerifier;
import dev.heartwood.engine.branch.OverflowGroup;
import dev.heartwood.engine.checkpoint.SessionMark;
import dev.heartwood.engine.checkpoint.Superblock;
import dev.heartwood.engine.checkpoint.Superblocks;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.filter.MapletVerifier;
import dev.heartwood.engine.log.LogInspection;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * Walks a store and checks everything: superblocks, node images, branches, overflow groups, maplets and that they know every key,
 * the use of extents, and of a store that is not open the log. One thread; may take long. Writes nothing.
 */
public final class StoreVerifier {
    private final StoreView store;
    private final Storage files;
    private final Progress progress;
    private final List<String> problems = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private long pages;
    private long pagesDone;
    private long entries;

    private StoreVerifier(StoreView store, Storage files, Progress progress) {
        this.store = store;
        this.files = files;
        this.progress = progress;
    }

    /** All damage, one line each; see {@link #verify}. */
    public static List<String> problems(Storage storage) {
        return verify(storage, Progress.SILENT).problems();
    }

    /**
     * Verifies a store that is not open. Takes its lock; closing the storage, which is the caller's, gives it back.
     *
     * @throws dev.heartwood.NotAStoreException when there is no store
     * @throws dev.heartwood.LockedException when it is open
     * @throws dev.heartwood.FormatTooNewException when a newer version wrote it
     * @throws InsufficientMemoryException when there is no memory to read something with, which is no damage
     */
    public static VerifyReport verify(Storage storage, Progress progress) {
        try (OpenedStore store = new OpenedStore(storage)) {
            return new StoreVerifier(store.view(), storage, progress).run(extent -> true);
        }
    }

    /**
     * Verifies the checkpoint that a view of an open store shows; whoever calls keeps its pages from being used again. The log
     * and what is newer than the checkpoint are not looked at.
     *
     * @param isAllocated whether an extent is taken, as the open store has it
     */
    public static VerifyReport verifyOpen(StoreView store, IntPredicate isAllocated, Progress progress) {
        return new StoreVerifier(store, null, progress).run(isAllocated);
    }

    private VerifyReport run(IntPredicate isAllocated) {
        verifySuperblocks();
        Superblock superblock = store.newest();
        if (superblock == null) {
            notes.add("without a superblock nothing else can be verified; salvage looks for the tree on all pages");
            return new VerifyReport(problems, notes, 0, 0, 0, 0, 0, fileExtents(), 0, 0);
        }
        verifySessionMark(superblock);
        Tree tree = Tree.read(store, problems::add);
        if (tree.isIncomplete()) {
            notes.add("what only damaged nodes refer to could not be verified and counts as free");
        }
        tree.extents().unless(isAllocated, extent -> problems.add("extent " + extent + ": in use, but free to be used again"));
        NodeRules rules = new NodeRules(superblock, problems::add);
        tree.nodes().forEach(rules::check);
        pages = tree.branches().stream().mapToLong(Branch::pageCount).sum()
                + tree.groups().stream().mapToLong(OverflowGroup::pageCount).sum()
                + tree.maplets().stream().mapToLong(Maplet::pages).sum();
        verifyData(tree);
        tree.groups().forEach(group -> verifyGroup(group, tree.extents()));
        long logRecords = files == null ? 0 : verifyLog(superblock);
        return new VerifyReport(
                problems,
                notes,
                tree.nodes().size(),
                tree.branches().size(),
                tree.maplets().size(),
                entries,
                pagesDone,
                fileExtents(),
                tree.extents().used(),
                logRecords);
    }

    private long fileExtents() {
        return store.device().size() / PageLayout.EXTENT_BYTES;
    }

    private void verifySuperblocks() {
        Superblocks.Copy[] copies = store.copies();
        for (int i = 0; i < copies.length; i++) {
            if (copies[i].damage() != null) {
                String other = copies[1 - i].damage() != null ? "" : "; the other copy is whole and the next open rewrites this one";
                problems.add("superblock, copy " + i + ": " + copies[i].damage().getMessage() + other);
            } else if (copies[i].superblock().number() == store.newest().number()
                    && !copies[i].superblock().sameAs(store.newest())) {
                problems.add("superblock, copy " + i + ": differs from the other one of the same number");
            } else if (copies[i].superblock().storeId() != store.newest().storeId()) {
                problems.add("superblock, copy " + i + ": of store " + copies[i].superblock().storeId() + " instead of "
                        + store.newest().storeId());
            } else if (copies[i].superblock().number() < store.newest().number()) {
                notes.add("superblock, copy " + i + " is of checkpoint " + copies[i].superblock().number()
                        + "; the next open rewrites it");
            }
        }
    }

    private void verifySessionMark(Superblock superblock) {
        if (files == null) {
            return;
        }
        try {
            SessionMark.check(files, superblock);
        } catch (InsufficientMemoryException e) {
            throw e; // which says nothing of the mark
        } catch (StoreException e) {
            problems.add(e.getMessage());
        }
    }

    private void verifyData(Tree tree) {
        try (FilterChecks filters = new FilterChecks(store, problems::add)) {
            Set<Maplet> unusable = new HashSet<>();
            for (Maplet maplet : tree.maplets()) {
                if (verifyMaplet(maplet, tree.extents(), filters)) {
                    unusable.add(maplet);
                }
            }
            tree.nodes().forEach(node -> filters.note(node, unusable));
            for (Branch branch : tree.branches()) {
                verifyBranch(branch, tree.extents(), filters);
            }
        }
    }

    /** Returns whether the maplet's pages are not its own, so that looking keys up in them makes no sense. */
    private boolean verifyMaplet(Maplet maplet, ExtentUse extents, FilterChecks filters) {
        int[] own = new int[maplet.extentCount()];
        for (int i = 0; i < own.length; i++) {
            own[i] = maplet.extent(i);
        }
        if (extents.areInFile(own)) {
            MapletVerifier.Report report = MapletVerifier.verify(store.file(), maplet, store.pool());
            problems.addAll(report.problems());
            filters.exclude(report.damagedPages());
        }
        done(maplet.pages());
        return !extents.areSound(own);
    }

    private void verifyBranch(Branch branch, ExtentUse extents, FilterChecks filters) {
        if (extents.areInFile(branch.extents())) {
            FilterChecks.KeyCheck keys = filters.begin(branch);
            store.forget(branch.extents());
            BranchVerifier.Report report = BranchVerifier.verify(branch, keys);
            problems.addAll(report.problems());
            keys.finish();
            entries += report.entries();
            store.forget(branch.extents());
            for (OverflowGroup group : branch.overflowGroups()) {
                store.forget(group.extents());
            }
        }
        done(branch.pageCount());
    }

    /** Reads the pages of an overflow group, also those that no branch refers to any more. */
    private void verifyGroup(OverflowGroup group, ExtentUse extents) {
        if (extents.areInFile(group.extents())) {
            long buffer = store.pool().allocate(PageLayout.EXTENT_BYTES);
            if (buffer == 0) {
                throw new InsufficientMemoryException("no buffer to read overflow groups with");
            }
            try {
                for (int page = 0; page < group.pageCount(); page += PageLayout.EXTENT_PAGES) {
                    long first = (long) group.extents()[page >>> PageLayout.EXTENT_SHIFT] << PageLayout.EXTENT_SHIFT;
                    int count = Math.min(PageLayout.EXTENT_PAGES, group.pageCount() - page);
                    readOverflow(group, first, count, buffer);
                }
            } finally {
                store.pool().free(buffer, PageLayout.EXTENT_BYTES);
            }
        }
        done(group.pageCount());
    }

    private void readOverflow(OverflowGroup group, long first, int count, long buffer) {
        try {
            store.file().readExtent(first, count, buffer, PageType.OVERFLOW, group.id());
        } catch (InsufficientMemoryException e) {
            throw e; // which says nothing of the pages
        } catch (StoreException e) {
            if (count == 1) {
                problems.add("overflow group " + group.id() + ": " + e.getMessage());
                return;
            }
            for (int i = 0; i < count; i++) {
                readOverflow(group, first + i, 1, buffer);
            }
        }
    }

    private void done(long verified) {
        pagesDone += verified;
        progress.at("verified pages", pagesDone, pages);
    }

    private long verifyLog(Superblock superblock) {
        LogInspection log = LogInspection.of(files, superblock.storeId(), superblock.generation());
        log.problems().forEach(problem -> problems.add("log: " + problem));
        if (log.replay() == null) {
            return 0;
        }
        if (log.replay().lostRecords() > 0) {
            notes.add("log: " + log.replay().lostRecords() + " records were being written when the process ended");
        }
        return log.replay().records();
    }
}
