package dev.heartwood.engine.record;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.os.KeyHasher;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.os.PoolModelChecking;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/**
 * Readers that go by the cache never see an old value: a key whose newest value is in a memtable of one place, or in a tree, is a
 * register, while one thread at a time packs.
 */
@Param(name = "value", gen = IntGen.class, conf = "1:9")
public class RecordCacheLincheckTest {
    private static final int KEYS = 2;
    private static final int CACHE_BYTES = 64 << 10;
    private static final MemoryPool POOL = MemoryPool.open(1 << 20);
    private static final long KEY_MEMORY = POOL.allocate(4096);
    private static final long[] HASHES = new long[KEYS];
    private static RecordCache previous;
    private static MemoryPool previousLender;

    static {
        for (int i = 0; i < KEYS; i++) {
            Memory.putLong(KEY_MEMORY + 8L * i, i);
            HASHES[i] = KeyHasher.hash(KEY_MEMORY + 8L * i, 8);
        }
        // Values lie where the tree would have them.
        for (int value = 0; value < 10; value++) {
            Memory.putLong(valueAddress(value), value);
        }
    }

    private final Epochs epochs = new Epochs();
    private final RecordCache cache;
    private final StoreRecords records;
    private final AtomicInteger memtable = new AtomicInteger();
    private final AtomicInteger tree = new AtomicInteger();

    public RecordCacheLincheckTest() {
        if (previous != null) {
            previous.close();
            previousLender.close();
        }
        // One block, so that what is borrowed again is what was given back.
        previousLender = MemoryPool.open(CACHE_BYTES / 2);
        cache = new RecordCache(MemoryPool.open(CACHE_BYTES), previousLender, CACHE_BYTES / 2, epochs);
        previous = cache;
        records = cache.store(true);
        // Key 0 was met, so that the next read takes its record in; and there are records, so that packings are not passed over.
        read(0);
        read(1);
        read(1);
    }

    private static long valueAddress(int value) {
        return KEY_MEMORY + 2048 + 8L * value;
    }

    @Operation
    public void write(@Param(name = "value") int value) {
        memtable.set(value);
    }

    /** Packs what is in the memtable, as the one packer does. */
    @Operation(nonParallelGroup = "packer")
    public void pack() {
        int value = memtable.get();
        if (value == 0) {
            return;
        }
        StoreRecords.Packing packing = records.beginPacking();
        if (packing != null) {
            packing.accept(HASHES[0]);
            packing.finish();
        }
        tree.set(value);
        // A value written meanwhile would be in a younger memtable, which stays.
        memtable.compareAndSet(value, 0);
    }

    /** Borrows memory, or gives it back, now and then. */
    @Operation
    public void lend() {
        if (!cache.borrow()) {
            cache.giveBack();
            epochs.reclaim();
        }
    }

    @Operation
    public int read() {
        return read(0);
    }

    private int read(int key) {
        int slot = epochs.enter();
        try {
            long ticket = records.ticket();
            int value = memtable.get();
            if (value != 0) {
                return value;
            }
            FoundEntry found = new FoundEntry();
            if (records.find(HASHES[key], KEY_MEMORY + 8L * key, 8, found)) {
                return (int) Memory.getLong(found.valueAddress);
            }
            int stored = tree.get();
            found.set(Entries.PUT, 0, valueAddress(stored), 8);
            records.offer(ticket, HASHES[key], KEY_MEMORY + 8L * key, 8, found);
            return stored;
        } finally {
            epochs.exit(slot);
        }
    }

    /** What the operations mean, one after the other. */
    public static class Model {
        private int value;

        public void write(int newValue) {
            value = newValue;
        }

        public void pack() {}

        public void lend() {}

        public int read() {
            return value;
        }
    }

    @Test
    void stress() {
        new StressOptions()
                .iterations(20)
                .invocationsPerIteration(400)
                .threads(3)
                .actorsPerThread(4)
                .sequentialSpecification(Model.class)
                .check(getClass());
    }

    @Test
    void modelChecking() {
        PoolModelChecking.options()
                .iterations(Integer.getInteger("heartwood.scenarios", 6))
                .invocationsPerIteration(300)
                .threads(2)
                .actorsPerThread(3)
                .sequentialSpecification(Model.class)
                .check(getClass());
    }
}
