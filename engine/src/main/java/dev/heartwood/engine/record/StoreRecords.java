package dev.heartwood.engine.record;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.FoundEntry;
import java.util.function.LongConsumer;

/** What one store has in the record cache. Thread-safe. */
public final class StoreRecords {
    private final RecordCache cache;
    /** Under which number this store's records are found. */
    private volatile int owner;

    StoreRecords(RecordCache cache) {
        this.cache = cache;
        this.owner = cache.newOwner();
    }

    /** Whether it is worth asking. */
    public boolean isEnabled() {
        return cache.isEnabled();
    }

    /** To be taken before a reader looks at the list of memtables, for {@link #offer}. */
    public long ticket() {
        return cache.packings();
    }

    /**
     * Finds the newest value that the tree has of a key, after the memtables did not have the key.
     *
     * @param hash that of the key
     * @return whether it is here; {@code found} then describes it until the epoch ends
     */
    public boolean find(long hash, long keyAddress, int keyLength, FoundEntry found) {
        int seen = owner;
        long record = cache.find(hash ^ RecordLayout.salt(seen), seen, keyAddress, keyLength);
        if (record == 0) {
            return false;
        }
        found.set(Entries.PUT, 0, RecordLayout.value(record), RecordLayout.valueLength(record));
        return true;
    }

    /** Offers what the tree was found to say of a key by a reader that had {@code ticket}. */
    public void offer(long ticket, int asOwner, long hash, long keyAddress, int keyLength, FoundEntry found) {
        if (found.kind == Entries.PUT && found.largeValues == null) {
            cache.offer(
                    ticket,
                    hash ^ RecordLayout.salt(asOwner),
                    asOwner,
                    keyAddress,
                    keyLength,
                    found.valueAddress,
                    found.valueLength,
                    found.isFromDevice);
        }
    }

    /** The number for {@link #offer}, taken with the ticket. */
    public int owner() {
        return owner;
    }

    /** Begins to drop the records whose keys a memtable holds that is being packed; null when there are none at all. */
    public Packing beginPacking() {
        return cache.isEnabled() && cache.beginPacking() ? new Packing() : null;
    }

    /** Drops all records of the store. */
    public void forgetAll() {
        owner = cache.newOwner();
    }

    /** Takes the hashes of packed keys, of which the bits that filters keep count. For one thread; ends with {@link #finish}. */
    public final class Packing implements LongConsumer {
        private static final int BATCH = 64;

        private final long salt = RecordLayout.salt(owner);
        private final long[] hashes = new long[BATCH];
        private int count;

        @Override
        public void accept(long hash) {
            hashes[count++] = hash ^ salt;
            if (count == BATCH) {
                finish();
            }
        }

        /** Every key accepted so far has no record any more. */
        public void finish() {
            cache.forget(hashes, count);
            count = 0;
        }
    }
}
