package dev.heartwood.jmh;

import dev.heartwood.ByteSize;
import dev.heartwood.Cursor;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
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
 * A get, a put and a scan of a whole store whose data lies in its cache, with segments; beside the JDK's ordered map of byte arrays, which
 * keeps everything on the heap and survives nothing. And gets of many keys at once, beside as many gets. With {@code -prof gc} a get shows no
 * allocation; what a put shows is that of the background, which packs memtables and merges.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-Xmx2g"})
public class StoreBenchmark {
    private static final int RECORDS = 500_000;
    private static final int VALUE_BYTES = 100;
    private static final int SCANNED = 100;
    private static final int KEYS_AT_ONCE = 32;

    private static byte[] key(int number) {
        long hash = number * 0x9E3779B97F4A7C15L & Long.MAX_VALUE;
        return "user%020d".formatted(hash).getBytes(StandardCharsets.US_ASCII);
    }

    /** A store that holds all records in its cache, settled. */
    @State(Scope.Benchmark)
    public static class Store {
        private final Arena arena = Arena.ofShared();
        final MemorySegment[] keys = new MemorySegment[RECORDS];
        KeyValueStore store;
        private Path directory;

        @Setup(Level.Trial)
        public void open() throws IOException {
            directory = Files.createTempDirectory(Path.of(""), "heartwood-store");
            store = Heartwood.open(
                    directory.resolve("store"),
                    StoreOptions.builder().memory(ByteSize.mib(512)).build());
            MemorySegment value = arena.allocate(VALUE_BYTES);
            for (int i = 0; i < RECORDS; i++) {
                keys[i] = arena.allocateFrom(ValueLayout.JAVA_BYTE, key(i));
                store.put(keys[i], value);
            }
            store.checkpoint();
            store.settle();
        }

        @TearDown(Level.Trial)
        public void close() throws IOException {
            store.close();
            arena.close();
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    /** The baseline, with the same records. */
    @State(Scope.Benchmark)
    public static class SkipList {
        final byte[][] keys = new byte[RECORDS][];
        final ConcurrentSkipListMap<byte[], byte[]> map = new ConcurrentSkipListMap<>(java.util.Arrays::compareUnsigned);

        @Setup(Level.Trial)
        public void fill() {
            for (int i = 0; i < RECORDS; i++) {
                keys[i] = key(i);
                map.put(keys[i], new byte[VALUE_BYTES]);
            }
        }
    }

    /** What a thread reads into and writes from. */
    @State(Scope.Thread)
    public static class Value {
        private final Arena arena = Arena.ofConfined();
        final MemorySegment segment = arena.allocate(VALUE_BYTES);
    }

    @Benchmark
    public long get(Store store, Value value) {
        int i = ThreadLocalRandom.current().nextInt(RECORDS);
        return store.store.get(store.keys[i], value.segment);
    }

    /** As many keys at once; beside {@link #getOneByOne}. */
    @Benchmark
    public int getAll(Store store) {
        return store.store.getAll(someKeys()).size();
    }

    @Benchmark
    public int getOneByOne(Store store) {
        int found = 0;
        for (byte[] key : someKeys()) {
            found += store.store.get(key) == null ? 0 : 1;
        }
        return found;
    }

    private static List<byte[]> someKeys() {
        List<byte[]> keys = new ArrayList<>(KEYS_AT_ONCE);
        for (int i = 0; i < KEYS_AT_ONCE; i++) {
            keys.add(key(ThreadLocalRandom.current().nextInt(RECORDS)));
        }
        return keys;
    }

    @Benchmark
    public void put(Store store, Value value) {
        int i = ThreadLocalRandom.current().nextInt(RECORDS);
        store.store.put(store.keys[i], value.segment);
    }

    /** From a key on, with the bytes of keys and values added up, as by whoever looks at all of them. */
    @Benchmark
    public long scan(Store store) {
        int from = ThreadLocalRandom.current().nextInt(RECORDS);
        long sum = 0;
        try (Cursor cursor = store.store.cursor()) {
            boolean onEntry = cursor.seek(store.keys[from]);
            for (int i = 0; onEntry && i < SCANNED; i++) {
                sum += sum(cursor.keySegment()) + sum(cursor.valueSegment());
                onEntry = cursor.next();
            }
        }
        return sum;
    }

    private static long sum(MemorySegment bytes) {
        long sum = 0;
        for (long i = 0; i + Long.BYTES <= bytes.byteSize(); i += Long.BYTES) {
            sum += bytes.get(ValueLayout.JAVA_LONG_UNALIGNED, i);
        }
        return sum;
    }

    @Benchmark
    public long skipListScan(SkipList list) {
        int from = ThreadLocalRandom.current().nextInt(RECORDS);
        long sum = 0;
        int left = SCANNED;
        for (Map.Entry<byte[], byte[]> entry : list.map.tailMap(list.keys[from]).entrySet()) {
            if (left-- == 0) {
                break;
            }
            sum += sum(MemorySegment.ofArray(entry.getKey())) + sum(MemorySegment.ofArray(entry.getValue()));
        }
        return sum;
    }

    @Benchmark
    public byte[] skipListGet(SkipList list) {
        return list.map.get(list.keys[ThreadLocalRandom.current().nextInt(RECORDS)]).clone();
    }

    @Benchmark
    public byte[] skipListPut(SkipList list) {
        return list.map.put(list.keys[ThreadLocalRandom.current().nextInt(RECORDS)], new byte[VALUE_BYTES]);
    }
}
