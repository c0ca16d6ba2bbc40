package dev.heartwood.engine.checkpoint;

import dev.heartwood.PreviousFailureException;
import dev.heartwood.engine.log.WriteAheadLog;
import dev.heartwood.engine.node.NodePlace;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.node.TrunkVersion;
import dev.heartwood.engine.trunk.Trunk;
import dev.heartwood.engine.trunk.TrunkImages;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Makes the current version of a tree durable. Thread-safe; one checkpoint at a time.
 *
 * <p>Pages first, then a sync, then the superblocks; then the version of the checkpoint before is let go, and with it the extents
 * that only it reached, and the log up to the version's generation.
 *
 * <p>After a failed sync nobody knows which pages are on the device, and a second sync may succeed without them. So the first
 * failure from there on is final: no later checkpoint writes anything.
 */
public final class Checkpointer {
    /*
     * Shared field   read       written    guarded by
     * completed,     volatile   volatile   this
     * extentsAtLast
     * all others     -          -          this
     *
     * The monitor is held over a whole checkpoint; who is in an epoch must not wait for it.
     */
    private final TreeStorage storage;
    private final Trunk trunk;
    private final TrunkImages images;
    private final Superblocks superblocks;
    private final WriteAheadLog log;
    private final LongSupplier lastSequence;
    private final Consumer<Throwable> whenFailed;
    private Superblock durable;
    private TrunkVersion pinned;
    private volatile long completed;
    private volatile int extentsAtLast;
    private Throwable failure;

    /**
     * Takes over a reference to {@code pinned}, the version that {@code durable} names.
     *
     * @param extentsInUse extents that were in use when the tree was that version: what a replay packs comes to it anew with each opening
     * @param whenFailed told of what ends all checkpoints: a failed sync, or a superblock that may have been written or not
     */
    public Checkpointer(
            TreeStorage storage,
            Trunk trunk,
            TrunkImages images,
            Superblocks superblocks,
            WriteAheadLog log,
            LongSupplier lastSequence,
            Superblock durable,
            TrunkVersion pinned,
            int extentsInUse,
            Consumer<Throwable> whenFailed) {
        this.storage = storage;
        this.trunk = trunk;
        this.images = images;
        this.superblocks = superblocks;
        this.log = log;
        this.lastSequence = lastSequence;
        this.durable = durable;
        this.pinned = pinned;
        this.whenFailed = whenFailed;
        this.extentsAtLast = extentsInUse;
    }

    /**
     * Makes the current version durable, unless it is already.
     *
     * @throws PreviousFailureException when an earlier checkpoint failed at the device
     */
    public synchronized void run() {
        if (failure != null) {
            throw new PreviousFailureException(failure);
        }
        TrunkVersion version = trunk.pin();
        if (version == pinned) {
            version.release();
            return;
        }
        long number = durable.number() + 1;
        long sequence = Math.max(durable.sequence(), lastSequence.getAsLong());
        Superblock next;
        try {
            storage.file().writeBackAll();
            // Of this attempt alone: what one without space has left on pages that another uses is not read as that one's.
            NodePlace root = images.write(version, trunk.newId(), superblocks.buffer());
            next = new Superblock(
                    durable.format(),
                    durable.storeId(),
                    number,
                    version.generation(),
                    sequence,
                    trunk.nextId(),
                    root.pages(),
                    root.generation(),
                    durable.options());
            write(next);
        } catch (RuntimeException | Error e) {
            if (failure == null) {
                version.release();
            }
            throw e;
        }
        TrunkVersion before = pinned;
        durable = next;
        pinned = version;
        completed++;
        before.release();
        extentsAtLast = storage.extents().allocatedCount();
        log.release(version.generation());
    }

    /** From the first failure on one of the copies may be on the device, so that both versions keep what they use. */
    private void write(Superblock next) {
        try {
            storage.device().sync();
            superblocks.write(next);
        } catch (Throwable e) {
            failure = e;
            whenFailed.accept(e);
            throw e;
        }
    }

    /** The last durable checkpoint, its version held, and the superblocks as the device has them. */
    public record Held(Superblock superblock, TrunkVersion version, Superblocks.Copy[] copies) implements AutoCloseable {
        /** Lets the version go. */
        @Override
        public void close() {
            version.release();
        }
    }

    /** The last durable checkpoint; what it reaches is not used again until it is closed. */
    public synchronized Held hold() {
        Superblocks.Copy[] copies = superblocks.copies();
        pinned.retain();
        return new Held(durable, pinned, copies);
    }

    /** What the superblocks say now. */
    public synchronized Superblock durable() {
        return durable;
    }

    /** Whether the last checkpoint has the current version of the tree. */
    public synchronized boolean isCurrent() {
        return trunk.version() == pinned;
    }

    /** Checkpoints completed since the store was opened; waits for nobody. */
    public long completed() {
        return completed;
    }

    /** The extents that were in use when the last checkpoint was made: what it reaches, and what was packed and merged meanwhile. Waits for nobody. */
    public int extentsAtLast() {
        return extentsAtLast;
    }

    /** Gives its buffer back; nothing may follow. */
    public synchronized void close() {
        superblocks.close();
    }
}
