package dev.heartwood.jmh;

import dev.heartwood.DeviceKind;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.device.IoQueue;
import dev.heartwood.engine.os.MemoryPool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Random reads of 4 KiB past the page cache, of a file of 1 GiB in the working directory: one at a time through each
 * binding of the C library, and so many at a time through io_uring and Linux AIO.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class DeviceBenchmark {
    private static final int PAGE = BlockDevice.ALIGNMENT;
    private static final int PAGES = 1 << 18;
    private static final int CHUNK_BYTES = 1 << 20;

    /** A binding, or io_uring or AIO with a depth. */
    @Param({"FFM", "JNR", "URING_1", "URING_16", "URING_64", "AIO_1", "AIO_16", "AIO_64"})
    public String access;

    private final SplittableRandom random = new SplittableRandom(1);
    private MemoryPool pool;
    private Path directory;
    private FileStorage storage;
    private BlockDevice device;
    private IoQueue queue;
    private long buffer;

    @Setup(Level.Trial)
    public void open() throws IOException {
        pool = MemoryPool.open(CHUNK_BYTES);
        buffer = pool.allocate(CHUNK_BYTES);
        directory = Files.createTempDirectory(Path.of(""), "heartwood-device");
        String[] ring = access.split("_");
        DeviceKind kind = access.equals("FFM") ? DeviceKind.POSIX : DeviceKind.valueOf(ring[0]);
        storage = new FileStorage(directory, kind, IoMode.DIRECT);
        device = storage.openDevice("data", true);
        device.allocate((long) PAGES * PAGE);
        for (long position = 0; position < (long) PAGES * PAGE; position += CHUNK_BYTES) {
            device.write(position, buffer, CHUNK_BYTES);
        }
        device.sync();
        if (ring.length == 2) {
            queue = device.newQueue(Integer.parseInt(ring[1]));
            for (int slot = 0; slot < queue.depth(); slot++) {
                readInto(slot);
            }
        }
    }

    @TearDown(Level.Trial)
    public void close() throws IOException {
        if (queue != null) {
            queue.close();
        }
        device.close();
        storage.delete("data");
        storage.close();
        pool.close();
        Files.delete(directory);
    }

    /** Time per page; a queue is kept full. */
    @Benchmark
    public long randomRead() {
        if (queue == null) {
            device.read(randomPosition(), buffer, PAGE);
            return 0;
        }
        long slot = queue.await();
        readInto(slot);
        return slot;
    }

    private void readInto(long slot) {
        queue.read(randomPosition(), buffer + slot * PAGE, PAGE, slot);
    }

    private long randomPosition() {
        return (long) random.nextInt(PAGES) * PAGE;
    }
}
