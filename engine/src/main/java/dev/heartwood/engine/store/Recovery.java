package dev.heartwood.engine.store;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.engine.background.PackedMemtables;
import dev.heartwood.engine.log.ReplaySink;
import dev.heartwood.engine.memtable.Memtable;
import dev.heartwood.engine.merge.MemtablePacker;
import dev.heartwood.engine.node.MergeAdmission;
import dev.heartwood.engine.os.KeyHasher;
import dev.heartwood.engine.trunk.Trunk;
import java.util.concurrent.CountDownLatch;

/**
 * Puts what the log replays into a memtable; a full one is packed into the tree at once. Until the end the tree keeps its old
 * generation, so that a crash in the middle replays everything again. One thread.
 */
final class Recovery implements ReplaySink, AutoCloseable {
    private final EngineEnvironment environment;
    private final MemtablePacker packer;
    private final Trunk trunk;
    private final int lanes;
    private final long memtableBytes;
    private final long packedBytes;
    private Memtable memtable;
    private boolean isInBatch;
    private PackedMemtables packed = PackedMemtables.NONE;

    /**
     * @param memtableBytes the size of a full memtable of the store
     * @param packedBytes from which size on what is replayed is packed; not less
     */
    Recovery(EngineEnvironment environment, MemtablePacker packer, Trunk trunk, int lanes, long memtableBytes, long packedBytes) {
        this.environment = environment;
        this.packer = packer;
        this.trunk = trunk;
        this.lanes = lanes;
        this.memtableBytes = memtableBytes;
        this.packedBytes = packedBytes;
        this.memtable = newMemtable(packedBytes);
    }

    /** One that ends where those did that are replayed: space for more was not promised. So a batch is in one, as it was. */
    private Memtable newMemtable(long bytesMax) {
        Memtable next = environment.newMemtable(0, lanes, bytesMax);
        next.keepCollidingKeys(isInBatch);
        return next;
    }

    @Override
    public void beginGeneration(long generation) {}

    @Override
    public void beginBatch(long sequence, int count) {
        keepCollidingKeys(true);
    }

    @Override
    public void entry(long sequence, byte kind, long keyAddress, int keyLength, long valueAddress, int valueLength) {
        if (!memtable.reserve(0, keyLength, valueLength)) {
            makeRoom(keyLength, valueLength);
        }
        long hash = KeyHasher.hash(keyAddress, keyLength);
        memtable.insert(0, hash, keyAddress, keyLength, sequence, kind, valueAddress, valueLength);
    }

    @Override
    public void endBatch() {
        keepCollidingKeys(false);
    }

    private void keepCollidingKeys(boolean keep) {
        isInBatch = keep;
        memtable.keepCollidingKeys(keep);
    }

    /** Packs what there is, and waits for memory that other stores hold. */
    private void makeRoom(int keyLength, int valueLength) {
        if (memtable.entries() > 0) {
            pack(trunk.version().generation(), packedBytes);
        }
        boolean hasAskedAll = false;
        while (!memtable.reserve(0, keyLength, valueLength)) {
            // Asked twice: who took what was there in between has that to give back.
            if (!environment.awaitMemtableMemory()
                    && !memtable.reserve(0, keyLength, valueLength)
                    && !environment.awaitMemtableMemory()) {
                if (hasAskedAll || !environment.giveBackEmptyMemtables()) {
                    throw new InsufficientMemoryException(
                            "no memory to replay a write of " + ((long) keyLength + valueLength) + " bytes; raise the memory option"
                                    + environment.toldOfStopped());
                }
                hasAskedAll = true;
            }
        }
    }

    /** Packs what there is, and goes on with a memtable of {@code nextBytes}. */
    private void pack(long generation, long nextBytes) {
        try {
            packAdmitted(generation, false);
        } catch (InsufficientMemoryException e) {
            packAdmitted(generation, true);
        }
        packed = packed.and(PackedMemtables.of(memtable.chunkBytes()));
        memtable.release();
        memtable = newMemtable(nextBytes);
    }

    /** As soon as it is admitted to the memory for merges, beside others or {@code alone}. */
    private void packAdmitted(long generation, boolean alone) {
        MergeAdmission admission = environment.mergeAdmission();
        CountDownLatch admitted = new CountDownLatch(1);
        if (!admission.admitPacking(alone, admitted::countDown)) {
            await(admitted);
        }
        try {
            packer.pack(memtable, generation).release();
        } finally {
            admission.releasePacking();
        }
    }

    private void await(CountDownLatch admitted) {
        boolean interrupted = false;
        while (admitted.getCount() > 0) {
            try {
                if (!environment.workers().runOneHere()) {
                    admitted.await();
                }
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Ends a replay that came up to a generation. When the tree has some of what was replayed, it gets all of it and says so: a checkpoint
     * of a part would make newer entries durable than those that the log, after a loss of power, replays on top of them.
     *
     * @param isCheckpointDue whether the tree gets all of it also when it has none yet, so that a checkpoint lets the log go; so it does where
     *     the memtable may be larger than others of the store
     */
    void complete(long lastGeneration, boolean isCheckpointDue) {
        if (packed.memtables() > 0) {
            pack(lastGeneration, memtableBytes);
        } else if (isCheckpointDue || packedBytes > memtableBytes) {
            packIfThereIsRoom(lastGeneration);
        }
    }

    /** What finds no room stays in the memtable, as where no checkpoint is due. */
    private void packIfThereIsRoom(long lastGeneration) {
        try {
            pack(lastGeneration, memtableBytes);
        } catch (NoSpaceException | InsufficientMemoryException e) {
            // The log keeps it, and the next opening tries again.
        }
    }

    /** Memtables that were packed: the log has all of them until the next checkpoint. */
    PackedMemtables packed() {
        return packed;
    }

    /** The memtable with what is left; it stays this one's to release until {@link #handOver}. */
    Memtable rest() {
        return memtable;
    }

    /** From now on the memtable is whose {@link #rest} was given to. */
    void handOver() {
        memtable = null;
    }

    @Override
    public void close() {
        if (memtable != null) {
            memtable.release();
        }
    }
}
