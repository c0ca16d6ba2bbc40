package dev.heartwood.engine.record;

import dev.heartwood.engine.base.BriefWait;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.os.MemoryPool;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;

/**
 * Records of all stores of an environment that were read more than once lately. Thread-safe; readers take no lock. Every method but
 * {@link #store} runs inside an epoch or in the background.
 */
public final class RecordCache implements AutoCloseable {
    private static final int CHUNK_BYTES_MAX = 16 << 10;
    private static final int CHUNK_BYTES_MIN = 2 * RecordLayout.PAYLOAD_BYTES_MAX;

    /**
     * Bytes of records for each one of the table, at most: a bucket for five records of a hundred and twenty bytes, with two slots for keys
     * met once.
     */
    private static final int RECORDS_PER_TABLE = 10;

    private final MemoryPool pool;
    // Null when there is no memory for records.
    private final RecordTable table;
    private final RecordRings rings;
    private final AtomicBoolean ringsTaken = new AtomicBoolean();
    private final AtomicLong packings = new AtomicLong();
    private final AtomicInteger owners = new AtomicInteger();
    private final LongAdder hits = new LongAdder();
    /** Whether a record was ever taken in; set before the first looks at the packings. */
    private volatile boolean hasRecords;

    /**
     * A cache in all of {@code pool}, newly opened and now the cache's; one that holds nothing when it is too small.
     *
     * @param lender the memory that more can be borrowed of
     * @param bytesBorrowedMax the most that is ever borrowed; less when there would not be buckets for as much
     */
    public RecordCache(MemoryPool pool, MemoryPool lender, long bytesBorrowedMax, Epochs epochs) {
        this.pool = pool;
        long capacity = pool.capacity();
        int chunkBytes = (int) Math.clamp(Long.highestOneBit(capacity / 64), CHUNK_BYTES_MIN, CHUNK_BYTES_MAX);
        long tableBytes = tableBytes(capacity, bytesBorrowedMax);
        long indexedMax = RECORDS_PER_TABLE * tableBytes;
        long borrowedMax = Math.clamp(indexedMax - (capacity - tableBytes), 0, bytesBorrowedMax);
        long tableAddress = pool.allocate(tableBytes);
        long[] chunks = tableAddress == 0 ? new long[0] : chunks(pool, (capacity - tableBytes) / chunkBytes, chunkBytes);
        if (chunks.length < RecordRing.CHUNKS_MIN) {
            this.table = null;
            this.rings = null;
            return;
        }
        this.table = new RecordTable(tableAddress, tableBytes);
        this.rings = new RecordRings(table, epochs, chunks, chunkBytes, lender, borrowedMax);
    }

    /** Buckets for the cache's own memory; twice as many where they would not do for most of what can be borrowed. */
    static long tableBytes(long capacity, long bytesBorrowedMax) {
        long own = MemoryPool.blockBytes(capacity / RECORDS_PER_TABLE);
        long all = capacity - own + bytesBorrowedMax;
        long wanted = RECORDS_PER_TABLE * own < all * 4 / 5 ? 2 * own : own;
        return Math.min(wanted, RecordTable.BYTES_MAX);
    }

    private static long[] chunks(MemoryPool pool, long countMax, int chunkBytes) {
        long[] chunks = new long[(int) Math.min(countMax, Integer.MAX_VALUE / 2)];
        int count = 0;
        while (count < chunks.length) {
            long chunk = pool.allocate(chunkBytes);
            if (chunk == 0) {
                break;
            }
            chunks[count++] = chunk;
        }
        return Arrays.copyOf(chunks, count);
    }

    /**
     * The part of a store that is opened.
     *
     * @param isCached whether its records may be kept; else nothing is ever found
     */
    public StoreRecords store(boolean isCached) {
        return new StoreRecords(this, isCached && isEnabled());
    }

    /** Records found since the cache was made. */
    public long hits() {
        return hits.sum();
    }

    /** The memory it may take, in bytes, with what it has borrowed. */
    public long bytes() {
        return isEnabled() ? pool.capacity() + bytesBorrowed() : 0;
    }

    /** The memory it has borrowed that the lender does not have back, in bytes. */
    public long bytesBorrowed() {
        return isEnabled() ? rings.bytesBorrowed() : 0;
    }

    /** Of these, the bytes that were given back and are the lender's when all epochs have ended that were active then. */
    public long bytesGivenBack() {
        return isEnabled() ? rings.bytesGivenBack() : 0;
    }

    /** The bytes that are borrowed or given back at a time. */
    public long blockBytes() {
        return isEnabled() ? rings.blockBytes() : 0;
    }

