package dev.heartwood.engine.memtable;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.os.MemoryPool;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The newest entries of a store, in memory: a hash index over records that writers append to lanes, with an order that is made
 * when somebody asks for it.
 *
 * <p>A lane belongs to one thread at a time, for {@link #reserve} up to the insert, or {@link #reserveBatch} up to the commit;
 * the caller's lane lock sees to that. Everything else is thread-safe, and readers take no lock. Addresses that come out stay
 * readable until {@link #release}.
 *
 * <p>What was inserted is seen by every search and every cursor that begins after the insert has returned. The records of a
 * batch become visible together.
 */
public final class Memtable {
    private static final long CHUNK_BYTES_FIRST = MemoryPool.BLOCK_BYTES_MIN;
    private static final long CHUNK_BYTES_MAX = 1 << 20;
    // Lanes leave at most this part of the memtable unused in their last chunks.
    private static final long CHUNK_SHARE = 8;
    // Smaller batches fit into what tables keep free, or the overflow lists.
    private static final int INDEX_RESERVE_COUNT_MIN = 64;

    // A record's address is a multiple of 8.
    private static final long MET_BATCH = 1;

    private final long generation;
    private final long bytesMax;
    private final long bytesExpected;
    private final PoolBlocks blocks;
    private final HashIndex index;
    private final Lane[] lanes;
    private final OrderedViews views;
    private final AtomicLong chunkBytes = new AtomicLong();
    private volatile long chunkBytesLimit = Long.MAX_VALUE;
    private volatile boolean sealed;
    private volatile boolean forDeletes;

    /**
     * Makes an empty memtable, which takes nothing from the pool before the first {@link #reserve}.
     *
     * @param arrays shared with other memtables
     * @param generation the number of this memtable in its store
     * @param bytesMax the most bytes of records (entries, headers and padding) it takes, in whole chunks; an empty one takes any
     *     entry or batch the pool has room for
     */
    public Memtable(MemoryPool pool, SortArrays arrays, long generation, int lanes, long bytesMax) {
        this(pool, arrays, generation, lanes, bytesMax, bytesMax);
    }

    /**
     * As the other.
     *
     * @param bytesExpected what it has when it is sealed, as a rule; less where others share the pool
     */
    public Memtable(MemoryPool pool, SortArrays arrays, long generation, int lanes, long bytesMax, long bytesExpected) {
        if (lanes < 1) {
            throw new IllegalArgumentException(lanes + " lanes");
        }
        this.generation = generation;
        this.bytesMax = bytesMax;
        this.bytesExpected = bytesExpected;
        this.blocks = new PoolBlocks(pool);
        this.index = new HashIndex(blocks, lanes);
        this.lanes = new Lane[lanes];
        for (int i = 0; i < lanes; i++) {
            this.lanes[i] = new Lane(CHUNK_BYTES_FIRST);
        }
        this.views = new OrderedViews(this.lanes, arrays);
    }

    public long generation() {
        return generation;
    }

    /**
     * Whether keys that collide in its index do not end it: for who puts in again what a batch may have put into one before. Before others have it.
     */
    public void keepCollidingKeys(boolean keeps) {
        index.keepColliding(keeps);
    }

    /**
     * Makes room for one entry in a lane, so that its insert cannot fail. Of several calls before an insert the last counts.
     *
     * @return false when the memtable is full or sealed or the pool has no chunk: the caller seals this one and takes a new one
     */
    public boolean reserve(int lane, int keyLength, int valueLength) {
        long bytes = Records.bytesMax((long) keyLength + valueLength, 1);
        return isOpen() && makeRoom(lanes[lane], bytes);
    }

    /**
     * Has the processor load what the insert after a {@link #reserve} will touch, all of it at once, where one would else be waited for after
     * the other. Changes nothing.
     */
    public void prefetch(int lane, long hash, int keyLength, int valueLength) {
        lanes[lane].prefetch((long) keyLength + valueLength, index.touch(hash));
    }

    /** As {@link #reserve}, for a batch of {@code count} entries with {@code bytes} of keys and values together. */
    public boolean reserveBatch(int lane, int count, long bytes) {
        long recordBytes = Records.bytesMax(bytes, count) + Records.CELL_BYTES;
        return isOpen()
                && makeRoom(lanes[lane], recordBytes)
                && (count < INDEX_RESERVE_COUNT_MIN || index.reserve(count));
    }

    /** The block of the pool that {@code count} entries, written as a whole, with {@code bytes} of keys and values together take at least. */
    public static long blockBytes(int count, long bytes) {
        return MemoryPool.blockBytes(Records.bytesMax(bytes, count) + Records.CELL_BYTES + Lane.CHUNK_HEADER_BYTES);
    }

    /** What they take of the pool altogether, when they are the first that a memtable of so many lanes takes. */
    public static long bytesReserved(int lanes, int count, long bytes) {
        return blockBytes(count, bytes) + HashIndex.bytesReserved(lanes, count < INDEX_RESERVE_COUNT_MIN ? 0 : count);
    }

    private boolean isOpen() {
        return !sealed && !index.exhausted();
    }

    /**
     * Lets {@link #reserve} take no chunk that brings all of them beyond so many bytes, before the limit is raised. A few lanes that take one at
     * once may pass it together.
     *
     * @param onlyForDeletes whether {@link #isForDeletes} says so; the caller of {@link #reserve} heeds that
     */
    public void limit(long bytes, boolean onlyForDeletes) {
        chunkBytesLimit = bytes;
        forDeletes = onlyForDeletes;
    }

    /** Whether there is room for nothing but what deletes. */
    public boolean isForDeletes() {
        return forDeletes;
    }

    /**
     * The limit that lets every lane take a chunk with a block of so many bytes in it; 0 when that is allowed already, or when the
     * memtable, full or sealed, would not take it with any limit.
     */
    public long limitWanted(long blockBytes) {
        long held = chunkBytes.get();
        boolean fits = held + blockBytes <= bytesMax || entries() == 0;
        long wanted = held + Math.max(blockBytes, chunkBytesMax());
        return isOpen() && fits && wanted > chunkBytesLimit ? wanted : 0;
    }

    /** The largest chunk of a lane now: a part of what all are expected to have, or have already. */
    private long chunkBytesMax() {
        long all = Math.min(bytesMax, Math.max(bytesExpected, chunkBytes.get()));
        return Math.clamp(Long.highestOneBit(Math.max(1, all / (CHUNK_SHARE * lanes.length))), CHUNK_BYTES_FIRST, CHUNK_BYTES_MAX);
    }

    /** The most bytes of records that it takes, but for a single one that is larger. */
    public long bytesMax() {
        return bytesMax;
    }

    /** Bytes of chunks. */
    public long chunkBytes() {
        return chunkBytes.get();
    }

    /** The first tables come after the chunk: where there is none, nothing is held that would keep a large block from being whole. */
    private boolean makeRoom(Lane lane, long recordBytes) {
        return (lane.hasRoom(recordBytes) || addChunk(lane, recordBytes)) && index.prepare();
    }

    private boolean addChunk(Lane lane, long recordBytes) {
        long needed = MemoryPool.blockBytes(recordBytes + Lane.CHUNK_HEADER_BYTES);
        if (chunkBytes.get() + Math.max(lane.chunkBytesNext(), needed) > chunkBytesLimit) {
            return false;
        }
        boolean isEmpty = entries() == 0;
        for (long bytes = Math.max(lane.chunkBytesNext(), needed); bytes >= needed; bytes >>>= 1) {
            long chunk = allocateChunk(bytes, isEmpty);
            if (chunk != 0) {
                lane.addChunk(chunk, bytes, Math.min(2 * bytes, chunkBytesMax()));
                return true;
            }
        }
        return false;
    }

    /** Memory for a chunk, counted; 0 when there is none, or would be too much where the memtable has entries. */
    private long allocateChunk(long bytes, boolean isEmpty) {
        long chunk = 0;
        try {
            if (chunkBytes.addAndGet(bytes) <= bytesMax || isEmpty) {
                chunk = blocks.allocate(bytes);
            }
            return chunk;
        } finally {
            if (chunk == 0) {
                chunkBytes.addAndGet(-bytes);
            }
        }
    }

    /**
     * Inserts a copy of an entry, visible when the call returns. Cannot fail after {@link #reserve}. Versions of a key may come
     * in any order of their sequences.
     *
     * @param hash {@link dev.heartwood.engine.os.KeyHasher#hash} of the key
     */
    public void insert(
            int lane,
            long hash,
            long keyAddress,
            int keyLength,
            long sequence,
            byte kind,
            long valueAddress,
            int valueLength) {
        assert Entries.isKind(kind) && !sealed;
        Lane owned = lanes[lane];
        assert !owned.hasOpenBatch() : "a batch is open in this lane";
        long record = owned.append(sequence, kind, keyAddress, keyLength, valueAddress, valueLength);
        index.insert(hash, record, owned);
        owned.publish();
    }

    /** Begins a batch in a lane with a reservation for it; returns its handle. The lane takes nothing else until its commit. */
    public long beginBatch(int lane) {
        assert !sealed;
        return lanes[lane].openBatch(lane);
    }

    /** Inserts a copy of an entry, invisible until {@link #commitBatch}. Of equal keys and sequences the later one wins. */
    public void insertInBatch(
            long batch,
            long hash,
            long keyAddress,
            int keyLength,
            long sequence,
            byte kind,
            long valueAddress,
            int valueLength) {
        assert Entries.isKind(kind);
        Lane owned = lanes[Lane.laneOf(batch)];
        long record = owned.appendInBatch(sequence, kind, keyAddress, keyLength, valueAddress, valueLength);
        index.insert(hash, record, owned);
    }

    /** Makes the entries of the batch visible, all at once. */
    public void commitBatch(long batch) {
        lanes[Lane.laneOf(batch)].commitBatch(batch);
    }

    /**
     * Finds the newest committed version of a key with a sequence of at most {@code snapshot}. Takes no lock.
     *
     * @return whether there is one; {@code result} then holds it
     */
    public boolean find(long hash, long keyAddress, int keyLength, long snapshot, FoundEntry result) {
        long record = visible(index.find(hash, keyAddress, keyLength), snapshot);
        if ((record & MET_BATCH) != 0) {
            record = findAgain(hash, keyAddress, keyLength, snapshot, record);
        }
        if (record == 0) {
            return false;
        }
        long meta = Records.meta(record);
        int valueLength = Records.valueLength(meta);
        long value = record + Records.keyOffset(meta) + Records.keyLength(meta);
        result.set(
                (byte) Records.kind(meta), Records.sequence(record), valueLength == 0 ? 0 : value, valueLength);
        return true;
    }

    /*
     * A walk down a version chain that meets a batch's record looks at two things at two times: the chain, and whether the
     * batch is committed. In between, versions can be linked in above, and the record passed over can become visible before
     * the one found below it. But when two walks, one after the other, come to the same result, then that was the newest
     * visible version at the moment the second one began.
     */
    private long findAgain(long hash, long keyAddress, int keyLength, long snapshot, long first) {
        long previous = first & ~MET_BATCH;
        while (true) {
            long record = visible(index.find(hash, keyAddress, keyLength), snapshot) & ~MET_BATCH;
            if (record == previous) {
                return record;
            }
            previous = record;
        }
    }

    /** The newest committed record up to the snapshot, or 0, with MET_BATCH when the walk met a record of a batch. */
    private static long visible(long newest, long snapshot) {
        long metBatch = 0;
        for (long record = newest; record != 0; record = Records.olderAcquire(record)) {
            if (Records.sequence(record) <= snapshot) {
                long meta = Records.meta(record);
                if (!Records.isInBatch(meta)) {
                    return record | metBatch;
                }
                metBatch = MET_BATCH;
                if (Records.isCommitted(record, meta)) {
                    return record | metBatch;
                }
            }
        }
        return metBatch;
    }

    /** A cursor over all versions committed before the call with a sequence of at most {@code snapshot}; stands on none. */
    public EntryCursor cursor(long snapshot) {
        return new MemtableCursor(views.current(), snapshot);
    }

    /** A cursor over everything, in one sorted run; stands on no entry. After {@link #seal}. */
    public EntryCursor sealedCursor() {
        assert sealed;
        return new MemtableCursor(views.single(), Entries.NEWEST);
    }

    /** Ends writing: {@link #reserve} refuses from now on. The caller owns all lanes, and no batch is open. Idempotent. */
    public void seal() {
        for (Lane lane : lanes) {
            assert !lane.hasOpenBatch() : "a batch is open";
        }
        sealed = true;
    }

    /** Bytes of keys and values. */
    public long bytes() {
        long bytes = 0;
        for (Lane lane : lanes) {
            bytes += lane.bytes();
        }
        return bytes;
    }

    /** Entries, every version counted. */
    public long entries() {
        long entries = 0;
        for (Lane lane : lanes) {
            entries += lane.entries();
        }
        return entries;
    }

    /** Those among them that are deletes. */
    public long deletes() {
        long deletes = 0;
        for (Lane lane : lanes) {
            deletes += lane.deletes();
        }
        return deletes;
    }

    /** Bytes taken from the pool: chunks and index. */
    public long bytesHeld() {
        return blocks.bytesHeld();
    }

    /** Bytes of the current order, on the Java heap. */
    public long orderHeapBytes() {
        return views.heapBytes();
    }

    /** Gives all memory back to the pool. Nobody uses the memtable, its cursors or addresses from it any more. Idempotent. */
    public void release() {
        sealed = true;
        blocks.release();
        views.release();
    }
}
