package dev.heartwood.engine.filter;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.task.TimeSlice;
import java.util.Arrays;

/**
 * The entries of a maplet being built: thrown into buckets by the first bits of their fingerprints, then sorted bucket by bucket.
 * Takes 8 bytes of native memory an entry, and a bucket's worth twice while it sorts. For one thread.
 */
final class EntryBuckets implements AutoCloseable {
    /*
     * The first pass of a radix sort, most significant bits first, makes buckets that fit the first or second level of the
     * processor's cache; the other passes, least significant bits first, run in there. A bucket is a list of chunks, so that
     * nothing has to be counted before it is thrown. Chunks are carved out of slabs and aligned to their size.
     *
     * chunk:  0      8                                      4096
     *         | next | 511 entries: fingerprint << 6 | value |
     */
    static final long FINGERPRINT_MASK = (1L << FilterLayout.FINGERPRINT_BITS_MAX) - 1;

    private static final int VALUE_BITS = Entry.VALUE_BITS;
    private static final int VALUE_MASK = Entry.VALUE_MASK;
    private static final int CHUNK_BYTES = MemoryPool.BLOCK_BYTES_MIN;
    private static final long SLAB_BYTES_MIN = 4 * CHUNK_BYTES;
    private static final int BUCKET_ENTRIES = 4096;
    private static final int BUCKET_BITS_MAX = 12;
    private static final int DIGIT_BITS_MAX = 11;

    private final MemoryPool pool;
    private long[] slabs = new long[8];
    private long[] slabBytes = new long[8];
    private int slabCount;
    private long slabBytesHeld;
    private long chunkNext;
    private long chunkLimit;

    private final int bucketBits;
    private final int bucketShift;
    private final long[] heads;
    /** Where the next entry of a bucket goes; a multiple of the chunk size when that takes a new chunk. */
    private final long[] cursors;

    private final int[] counts;
    private int fingerprintBits = FilterLayout.FINGERPRINT_BITS_MAX;

    /** Room for entries, of which there will be about {@code expected}. */
    EntryBuckets(MemoryPool pool, long expected) {
        this.pool = pool;
        int bits = 0;
        while (bits < BUCKET_BITS_MAX && expected >>> bits > BUCKET_ENTRIES) {
            bits++;
        }
        bucketBits = bits;
        bucketShift = FilterLayout.FINGERPRINT_BITS_MAX - bits;
        heads = new long[1 << bits];
        cursors = new long[1 << bits];
        counts = new int[1 << bits];
    }

    int bucketBits() {
        return bucketBits;
    }

    /** Adds a fingerprint, given by the top 40 bits of the hash or fewer and zeroes. */
    void add(long fingerprint, int value) {
        int bucket = (int) (fingerprint >>> bucketShift);
        long cursor = cursors[bucket];
        if ((cursor & CHUNK_BYTES - 1) == 0) {
            cursor = appendChunk(bucket, cursor);
        }
        Memory.putLong(cursor, fingerprint << VALUE_BITS | value);
        cursors[bucket] = cursor + Long.BYTES;
        counts[bucket]++;
    }

    /**
     * Sorts, cuts fingerprints to {@code bits} bits, at least {@link #bucketBits()}, and drops what is there twice.
     *
     * @return how many entries are left
     */
    long sort(int bits) {
        int most = 0;
        for (int count : counts) {
            most = Math.max(most, count);
        }
        if (most == 0) {
            fingerprintBits = bits;
            return 0;
        }
        long scratchBytes = (long) most * Long.BYTES;
        long scratch = allocate(scratchBytes * 2);
        try {
            long total = 0;
            int[] digits = new int[1 << DIGIT_BITS_MAX];
            TimeSlice slice = new TimeSlice();
            for (int bucket = 0; bucket < heads.length; bucket++) {
                if (counts[bucket] > 0) {
                    gather(bucket, scratch);
                    long sorted = sort(scratch, scratch + scratchBytes, counts[bucket], bits, digits);
                    total += counts[bucket] = spread(bucket, sorted, counts[bucket], bits);
                    slice.check();
                }
            }
            fingerprintBits = bits;
            return total;
        } finally {
            pool.free(scratch, scratchBytes * 2);
        }
    }

    /** The entries in ascending order, fingerprints cut to {@code bits} bits, after {@link #sort}. */
    Cursor cursor(int bits) {
        return new Cursor(fingerprintBits - bits);
    }

    @Override
    public void close() {
        while (slabCount > 0) {
            slabCount--;
            pool.free(slabs[slabCount], slabBytes[slabCount]);
        }
    }

    private void gather(int bucket, long to) {
        long left = (long) counts[bucket] * Long.BYTES;
        for (long chunk = heads[bucket]; left > 0; chunk = Memory.getLong(chunk)) {
            long length = Math.min(left, CHUNK_BYTES - Long.BYTES);
            Memory.copy(chunk + Long.BYTES, to, length);
            to += length;
            left -= length;
        }
    }

    /** Sorts by the bits below the bucket's own and above those to be cut off; returns where the result is. */
    private long sort(long from, long to, int count, int bits, int[] digits) {
        int shift = VALUE_BITS + FilterLayout.FINGERPRINT_BITS_MAX - bits;
        int end = VALUE_BITS + bucketShift;
        int passes = (end - shift + DIGIT_BITS_MAX - 1) / DIGIT_BITS_MAX;
        for (int pass = passes; pass > 0; pass--) {
            int digitBits = (end - shift + pass - 1) / pass;
            scatter(from, to, count, shift, digits, 1 << digitBits);
            shift += digitBits;
            long swapped = from;
            from = to;
            to = swapped;
        }
        return from;
    }

