package dev.heartwood.engine.record;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.os.KeyHasher;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/**
 * Readers that go by the cache never see an old value: keys whose newest values are in a memtable of one place each, or in a tree,
 * are registers, while one thread at a time packs.
 */
@Param(name = "key", gen = IntGen.class, conf = "0:1")
@Param(name = "value", gen = IntGen.class, conf = "1:9")
public class RecordCacheLincheckTest {
    private static final int KEYS = 2;
    private static final int CACHE_BYTES = 64 << 10;
    private static final MemoryPool POOL = MemoryPool.open(1 << 20);
    private static final long KEY_MEMORY = POOL.allocate(4096);
    private static final long[] HASHES = new long[KEYS];
    private static RecordCache previous;

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
    private final StoreRecords records;
    private final AtomicIntegerArray memtable = new AtomicIntegerArray(KEYS);
    private final AtomicIntegerArray tree = new AtomicIntegerArray(KEYS);

    public RecordCacheLincheckTest() {
        if (previous != null) {
            previous.close();
        }
        previous = new RecordCache(MemoryPool.open(CACHE_BYTES), epochs);
        records = previous.store();
        // Both keys were met, and there are records.
        for (int i = 0; i < 2; i++) {
            read(0);
            read(1);
        }
    }

    private static long valueAddress(int value) {
        return KEY_MEMORY + 2048 + 8L * value;
    }

    @Operation
    public void write(@Param(name = "key") int key, @Param(name = "value") int value) {
        memtable.set(key, value);
    }

    /** Packs what is in the memtable of a key, as the one packer does. */
    @Operation(nonParallelGroup = "packer")
    public void pack(@Param(name = "key") int key) {
        int value = memtable.get(key);
        if (value == 0) {
            return;
        }
        StoreRecords.Packing packing = records.beginPacking();
        if (packing != null) {
            packing.accept(HASHES[key]);
            packing.finish();
        }
        tree.set(key, value);
        // A value written meanwhile would be in a younger memtable, which stays.
        memtable.compareAndSet(key, value, 0);
    }

    @Operation
    public int read(@Param(name = "key") int key) {
        int slot = epochs.enter();
        try {
            long ticket = records.ticket();
            int owner = records.owner();
            int value = memtable.get(key);
            if (value != 0) {
                return value;
            }
            FoundEntry found = new FoundEntry();
            if (records.find(HASHES[key], KEY_MEMORY + 8L * key, 8, found)) {
                return (int) Memory.getLong(found.valueAddress);
            }
            int stored = tree.get(key);
            found.set(Entries.PUT, 0, valueAddress(stored), 8);
            records.offer(ticket, owner, HASHES[key], KEY_MEMORY + 8L * key, 8, found);
            return stored;
        } finally {
            epochs.exit(slot);
        }
    }

    /** What the operations mean, one after the other. */
    public static class Model {
        private final int[] values = new int[KEYS];

        public void write(int key, int value) {
            values[key] = value;
        }

        public void pack(int key) {}

        public int read(int key) {
            return values[key];
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
        new ModelCheckingOptions()
                .iterations(20)
                .invocationsPerIteration(400)
                .threads(3)
                .actorsPerThread(3)
                .sequentialSpecification(Model.class)
                .check(getClass());
    }
}
