package dev.heartwood.engine.store;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.log.ReplaySink;
import dev.heartwood.engine.memtable.Memtable;
import dev.heartwood.engine.os.KeyHasher;
import dev.heartwood.engine.trunk.MemtablePacker;
import dev.heartwood.engine.trunk.Trunk;

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
    private Memtable memtable;
    private boolean hasPacked;

    Recovery(EngineEnvironment environment, MemtablePacker packer, Trunk trunk, int lanes, long memtableBytes) {
        this.environment = environment;
        this.packer = packer;
        this.trunk = trunk;
        this.lanes = lanes;
        this.memtableBytes = memtableBytes;
        this.memtable = environment.newMemtable(0, lanes, memtableBytes);
    }

    @Override
    public void beginGeneration(long generation) {}

    @Override
    public void beginBatch(long sequence, int count) {}

    @Override
    public void entry(long sequence, byte kind, long keyAddress, int keyLength, long valueAddress, int valueLength) {
        if (!memtable.reserve(0, keyLength, valueLength)) {
            pack(trunk.version().generation());
            if (!memtable.reserve(0, keyLength, valueLength)) {
                throw new InsufficientMemoryException(
                        "no memory to replay a write of " + ((long) keyLength + valueLength) + " bytes");
            }
        }
        long hash = KeyHasher.hash(keyAddress, keyLength);
        memtable.insert(0, hash, keyAddress, keyLength, sequence, kind, valueAddress, valueLength);
    }

    @Override
    public void endBatch() {}

    private void pack(long generation) {
        packer.pack(memtable, generation);
        hasPacked = true;
        memtable.release();
        memtable = environment.newMemtable(0, lanes, memtableBytes);
    }

    /**
     * Ends a replay that came up to a generation. When the tree has some of what was replayed, it gets all of it and says so: a checkpoint
     * of a part would make newer entries durable than those that the log, after a loss of power, replays on top of them.
     */
    void complete(long lastGeneration) {
        if (hasPacked) {
            pack(lastGeneration);
        }
    }

    /** The memtable with what is left, now the caller's. */
    Memtable take() {
        Memtable rest = memtable;
        memtable = null;
        return rest;
    }

    @Override
    public void close() {
        if (memtable != null) {
            memtable.release();
        }
    }
}
