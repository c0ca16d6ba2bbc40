package dev.heartwood.jmh;

import dev.heartwood.engine.os.Crc32c;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
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

/** CRC-32C of native memory beside the JDK's over an array on the heap. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class Crc32cBenchmark {
    @Param({"24", "136", "4092"})
    public int bytes;

    private MemoryPool pool;
    private long address;
    private byte[] array;
    private final CRC32C heapChecksum = new CRC32C();

    @Setup
    public void open() {
        pool = MemoryPool.open(1 << 16);
        address = pool.allocate(1 << 16);
        Memory.fill(address, 1 << 16, 0x5a);
        array = Memory.bytes(address, bytes);
    }

    @TearDown
    public void close() {
        pool.close();
    }

    @Benchmark
    public int whole() {
        return Crc32c.of(address, bytes);
    }

    @Benchmark
    public int continued() {
        return Crc32c.update(0x12345678, address, bytes);
    }

    /** The baseline. */
    @Benchmark
    public long arrayOnTheHeap() {
        heapChecksum.reset();
        heapChecksum.update(array, 0, array.length);
        return heapChecksum.getValue();
    }
}
