package dev.heartwood.engine.record;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.FoundEntry;
import java.util.function.LongConsumer;

/** What one store has in the record cache. Thread-safe. */
public final class StoreRecords {
    private final RecordCache cache;
    private final boolean isEnabled;
    /** Under which number this store's records are found. */
    private volatile int owner;

    StoreRecords(RecordCache cache, boolean isEnabled) {
        this.cache = cache;
        this.isEnabled = isEnabled;
        this.owner = cache.newOwner();
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
        if (!isEnabled) {
            return false;
        }
        int seen = owner;
        long record = cache.find(hash ^ RecordLayout.salt(seen), seen, keyAddress, keyLength);
        if (record == 0) {
            return false;
        }
        found.set(Entries.PUT, 0, RecordLayout.value(record), RecordLayout.valueLength(record));
        return true;
    }

    /** Offers what the tree was found to say of a key by a reader that had {@code ticket}. */
    public void offer(long ticket, long hash, long keyAddress, int keyLength, FoundEntry found) {
        if (isEnabled && found.kind == Entries.PUT && found.largeValues == null) {
            int seen = owner;
            cache.offer(
                    ticket,
                    hash ^ RecordLayout.salt(seen),
                    seen,
                    keyAddress,
                    keyLength,
                    found.valueAddress,
                    found.valueLength,
                    found.isFromDevice);
        }
    }

    /** Begins to drop the records whose keys a memtable holds that is being packed; null when there are none at all. */
    public Packing beginPacking() {
        return isEnabled && cache.beginPacking() ? new Packing() : null;
    }

    /** Drops all records of the store, after the tree has changed. */
    public void forgetAll() {
        // Counted first: an offer that still finds the ticket good has looked at the number that is given up here.
        cache.beginPacking();
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
