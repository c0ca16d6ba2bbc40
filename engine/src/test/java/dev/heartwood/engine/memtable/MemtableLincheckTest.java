package dev.heartwood.engine.memtable;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.os.KeyHasher;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.junit.jupiter.api.Test;

/**
 * Inserts, searches and batch commits are linearizable against plain variables. Each thread owns a lane, and a key is given
 * sequences in the order of the calls by drawing them from the value itself: the newest is the greatest.
 */
@Param(name = "key", gen = IntGen.class, conf = "0:2")
@Param(name = "sequence", gen = IntGen.class, conf = "1:40")
public class MemtableLincheckTest {
    private static final int THREADS_MAX = 6;
    private static final int KEYS = 3;
    private static final MemoryPool POOL = MemoryPool.open(64 << 20);
    private static final long KEY_MEMORY = POOL.allocate(4096);
    private static final long[] HASHES = new long[KEYS];
    private static Memtable previous;

    static {
        for (int i = 0; i < KEYS; i++) {
            Memory.putLong(KEY_MEMORY + 8L * i, i);
            HASHES[i] = KeyHasher.hash(KEY_MEMORY + 8L * i, 8);
        }
    }

    private final Memtable memtable;

    public MemtableLincheckTest() {
        if (previous != null) {
            previous.release();
        }
        memtable = new Memtable(POOL, new SortArrays(), 1, THREADS_MAX, 4 << 20);
        previous = memtable;
    }

    @Operation
    public void insert(
            @Param(gen = ThreadIdGen.class) int thread, @Param(name = "key") int key, @Param(name = "sequence") int sequence) {
        memtable.reserve(thread, 8, 0);
        memtable.insert(thread, HASHES[key], KEY_MEMORY + 8L * key, 8, sequence, Entries.PUT, 0, 0);
    }

    /** Gives all keys the sequence. */
    @Operation
    public void batch(@Param(gen = ThreadIdGen.class) int thread, @Param(name = "sequence") int sequence) {
        memtable.reserveBatch(thread, KEYS, 8 * KEYS);
        long batch = memtable.beginBatch(thread);
        for (int key = 0; key < KEYS; key++) {
            memtable.insertInBatch(batch, HASHES[key], KEY_MEMORY + 8L * key, 8, sequence, Entries.PUT, 0, 0);
        }
        memtable.commitBatch(batch);
    }

    @Operation
    public long find(@Param(name = "key") int key) {
        FoundEntry found = new FoundEntry();
        return memtable.find(HASHES[key], KEY_MEMORY + 8L * key, 8, Entries.NEWEST, found) ? found.sequence : 0;
    }

    /** What the operations mean, one after the other. */
    public static class Model {
        private final long[] newest = new long[KEYS];

        public void insert(int thread, int key, int sequence) {
            newest[key] = Math.max(newest[key], sequence);
        }

        public void batch(int thread, int sequence) {
            for (int key = 0; key < KEYS; key++) {
                insert(thread, key, sequence);
            }
        }

        public long find(int key) {
            return newest[key];
        }
    }

    @Test
    void stress() {
        new StressOptions()
                .iterations(8)
                .invocationsPerIteration(300)
                .threads(3)
                .actorsPerThread(4)
                .sequentialSpecification(Model.class)
                .check(getClass());
    }

    @Test
    void modelChecking() {
        new ModelCheckingOptions()
                .iterations(3)
                .invocationsPerIteration(150)
                .threads(2)
                .actorsPerThread(3)
                .sequentialSpecification(Model.class)
                .check(getClass());
    }
}
