package dev.heartwood.engine.write;

import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.os.PoolModelChecking;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/**
 * Writers that cut ranges within their lanes, and cursors that walk, tell and pass over, as a set of which the first key is asked for. Every
 * walk is worth watching here.
 */
@Param(name = "key", gen = IntGen.class, conf = "1:3")
public class DeadRangesLincheckTest {
    private static final int KEYS = 3;
    private static final MemoryPool POOL = MemoryPool.open(1 << 16);
    private static final long KEY_MEMORY = POOL.allocate(4096);

    static {
        for (int key = 0; key <= KEYS; key++) {
            Memory.putByte(KEY_MEMORY + key, (byte) key);
        }
    }

    private final Lanes lanes = new Lanes(4);
    private final AtomicLong nextSequence = new AtomicLong(1);
    private final DeadRanges ranges = new DeadRanges(true, () -> nextSequence.get() - 1);

    /** Whether a key has a value, by key and sequence number, the newest first. */
    private final ConcurrentSkipListMap<Long, Boolean> versions = new ConcurrentSkipListMap<>();

    private static long version(int key, long sequence) {
        return key * 1_000L + 999 - sequence;
    }

    @Operation
    public void put(@Param(name = "key") int key) {
        write(key, true);
    }

    @Operation
    public void delete(@Param(name = "key") int key) {
        write(key, false);
    }

    private void write(int key, boolean isValue) {
        int lane = lanes.enter(key);
        try {
            long sequence = nextSequence.getAndIncrement();
            if (isValue) {
                ranges.written(KEY_MEMORY + key, 1);
            }
            versions.put(version(key, sequence), isValue);
        } finally {
            lanes.exit(lane);
        }
    }

    /** The first key with a value; 0 when there is none. */
    @Operation
    public int first() {
        long view = nextSequence.get() - 1;
        lanes.drain();
        DeadRanges.View known = new DeadRanges.View(view, ranges.generation());
        int key = 0;
        while (key <= KEYS && !isLive(key, view)) {
            byte[] end = ranges.endOf(new byte[] {(byte) key}, 1, known);
            key = end == null ? key + 1 : end == DeadRanges.NO_END ? KEYS + 1 : end[0] + end.length - 1;
        }
        ranges.walked(new byte[1], key > KEYS ? null : new byte[] {(byte) key}, known, true);
        return key > KEYS ? 0 : key;
    }

    private boolean isLive(int key, long view) {
        Map.Entry<Long, Boolean> newest = versions.ceilingEntry(version(key, view));
        return newest != null && newest.getKey() <= version(key, 0) && newest.getValue();
    }

    /** What the operations mean, one after the other. */
    public static class Model {
        private final boolean[] isLive = new boolean[KEYS + 1];

        public void put(int key) {
            isLive[key] = true;
        }

        public void delete(int key) {
            isLive[key] = false;
        }

        public int first() {
            int key = 1;
            while (key <= KEYS && !isLive[key]) {
                key++;
            }
            return key > KEYS ? 0 : key;
        }
    }

    @Test
    void stress() {
        new StressOptions()
                .iterations(20)
                .invocationsPerIteration(1000)
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
