package dev.heartwood.engine.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.os.KeyHasher;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Readers while memory is borrowed, given back, and used by its lender for something else. */
class LentRecordsTest {
    private static final long OWN_BYTES = 256 << 10;
    private static final long LENT_BYTES = 512 << 10;
    private static final int READERS = 2;
    private static final int READS = 400_000;
    private static final int KEYS = 6_000;
    private static final int VALUE_WORDS = 12;

    private final Epochs epochs = new Epochs();
    private final MemoryPool lender = MemoryPool.open(LENT_BYTES);
    private final RecordCache cache = new RecordCache(MemoryPool.open(OWN_BYTES), lender, LENT_BYTES, epochs);
    private final StoreRecords store = cache.store(true);
    private final MemoryPool scratches = MemoryPool.open(1 << 20);
    private final ExecutorService threads = Executors.newFixedThreadPool(READERS);
    private final AtomicInteger reading = new AtomicInteger(READERS);

    @AfterEach
    void close() {
        threads.close();
        cache.close();
        lender.close();
        scratches.close();
    }

    @Test
    void nobodyReadsWhatTheLenderHasAgain() throws Exception {
        List<Future<?>> readers = new ArrayList<>();
        for (int i = 0; i < READERS; i++) {
            int seed = i;
            readers.add(threads.submit(() -> read(seed)));
        }
        int rounds = 0;
        for (; reading.get() > 0 || rounds == 0; rounds++) {
            while (cache.borrow()) {}
            while (cache.giveBack()) {}
            while (epochs.reclaim()) {
                Thread.yield();
            }
            scribble();
        }
        for (Future<?> reader : readers) {
            reader.get();
        }
        assertEquals(0, lender.allocated());
        assertTrue(cache.hits() > READS / 10, cache.hits() + " hits in " + rounds + " rounds");
    }

    private void scribble() {
        long block = lender.allocate(LENT_BYTES);
        assertTrue(block != 0, "all is back");
        Memory.fill(block, LENT_BYTES, 0x55);
        lender.free(block, LENT_BYTES);
    }

    private void read(int seed) {
        try {
            SplittableRandom random = new SplittableRandom(seed);
            long key = scratches.allocate(4096);
            long value = key + 64;
            FoundEntry found = new FoundEntry();
            for (int i = 0; i < READS; i++) {
                long number = Math.min(random.nextInt(KEYS), random.nextInt(KEYS));
                int slot = epochs.enter();
                try {
                    readOne(key, value, number, found);
                } finally {
                    epochs.exit(slot);
                }
            }
        } finally {
            reading.decrementAndGet();
        }
    }

    private void readOne(long key, long value, long number, FoundEntry found) {
        Memory.putLong(key, number);
        long hash = KeyHasher.hash(key, Long.BYTES);
        long ticket = store.ticket();
        if (store.find(hash, key, Long.BYTES, found)) {
            for (int word = 0; word < VALUE_WORDS; word++) {
                assertEquals(number, Memory.getLong(found.valueAddress + 8L * word));
            }
            return;
        }
        for (int word = 0; word < VALUE_WORDS; word++) {
            Memory.putLong(value + 8L * word, number);
        }
        found.set(Entries.PUT, 0, value, 8 * VALUE_WORDS);
        store.offer(ticket, hash, key, Long.BYTES, found);
    }
}
