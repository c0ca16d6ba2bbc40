package dev.heartwood.engine.store;

import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.engine.background.Background;
import dev.heartwood.engine.background.FailStop;
import dev.heartwood.engine.background.Generations;
import dev.heartwood.engine.background.Generations.Generation;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.cache.CacheStats;
import dev.heartwood.engine.call.Operations;
import dev.heartwood.engine.checkpoint.Checkpointer;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.log.WriteAheadLog;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.read.LiveSnapshots;
import dev.heartwood.engine.read.ReadPath;
import dev.heartwood.engine.record.StoreRecords;
import dev.heartwood.engine.trunk.TreeSummary;
import dev.heartwood.engine.trunk.Trunk;
import dev.heartwood.engine.trunk.TrunkEvents;
import dev.heartwood.engine.write.MemtableRotation;
import dev.heartwood.engine.write.WritePath;

/** What a store is made of, and who closes it. */
record StoreParts(
        StoreOptions options,
        Storage files,
        TreeStorage storage,
        Trunk trunk,
        Checkpointer checkpointer,
        WriteAheadLog log,
        Generations generations,
        LiveSnapshots live,
        FailStop failStop,
        Background background,
        MemtableRotation rotation,
        WritePath write,
        ReadPath read,
        StoreRecords records,
        Scrubber scrubber,
        Damage damage,
        Listening listening,
        Tuner tuner,
        Operations operations,
        Epochs epochs) {

    /** Deletes in memory are many when they are more than one for so many entries of the tree. */
    private static final int DELETES_SHARE = 16;

    /**
     * What closes everything but what the environment owns, when no call is inside any more. Whatever else goes wrong, the files are
     * closed: with them open the store could not be opened again.
     */
    Closing closing(Runnable before) {
        return new Closing(
                background::stopPlanning,
                before,
                tuner::close,
                scrubber::close,
                background::close,
                storage::close,
                checkpointer::close,
                this::releaseMemtables,
                log::close,
                storage.file()::close,
                storage.device()::close,
                files::close);
    }

    private void releaseMemtables() {
        for (Generation generation : generations.newestFirst()) {
            generation.release();
        }
    }

    /** Whether the last checkpoint has everything that was written; nobody writes beside this call. */
    boolean isDurable() {
        return generations.active().memtable().entries() == 0
                && generations.oldestSealed() == null
                && trunk.version().generation() == checkpointer.durable().generation();
    }

    /** Whether the active memtable deletes a notable part of the store. */
    boolean hasManyDeletesInMemory() {
        long deletes = generations.active().memtable().deletes();
        return deletes > 0 && deletes >= TreeSummary.of(trunk).entries() / DELETES_SHARE;
    }

    /** Gives space back to the file system that is not used, if its owner wants that of the data file, and that of the log. */
    void returnFreeSpace() {
        storage.returnFreeSpace();
        log.returnFreeSpace();
    }

    /** The counters; those of pages and cached records are the environment's. */
    StoreStats stats(CacheStats cache, long recordHits) {
        TreeSummary tree = TreeSummary.of(trunk);
        TrunkEvents events = trunk.events();
        long memtableEntries = 0;
        for (Generation generation : generations.newestFirst()) {
            memtableEntries += generation.memtable().entries();
        }
        return new StoreStats(
                tree.entries() + memtableEntries,
                storage.device().size() + log.bytesOnDevice(),
                (long) storage.extents().allocatedCount() * PageLayout.EXTENT_BYTES,
                write.userBytes(),
                log.bytesAppended(),
                storage.device().bytesWritten(),
                storage.device().bytesRead(),
                cache.loads() + cache.transientLoads(),
                cache.prefetches(),
                cache.discardedDirty(),
                events.filterProbes(),
                events.filterFalsePositives(),
                background.packing().memtablesPacked(),
                events.flushes(),
                events.compactions(),
                events.bytesRead(),
                events.bytesWritten(),
                events.splits(),
                events.merges(),
                checkpointer.completed(),
                write.throttle().stallNanos(),
                write.throttle().stallNanosMax(),
                trunk.debtBytes(),
                tree.height(),
                tree.nodes(),
                tree.runs(),
                tree.filterBytes(),
                tree.filterEntries(),
                live.count(),
                events.filterFailures(),
                damage.count(),
                scrubber.pages(),
                scrubber.passes(),
                listening.failures(),
                background.mergesSetAside(),
                recordHits,
                background.checkpointDistance(),
                storage.file().dirtyPages() * PageLayout.PAGE_BYTES,
                background.spaceAmplification());
    }
}
