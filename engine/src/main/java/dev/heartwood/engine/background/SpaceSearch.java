package dev.heartwood.engine.background;

import dev.heartwood.engine.background.Generations.Generation;
import dev.heartwood.engine.memtable.Memtable;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.trunk.TreeSummary;
import dev.heartwood.engine.trunk.Trunk;

/**
 * What a store does for space on the device before a write is refused for want of it: packs the deletes that wait in memory, makes what
 * merges gave up free by a checkpoint, gives back what the log keeps for later, and merges whatever frees some, until nothing of that changes anything any more. Who waits for space
 * drives it, one step after the other; between them the background works. Thread-safe.
 */
public final class SpaceSearch {
    /** The active memtable is worth while to be packed early when it has such a part of its bytes. */
    private static final int BYTES_SHARE = 16;

    /** Or such a part of the store's entries: they may delete as many, though nobody knows how large those are. */
    private static final int ENTRIES_SHARE = 64;

    /** Or such a part, where so many entries of the usual size are more than a run of them takes. */
    private static final int ENTRIES_SHARE_LEAST = 256;

    private final Background background;
    private final Generations generations;
    private final long memtableBytes;
    private final Runnable seal;
    /** The state of the tree for which each was begun last. */
    private volatile long checkpointed = -1;

    private volatile long settled = -1;

    /** @param seal seals the active memtable if that needs no waiting, and has it packed */
    public SpaceSearch(Background background, Generations generations, long memtableBytes, Runnable seal) {
        this.background = background;
        this.generations = generations;
        this.memtableBytes = memtableBytes;
        this.seal = seal;
    }

    /**
     * Begins what may free space next, if nothing is under way that does.
     *
     * @param sealAny whether the active memtable is to be packed, however little it holds
     * @param returnLogSpace deletes files of the log that are kept to be used again
     * @return false when all was done, and nothing has changed since
     */
    public boolean goOn(boolean sealAny, Runnable returnLogSpace) {
        if (background.isBusy()) {
            return true;
        }
        Generation active = generations.active();
        if (sealAny ? active.memtable().entries() > 0 : isWorthwhile(active.memtable())) {
            seal.run();
            if (generations.active() != active) {
                return true;
            }
        }
        long tree = background.treeChanges();
        if (checkpointed != tree && !background.isCheckpointed()) {
            checkpointed = tree;
            background.checkpointSoon();
            return true;
        }
        // A checkpoint makes room for merges that found none.
        long state = tree + background.checkpoints();
        if (settled != state) {
            try {
                returnLogSpace.run();
            } finally {
                background.settleSoon();
                // Not before: others would take all for done meanwhile.
                settled = state;
            }
            return true;
        }
        // All that could be done for them is done.
        return background.giveUpSplits();
    }

    private boolean isWorthwhile(Memtable memtable) {
        long entries = memtable.entries();
        return entries > 0 && (memtable.bytes() >= memtableBytes / BYTES_SHARE || mayFreeMuch(memtable));
    }

    /** A run begins extents of its own, in which few entries leave most of the room unused, and stays above the leaves until they are merged. */
    private boolean mayFreeMuch(Memtable memtable) {
        TreeSummary tree = background.tree();
        long entries = memtable.entries();
        if (entries >= tree.entries() / ENTRIES_SHARE) {
            return true;
        }
        long meanBytes = tree.dataBytes() / Math.max(1, tree.entries());
        long taken = Trunk.packedExtents(memtable.bytes()) * PageLayout.EXTENT_BYTES;
        return entries >= tree.entries() / ENTRIES_SHARE_LEAST && entries * meanBytes >= taken;
    }
}