    /** Whether records have to go for new ones to come. */
    public boolean isFull() {
        return isEnabled() && rings.isFull();
    }

    /** Whether less is borrowed than may be; for a moment. */
    public boolean mayBorrow() {
        return isEnabled() && rings.mayBorrow();
    }

    /** Borrows a block; false when the lender has none, or as much is borrowed as may be. */
    public boolean borrow() {
        return isEnabled() && withRings(rings::borrow);
    }

    /**
     * Drops the records of a borrowed block, which the lender has once all epochs that are active now have ended; false when there is
     * none.
     */
    public boolean giveBack() {
        return isEnabled() && withRings(rings::giveBack);
    }

    private boolean withRings(BooleanSupplier action) {
        for (int looks = 0; !ringsTaken.compareAndSet(false, true); looks++) {
            BriefWait.pause(looks);
        }
        try {
            return action.getAsBoolean();
        } finally {
            ringsTaken.set(false);
        }
    }

    /** The memory it has taken, in bytes: all, once there was a record to take in. */
    public long bytesHeld() {
        return hasRecords ? bytes() : 0;
    }

    private boolean isEnabled() {
        return table != null;
    }

    int newOwner() {
        return owners.incrementAndGet();
    }

    /** How many packings have begun. */
    long packings() {
        return packings.get();
    }

    /** The record of a key; 0 when there is none. Its memory stays as it is until the caller's epoch ends. */
    long find(long hash, int owner, long keyAddress, int keyLength) {
        long record = table.find(table.bucket(hash), hash, owner, keyAddress, keyLength);
        if (record != 0) {
            hits.increment();
        }
        return record;
    }

    /**
     * Takes a record in whose key was met before, or that was just read from the device while there is room; else remembers the key.
     * Does nothing when others are at it.
     */
    void offer(
            long ticket,
            long hash,
            int owner,
            long keyAddress,
            int keyLength,
            long valueAddress,
            int valueLength,
            boolean isFromDevice) {
        if ((long) keyLength + valueLength > RecordLayout.PAYLOAD_BYTES_MAX) {
            return;
        }
        long bucket = table.bucket(hash);
        if (isFromDevice && !rings.isFull() || table.remembers(bucket, hash)) {
            takeIn(ticket, bucket, hash, owner, keyAddress, keyLength, valueAddress, valueLength);
        } else if (table.tryLock(bucket)) {
            try {
                table.remember(bucket, hash);
            } finally {
                table.unlock(bucket);
            }
        }
    }

    private void takeIn(
            long ticket,
            long bucket,
            long hash,
            int owner,
            long keyAddress,
            int keyLength,
            long valueAddress,
            int valueLength) {
        if (ringsTaken.get() || !ringsTaken.compareAndSet(false, true)) {
            return;
        }
        try {
            if (!hasRecords) {
                hasRecords = true;
            }
            int bytes = RecordLayout.bytes(keyLength, valueLength);
            long record = rings.place(bytes);
            if (record == 0) {
                return;
            }
            // Also when it is refused below: what lies in a chunk is walked over from record to record.
            RecordLayout.write(record, owner, keyAddress, keyLength, valueAddress, valueLength);
            rings.append(bytes);
            table.lock(bucket);
            try {
                if (packings.get() == ticket) {
                    table.remember(bucket, hash);
                    table.put(bucket, hash, record);
                }
            } finally {
                table.unlock(bucket);
            }
        } finally {
            ringsTaken.set(false);
        }
    }

    /** Counts a packing; whether there is anything that its keys have to be looked for in. */
    boolean beginPacking() {
        packings.getAndIncrement();
        return hasRecords;
    }

    /** Drops what may be the records of keys with these hashes. */
    void forget(long[] hashes, int count) {
        boolean anyLocked = false;
        for (int i = 0; i < count; i++) {
            // These loads depend on nothing, so their cache misses overlap.
            anyLocked |= table.isLocked(table.bucket(hashes[i]));
        }
        if (anyLocked) {
            for (int i = 0; i < count; i++) {
                table.awaitUnlocked(table.bucket(hashes[i]));
            }
        }
        for (int i = 0; i < count; i++) {
            long bucket = table.bucket(hashes[i]);
            if (table.mayHold(bucket, hashes[i])) {
                table.lock(bucket);
                try {
                    table.drop(bucket, hashes[i]);
                } finally {
                    table.unlock(bucket);
                }
            }
        }
    }

    /** Nothing may be under way any more. */
    @Override
    public void close() {
        pool.close();
    }
}
