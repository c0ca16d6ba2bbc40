package dev.heartwood.jmh;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.BranchCursor;
import dev.heartwood.engine.branch.BranchWriter;
import dev.heartwood.engine.branch.WriteMode;
import dev.heartwood.engine.os.Memory;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Writing and scanning a branch of 200,000 entries of 24 + 100 bytes, per entry, beside copying the bytes. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 1,
        jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED"})
@OperationsPerInvocation(BranchWriterBenchmark.ENTRIES)
public class BranchWriterBenchmark {
    static final int ENTRIES = 200_000;

    private BranchStore store;
    private Branch scanned;
    private long keys;
    private long copy;

    @Setup
    public void open() {
        store = new BranchStore(256L << 20, 128L << 20);
        keys = BranchStore.keys(store.pool, ENTRIES, 1);
        copy = store.pool.allocate(32L << 20);
        scanned = store.write(keys, ENTRIES, WriteMode.CACHED);
    }

    @TearDown
    public void close() {
        scanned.release();
        store.close();
    }

    @Benchmark
    public long writeThrough() {
        return write(WriteMode.THROUGH, 0);
    }

    @Benchmark
    public long writeToTheCache() {
        return write(WriteMode.CACHED, 0);
    }

    @Benchmark
    public long writeWithSequences() {
        return write(WriteMode.THROUGH, 1L << 33);
    }

    private long write(WriteMode mode, long firstSequence) {
        BranchWriter writer = store.writer(mode);
        for (int i = 0; i < ENTRIES; i++) {
            long sequence = firstSequence == 0 ? 0 : firstSequence + (i * 7919 & 0xfffff);
            writer.add(
                    keys + (long) i * BranchStore.KEY_BYTES,
                    BranchStore.KEY_BYTES,
                    sequence,
                    Entries.PUT,
                    keys,
                    BranchStore.VALUE_BYTES);
        }
        Branch branch = writer.finish();
        long entries = branch.entries();
        branch.release();
        return entries;
    }

    @Benchmark
    public long scanCached() {
        try (BranchCursor cursor = BranchCursor.cached(scanned, Span.ALL)) {
            return scan(cursor);
        }
    }

    @Benchmark
    public long scanStreaming() {
        try (BranchCursor cursor = BranchCursor.streaming(scanned, List.of(Span.ALL))) {
            return scan(cursor);
        }
    }

    private static long scan(BranchCursor cursor) {
        long sum = 0;
        for (cursor.seekFirst(); cursor.valid(); cursor.next()) {
            sum += cursor.valueLength() + Memory.getByte(cursor.keyAddress() + 20);
        }
        return sum;
    }

    @Benchmark
    public long copyOnly() {
        long to = copy;
        for (int i = 0; i < ENTRIES; i++) {
            Memory.copy(keys + (long) i * BranchStore.KEY_BYTES, to, BranchStore.KEY_BYTES);
            Memory.copy(keys, to + BranchStore.KEY_BYTES, BranchStore.VALUE_BYTES);
            to += BranchStore.KEY_BYTES + BranchStore.VALUE_BYTES;
        }
        return to;
    }
}
