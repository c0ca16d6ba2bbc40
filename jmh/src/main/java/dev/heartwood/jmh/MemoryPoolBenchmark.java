package dev.heartwood.jmh;

import dev.heartwood.engine.os.MemoryPool;
import java.lang.foreign.Arena;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Taking and giving back a block of a half-full pool, beside an arena of the JDK, which also zeroes it. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class MemoryPoolBenchmark {
    private static final long POOL_BYTES = 1L << 30;

    @Param({"4096", "131072"})
    public long bytes;

    /** Whether small blocks are kept, which matters to many threads ({@code -t 8}). */
    @Param({"false", "true"})
    public boolean keepsSmall;

    private MemoryPool pool;

    @Setup
    public void fillHalf() {
        pool = MemoryPool.open(POOL_BYTES);
        if (keepsSmall) {
            pool.keepSmallBlocks();
        }
        SplittableRandom random = new SplittableRandom(1);
        while (pool.allocated() < POOL_BYTES / 2) {
            long block = pool.allocate(bytes);
            if (random.nextInt(4) == 0) {
                pool.free(block, bytes);
            }
        }
    }

    @TearDown
    public void close() {
        pool.close();
    }

    @Benchmark
    public long pool() {
        long block = pool.allocate(bytes);
        pool.free(block, bytes);
        return block;
    }

    /** The baseline. */
    @Benchmark
    public long arena() {
        try (Arena arena = Arena.ofConfined()) {
            return arena.allocate(bytes, 64).address();
        }
    }
}