    private static void scatter(long from, long to, int count, int shift, int[] digits, int radix) {
        Arrays.fill(digits, 0, radix, 0);
        int mask = radix - 1;
        long end = from + (long) count * Long.BYTES;
        for (long address = from; address < end; address += Long.BYTES) {
            digits[(int) (Memory.getLong(address) >>> shift) & mask]++;
        }
        int before = 0;
        for (int digit = 0; digit < radix; digit++) {
            int size = digits[digit];
            digits[digit] = before;
            before += size;
        }
        for (long address = from; address < end; address += Long.BYTES) {
            long entry = Memory.getLong(address);
            int position = digits[(int) (entry >>> shift) & mask]++;
            Memory.putLong(to + (long) position * Long.BYTES, entry);
        }
    }

    /** Writes sorted entries back into the bucket's chunks, each value of a fingerprint once; returns how many. */
    private int spread(int bucket, long sorted, int count, int bits) {
        int cut = VALUE_BITS + FilterLayout.FINGERPRINT_BITS_MAX - bits;
        long to = heads[bucket];
        int written = 0;
        long end = sorted + (long) count * Long.BYTES;
        for (long address = sorted; address < end; ) {
            long entry = Memory.getLong(address);
            long fingerprint = entry >>> cut;
            long values = 0;
            do {
                values |= 1L << (entry & VALUE_MASK);
                address += Long.BYTES;
                entry = address < end ? Memory.getLong(address) : -1;
            } while (entry >>> cut == fingerprint);
            for (; values != 0; values &= values - 1) {
                to += Long.BYTES;
                if ((to & CHUNK_BYTES - 1) == 0) {
                    to = Memory.getLong(to - CHUNK_BYTES) + Long.BYTES;
                }
                Memory.putLong(to, fingerprint << VALUE_BITS | Long.numberOfTrailingZeros(values));
                written++;
            }
        }
        return written;
    }

    private long appendChunk(int bucket, long full) {
        if (chunkNext == chunkLimit) {
            appendSlab();
        }
        long chunk = chunkNext;
        chunkNext += CHUNK_BYTES;
        if (full == 0) {
            heads[bucket] = chunk;
        } else {
            Memory.putLong(full - CHUNK_BYTES, chunk);
        }
        return chunk + Long.BYTES;
    }

    private void appendSlab() {
        if (slabCount == slabs.length) {
            slabs = Arrays.copyOf(slabs, slabCount * 2);
            slabBytes = Arrays.copyOf(slabBytes, slabCount * 2);
        }
        long bytes = FingerprintBuffer.chunkBytes(slabBytesHeld, SLAB_BYTES_MIN);
        long slab = pool.allocate(bytes);
        while (slab == 0 && bytes > CHUNK_BYTES) {
            bytes >>>= 1;
            slab = pool.allocate(bytes);
        }
        if (slab == 0) {
            throw noMemory(CHUNK_BYTES);
        }
        slabs[slabCount] = slab;
        slabBytes[slabCount++] = bytes;
        slabBytesHeld += bytes;
        chunkNext = slab;
        chunkLimit = slab + bytes;
    }

    private long allocate(long bytes) {
        long block = pool.allocate(bytes);
        if (block == 0) {
            throw noMemory(bytes);
        }
        return block;
    }

    private static InsufficientMemoryException noMemory(long bytes) {
        return new InsufficientMemoryException(
                "the memory budget has no room for " + bytes + " bytes more to build a maplet in");
    }

    /** Reads the entries in ascending order. */
    final class Cursor implements EntrySource {
        private final int cut;
        private int bucket = -1;
        /** What is left of the bucket, and where. */
        private int left;

        private long address;

        private Cursor(int bitsCut) {
            assert bitsCut >= 0;
            cut = bitsCut;
        }

        @Override
        public int read(long to, int room) {
            int stored = 0;
            while (stored < room && (left > 0 || beginBucket())) {
                if ((address & CHUNK_BYTES - 1) == 0) {
                    address = Memory.getLong(address - CHUNK_BYTES) + Long.BYTES;
                }
                int inChunk = (int) (CHUNK_BYTES - (address & CHUNK_BYTES - 1)) / Long.BYTES;
                int count = Math.min(Math.min(left, inChunk), room - stored);
                for (int i = 0; i < count; i++) {
                    long entry = Memory.getLong(address + (long) i * Long.BYTES);
                    long cutEntry = Entry.of(Entry.fingerprint(entry) >>> cut, Entry.value(entry));
                    Memory.putLong(to + (long) (stored + i) * Long.BYTES, cutEntry);
                }
                address += (long) count * Long.BYTES;
                left -= count;
                stored += count;
            }
            return stored;
        }

        /** Goes to the next bucket that is not empty; false when there is none. */
        private boolean beginBucket() {
            while (left == 0 && bucket + 1 < heads.length) {
                bucket++;
                left = counts[bucket];
                address = heads[bucket] + Long.BYTES;
            }
            return left > 0;
        }

        @Override
        public void close() {}
    }
}
