package dev.heartwood.engine.filter;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.util.Arrays;
import java.util.function.LongConsumer;

/**
 * Collects the hashes of keys while a branch is written, in native memory: {@value #HASH_BYTES} bytes a key, in chunks that grow
 * from 4 KiB to 1 MiB as there are more of them. For one thread at a time.
 */
public final class FingerprintBuffer implements AutoCloseable {
    /** What is kept of a hash: its top 40 bits, as many as the longest fingerprint has. */
    static final int HASH_BYTES = FilterLayout.FINGERPRINT_BITS_MAX / 8;

    static final int HASH_SHIFT = Long.SIZE - FilterLayout.FINGERPRINT_BITS_MAX;
    private static final long CHUNK_BYTES_MAX = 1 << 20;

    private final MemoryPool pool;
    private final long bytesMax;
    private long[] chunks = new long[4];
    private long[] chunkBytes = new long[4];
    private int chunkCount;
    private long bytesHeld;
    /** Where the next hash goes, and the first address at which an 8-byte store would leave the chunk. */
    private long cursor;

    private long limit;
    /** The hashes in the chunks before the last. */
    private long countBefore;

    /** An empty buffer; takes no memory before the first hash. */
    public FingerprintBuffer(MemoryPool pool) {
        this(pool, Long.MAX_VALUE);
    }

    /** As {@link #FingerprintBuffer(MemoryPool)}, and takes no more than {@code bytesMax}. */
    public FingerprintBuffer(MemoryPool pool, long bytesMax) {
        this.pool = pool;
        this.bytesMax = bytesMax;
    }

    /**
     * Adds the hash of a key.
     *
     * @throws InsufficientMemoryException when the pool, or what may be taken of it, has no room for another chunk; what was added
     *     before stays
     */
    public void add(long hash) {
        if (cursor >= limit) {
            grow();
        }
        // The three bytes too many are overwritten by the next hash or lie before the end of the chunk.
        Memory.putLong(cursor, hash >>> HASH_SHIFT);
        cursor += HASH_BYTES;
    }

    /** The hashes added. */
    public long count() {
        return chunkCount == 0 ? 0 : countBefore + countInLast();
    }

    /** The native memory taken, in bytes. */
    public long bytesHeld() {
        return bytesHeld;
    }

    /** Gives the memory back and empties the buffer, which can be used again. */
    @Override
    public void close() {
        while (chunkCount > 0) {
            chunkCount--;
            pool.free(chunks[chunkCount], chunkBytes[chunkCount]);
        }
        bytesHeld = 0;
        countBefore = 0;
        cursor = 0;
        limit = 0;
    }

    /** Calls {@code sink} with every hash, of which only the top 40 bits were kept. */
    public void forEach(LongConsumer sink) {
        for (int i = 0; i < chunkCount; i++) {
            long end = i == chunkCount - 1 ? cursor : end(i);
            for (long address = chunks[i]; address < end; address += HASH_BYTES) {
                sink.accept(Memory.getLong(address) << HASH_SHIFT);
            }
        }
    }

    void addTo(EntryBuckets buckets, int value) {
        for (int i = 0; i < chunkCount; i++) {
            long end = i == chunkCount - 1 ? cursor : end(i);
            for (long address = chunks[i]; address < end; address += HASH_BYTES) {
                buckets.add(Memory.getLong(address) & EntryBuckets.FINGERPRINT_MASK, value);
            }
        }
    }

    private void grow() {
        makeRoom();
        long bytes = chunkBytes(bytesHeld, MemoryPool.BLOCK_BYTES_MIN);
        long chunk = bytesHeld + bytes > bytesMax ? 0 : pool.allocate(bytes);
        while (chunk == 0 && bytes > MemoryPool.BLOCK_BYTES_MIN) {
            bytes >>>= 1;
            chunk = bytesHeld + bytes > bytesMax ? 0 : pool.allocate(bytes);
        }
        if (chunk == 0) {
            throw new InsufficientMemoryException(
                    "the memory budget has no room for the fingerprints of more than " + count() + " keys");
        }
        if (chunkCount > 0) {
            countBefore += countInLast();
        }
        append(chunk, bytes);
        cursor = chunk;
        limit = chunk + bytes - Long.BYTES + 1;
    }

    /** What is taken at once beside {@code held}: about a quarter of that, a power of two, so that little is taken in vain. */
    static long chunkBytes(long held, long bytesMin) {
        return Math.clamp(Long.highestOneBit(held / 4), bytesMin, CHUNK_BYTES_MAX);
    }

    /** For another chunk, before it is taken: on a full Java heap nobody would give it back. */
    private void makeRoom() {
        if (chunkCount == chunks.length) {
            long[] more = Arrays.copyOf(chunks, chunkCount * 2);
            chunkBytes = Arrays.copyOf(chunkBytes, chunkCount * 2);
            chunks = more;
        }
    }

    private void append(long chunk, long bytes) {
        chunks[chunkCount] = chunk;
        chunkBytes[chunkCount++] = bytes;
        bytesHeld += bytes;
    }

    private long countInLast() {
        return (cursor - chunks[chunkCount - 1]) / HASH_BYTES;
    }

    /** Behind the last hash of a full chunk. */
    private long end(int chunk) {
        return chunks[chunk] + ((chunkBytes[chunk] - Long.BYTES) / HASH_BYTES + 1) * HASH_BYTES;
    }
}
