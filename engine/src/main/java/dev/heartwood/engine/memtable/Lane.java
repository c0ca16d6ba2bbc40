package dev.heartwood.engine.memtable;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.os.Memory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The arena of one lane: a list of chunks that one thread at a time appends records to, and that any thread may walk up to the
 * published tail.
 */
final class Lane {
    /*
     * A chunk begins with the address of the next chunk and the end of its records, both 0 while it is the last one. Both are
     * written before a tail in a later chunk is published, so a walk that has not reached the published tail can rely on them.
     *
     * Shared field       read            written              guarded by
     * published          acquire         release              the lane's owner
     * entries, bytes,
     * deletes            opaque          opaque               the lane's owner
     * firstChunk         plain           plain, once          published (release before, acquire after)
     * all others         plain           plain                the lane's owner
     */
    static final int CHUNK_HEADER_BYTES = 16;
    private static final int CHUNK_END_OFFSET = 8;

    private static final VarHandle PUBLISHED;
    private static final VarHandle ENTRIES;
    private static final VarHandle BYTES;
    private static final VarHandle DELETES;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            PUBLISHED = lookup.findVarHandle(Lane.class, "published", long.class);
            ENTRIES = lookup.findVarHandle(Lane.class, "entries", long.class);
            BYTES = lookup.findVarHandle(Lane.class, "bytes", long.class);
            DELETES = lookup.findVarHandle(Lane.class, "deletes", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // Lanes belong to different threads: the unused fields at both ends keep them off each other's cache lines.
    @SuppressWarnings("unused")
    private long before0, before1, before2, before3, before4, before5, before6, before7;

    private long firstChunk;
    private long chunk;
    private long tail;
    private long end;
    private long chunkBytesNext;
    private long openBatch;
    /** Means nothing; see {@link Memory#touchLines}. */
    private long touched;

    private long published;
    private long entries;
    private long bytes;
    private long deletes;

    @SuppressWarnings("unused")
    private long after0, after1, after2, after3, after4, after5, after6, after7;

    Lane(long firstChunkBytes) {
        this.chunkBytesNext = firstChunkBytes;
    }

    boolean hasRoom(long recordBytes) {
        return end - tail >= recordBytes;
    }

    /** Reads the lines of the next record of so many bytes of key and value; keeps what was read before, too. */
    void prefetch(long bytes, long alreadyTouched) {
        touched = alreadyTouched + Memory.touchLines(tail, Records.HEADER_BYTES + bytes);
    }

    long chunkBytesNext() {
        return chunkBytesNext;
    }

    /** Goes on in a new chunk; what is left of the one before stays unused. */
    void addChunk(long address, long chunkBytes, long nextChunkBytes) {
        Memory.putLong(address, 0);
        Memory.putLong(address + CHUNK_END_OFFSET, 0);
        if (chunk == 0) {
            firstChunk = address;
        } else {
            Memory.putLong(chunk, address);
            Memory.putLong(chunk + CHUNK_END_OFFSET, tail);
        }
        chunk = address;
        tail = address + CHUNK_HEADER_BYTES;
        end = address + chunkBytes;
        chunkBytesNext = nextChunkBytes;
    }

    /** Appends an entry without publishing it; returns its address. */
    long append(
            long sequence, byte kind, long keyAddress, int keyLength, long valueAddress, int valueLength) {
        long record = take(Records.meta(kind, keyLength, valueLength), sequence);
        fill(record + Records.HEADER_BYTES, kind, keyAddress, keyLength, valueAddress, valueLength);
        return record;
    }

    /** As {@link #append} for an entry of the open batch. */
    long appendInBatch(
            long sequence, byte kind, long keyAddress, int keyLength, long valueAddress, int valueLength) {
        long record = take(Records.metaInBatch(kind, keyLength, valueLength), sequence);
        Memory.putLong(record + Records.HEADER_BYTES, openBatch);
        fill(record + Records.HEADER_BYTES + Long.BYTES, kind, keyAddress, keyLength, valueAddress, valueLength);
        return record;
    }

    private void fill(long key, byte kind, long keyAddress, int keyLength, long valueAddress, int valueLength) {
        Memory.copy(keyAddress, key, keyLength);
        Memory.copy(valueAddress, key + keyLength, valueLength);
        ENTRIES.setOpaque(this, entries + 1);
        BYTES.setOpaque(this, bytes + keyLength + valueLength);
        if (kind == Entries.DELETE) {
            DELETES.setOpaque(this, deletes + 1);
        }
    }

    /** Appends the commit cell of a batch, pending; returns its address. The owner's number is kept in the cell. */
    long openBatch(int laneNumber) {
        assert openBatch == 0 : "a batch is open in this lane";
        openBatch = take(Records.meta(Records.INTERNAL, 0, 0), Records.PENDING);
        Memory.putLong(openBatch + Records.OLDER_OFFSET, laneNumber);
        return openBatch;
    }

    /** The number of the lane that the batch of this commit cell belongs to. */
    static int laneOf(long batch) {
        return (int) Memory.getLong(batch + Records.OLDER_OFFSET);
    }

    /** Publishes the batch's records, then makes all of them visible by one store. */
    void commitBatch(long batch) {
        assert openBatch == batch : "not the open batch of this lane";
        openBatch = 0;
        publish();
        Memory.putLongRelease(batch, Records.COMMITTED);
    }

    boolean hasOpenBatch() {
        return openBatch != 0;
    }

    /** Appends a node of an overflow list, whose key's newest version is {@code record}; returns its address. */
    long appendNode(long record, long nextNode) {
        long node = take(Records.meta(Records.INTERNAL, Long.BYTES, 0), Records.COMMITTED);
        Memory.putLong(node + Records.OLDER_OFFSET, nextNode);
        Memory.putLong(node + Records.NODE_HEAD_OFFSET, record);
        return node;
    }

    private long take(long meta, long sequence) {
        long record = tail;
        tail = record + Records.bytes(meta);
        assert tail <= end : "more was inserted than reserved";
        Memory.putLong(record, sequence);
        Memory.putLong(record + Records.OLDER_OFFSET, 0);
        Memory.putLong(record + Records.META_OFFSET, meta);
        return record;
    }

    /** Lets walks see everything appended so far. */
    void publish() {
        PUBLISHED.setRelease(this, tail);
    }

    /** The end of what a walk may see; 0 when there is nothing. */
    long published() {
        return (long) PUBLISHED.getAcquire(this);
    }

    /** Where a walk begins, once {@link #published} is not 0. */
    long firstRecord() {
        return firstChunk + CHUNK_HEADER_BYTES;
    }

    long firstChunk() {
        return firstChunk;
    }

    static long nextChunk(long chunk) {
        return Memory.getLong(chunk);
    }

    static long recordsEnd(long chunk) {
        return Memory.getLong(chunk + CHUNK_END_OFFSET);
    }

    long entries() {
        return (long) ENTRIES.getOpaque(this);
    }

    long deletes() {
        return (long) DELETES.getOpaque(this);
    }

    long bytes() {
        return (long) BYTES.getOpaque(this);
    }
}
