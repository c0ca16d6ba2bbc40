package dev.heartwood.engine.filter;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.task.TimeSlice;
import java.util.Arrays;

/**
 * The entries of a maplet being built: thrown into buckets by the first bits of their fingerprints, then sorted bucket by bucket.
 * Takes 8 bytes of native memory an entry, and while it sorts, two buckets' worth of different entries as a rule. For one thread.
 */
final class EntryBuckets implements AutoCloseable {
    /*
     * The first pass of a radix sort, most significant bits first, makes buckets that fit the first or second level of the
     * processor's cache; the other passes, least significant bits first, run in there. A bucket is a list of chunks, so that
     * nothing has to be counted before it is thrown. Chunks are carved out of slabs and aligned to their size.
     *
     * Hashes fill buckets evenly. One that holds far more than the others has the same entries again and again, as where most keys are of one
     * group: it is sorted a piece at a time first, which leaves each piece with different ones. Those of which many come again and again leave
     * a small part in a few passes. But keys can be chosen so that each pass finds one entry alone: pieces of all the same ones, but for one.
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
    /** A bucket with so many times the entries of an average one is not filled by different hashes. */
    private static final int CROWDED = 4;

    /** A bucket is gone over again if a pass has dropped at least this part of it, as a power of two: so there are few passes, whatever it holds. */
    private static final int WORTHWHILE_SHIFT = 3;

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
    /** How many entries {@link #spread(long, long, int, int)} has written last. */
    private int spread;

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
        thinCrowded();
        int most = most();
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
                    gather(heads[bucket] + Long.BYTES, counts[bucket], scratch);
                    long sorted = sort(scratch, scratch + scratchBytes, counts[bucket], bits, digits);
                    spread(heads[bucket] + Long.BYTES, sorted, counts[bucket], bits);
                    total += counts[bucket] = spread;
                    slice.check();
                }
            }
            fingerprintBits = bits;
            return total;
        } finally {
            pool.free(scratch, scratchBytes * 2);
        }
    }

    private int most() {
        int most = 0;
        for (int count : counts) {
            most = Math.max(most, count);
        }
        return most;
    }

    /** Drops what is there twice of buckets that hold too much; returns how many passes over one that took. */
    int thinCrowded() {
        long all = 0;
        for (int count : counts) {
            all += count;
        }
        int piece = (int) Math.max(CROWDED * all / counts.length, CROWDED * BUCKET_ENTRIES);
        if (most() <= piece) {
            return 0;
        }
        long scratchBytes = (long) piece * Long.BYTES;
        long scratch = allocate(scratchBytes * 2);
        try {
            int passes = 0;
            int[] digits = new int[1 << DIGIT_BITS_MAX];
            for (int bucket = 0; bucket < heads.length; bucket++) {
                int before = Integer.MAX_VALUE;
                while (counts[bucket] > piece && counts[bucket] <= before - (before >>> WORTHWHILE_SHIFT)) {
                    before = counts[bucket];
                    thin(bucket, piece, scratch, digits);
                    passes++;
                }
            }
            return passes;
        } finally {
            pool.free(scratch, scratchBytes * 2);
        }
    }

    /** Sorts a bucket piece by piece, and keeps of each what is different. */
    private void thin(int bucket, int piece, long scratch, int[] digits) {
        TimeSlice slice = new TimeSlice();
        int bits = FilterLayout.FINGERPRINT_BITS_MAX;
        long from = heads[bucket] + Long.BYTES;
        long to = from;
        int kept = 0;
        int count;
        for (int left = counts[bucket]; left > 0; left -= count) {
            count = Math.min(left, piece);
            from = gather(from, count, scratch);
            to = spread(to, sort(scratch, scratch + (long) piece * Long.BYTES, count, bits, digits), count, bits);
            kept += spread;
            slice.check();
        }
        counts[bucket] = kept;
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

    /** Copies entries out of a bucket's chunks, beginning at one of them, or behind the last one of a chunk; returns where the next one is. */
    private static long gather(long from, int count, long to) {
        long left = (long) count * Long.BYTES;
        while (left > 0) {
            from = inChunk(from);
            long length = Math.min(left, CHUNK_BYTES - (from & CHUNK_BYTES - 1));
            Memory.copy(from, to, length);
            from += length;
            to += length;
            left -= length;
        }
        return from;
    }

    /** Where an entry is that has the place {@code address}, or is the first of the next chunk when that is behind the end of one. */
    private static long inChunk(long address) {
        return (address & CHUNK_BYTES - 1) == 0 ? Memory.getLong(address - CHUNK_BYTES) + Long.BYTES : address;
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

    /** Writes sorted entries back into a bucket's chunks, each value of a fingerprint once, {@link #spread} in all; returns where the next one goes. */
    private long spread(long to, long sorted, int count, int bits) {
        int cut = VALUE_BITS + FilterLayout.FINGERPRINT_BITS_MAX - bits;
        spread = 0;
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
                to = inChunk(to);
                Memory.putLong(to, fingerprint << VALUE_BITS | Long.numberOfTrailingZeros(values));
                to += Long.BYTES;
                spread++;
            }
        }
        return to;
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
