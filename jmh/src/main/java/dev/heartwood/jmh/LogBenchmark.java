package dev.heartwood.jmh;

import dev.heartwood.DeviceKind;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.log.LogOptions;
import dev.heartwood.engine.log.WriteAheadLog;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Appending an entry of 24 + 100 bytes to the log, with its checksum, alone and with a group commit each; beside one write call
 * per record through the JDK. Segments are rotated and released every 60 MiB by the benchmark and prepared by one thread beside.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class LogBenchmark {
    private static final int KEY_BYTES = 24;
    private static final int VALUE_BYTES = 100;
    private static final long ROTATE_BYTES = 60L << 20;
    private static final long SEGMENT_BYTES = 64L << 20;

    /** A log of as many lanes as there may be threads. */
    @State(Scope.Benchmark)
    public static class Log {
        final AtomicInteger lanes = new AtomicInteger();
        private Path directory;
        private FileStorage storage;
        WriteAheadLog log;
        MemoryPool pool;
        private Thread preparer;
        private volatile boolean ended;

        @Setup(Level.Trial)
        public void open() throws IOException {
            directory = Files.createTempDirectory(Path.of(""), "heartwood-log");
            storage = new FileStorage(directory, DeviceKind.POSIX, IoMode.BUFFERED);
            storage.lock();
            log = WriteAheadLog.create(storage, 1, 64, new LogOptions(SEGMENT_BYTES, SEGMENT_BYTES));
            log.rotate(1, 0);
            pool = MemoryPool.open(4 << 20);
            preparer = Thread.ofPlatform().daemon().start(() -> {
                while (!ended) {
                    log.prepareSpare();
                    LockSupport.parkNanos(1_000_000);
                }
            });
        }

        @TearDown(Level.Trial)
        public void close() throws IOException, InterruptedException {
            ended = true;
            preparer.join();
            log.close();
            storage.close();
            pool.close();
            try (Stream<Path> files = Files.walk(directory)) {
                files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
            }
        }
    }

    /** A thread with its lane. */
    @State(Scope.Thread)
    public static class Lane {
        int lane;
        long entry;
        long sequence;
        long generation = 1;
        long bytes;

        @Setup(Level.Trial)
        public void open(Log log) {
            lane = log.lanes.getAndIncrement();
            entry = log.pool.allocate(4096);
            Memory.fill(entry, 4096, 7);
        }

        void append(WriteAheadLog log) {
            log.reserve(lane, KEY_BYTES + VALUE_BYTES);
            log.append(lane, ++sequence, Entries.PUT, entry, KEY_BYTES, entry + KEY_BYTES, VALUE_BYTES);
        }
    }

    /** One thread: rotates and releases as it goes. */
    @Benchmark
    public void append(Log log, Lane lane) {
        lane.append(log.log);
        lane.bytes += KEY_BYTES + VALUE_BYTES + 24;
        if (lane.bytes > ROTATE_BYTES) {
            lane.bytes = 0;
            log.log.rotate(++lane.generation, lane.sequence + 1);
            log.log.release(lane.generation - 1);
        }
    }

    /** Any number of threads. */
    @Benchmark
    public void appendAndSync(Log log, Lane lane) {
        lane.append(log.log);
        log.log.sync();
    }

    /** A file written record by record. */
    @State(Scope.Thread)
    public static class Channel {
        private Path file;
        FileChannel channel;
        final ByteBuffer buffer = ByteBuffer.allocateDirect(4 + KEY_BYTES + VALUE_BYTES + 28);
        final CRC32C crc = new CRC32C();
        long position;

        @Setup(Level.Trial)
        public void open() throws IOException {
            file = Files.createTempFile(Path.of(""), "heartwood-baseline", ".log");
            channel = FileChannel.open(file, StandardOpenOption.WRITE);
        }

        @TearDown(Level.Trial)
        public void close() throws IOException {
            channel.close();
            Files.delete(file);
        }
    }

    /** The baseline: a checksum and a write call per record, in a file used again every 60 MiB. */
    @Benchmark
    public void baselineWritePerRecord(Channel channel) {
        ByteBuffer buffer = channel.buffer.clear();
        buffer.putLong(4, channel.position);
        channel.crc.reset();
        channel.crc.update(buffer.position(4));
        buffer.putInt(0, (int) channel.crc.getValue()).position(0);
        try {
            channel.position += channel.channel.write(buffer, channel.position % ROTATE_BYTES);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
