package dev.heartwood.jmh;

import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.BranchCursor;
import dev.heartwood.engine.branch.BranchWriter;
import dev.heartwood.engine.branch.MergeCursor;
import dev.heartwood.engine.branch.WriteMode;
import dev.heartwood.engine.os.Memory;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Merging 800,000 entries of 24 + 100 bytes from several branches, per entry, beside a priority queue. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 1,
        jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED"})
@OperationsPerInvocation(MergeBenchmark.ENTRIES)
public class MergeBenchmark {
    static final int ENTRIES = 800_000;

    @Param({"8", "32"})
    public int ways;

    private BranchStore store;
    private Branch[] branches;

    @Setup
    public void open() {
        store = new BranchStore(512L << 20, 256L << 20);
        branches = new Branch[ways];
        for (int i = 0; i < ways; i++) {
            int count = ENTRIES / ways;
            long keys = BranchStore.keys(store.pool, count, i);
            branches[i] = store.write(keys, count, WriteMode.CACHED);
            store.pool.free(keys, (long) count * BranchStore.KEY_BYTES);
        }
    }

    @TearDown
    public void close() {
        for (Branch branch : branches) {
            branch.release();
        }
        store.close();
    }

    private EntryCursor[] cursors() {
        EntryCursor[] cursors = new EntryCursor[ways];
        for (int i = 0; i < ways; i++) {
            cursors[i] = BranchCursor.streaming(branches[i], List.of(Span.ALL));
        }
        return cursors;
    }

    @Benchmark
    public long scanOneAfterTheOther() {
        long sum = 0;
        for (EntryCursor cursor : cursors()) {
            try (cursor) {
                for (cursor.seekFirst(); cursor.valid(); cursor.next()) {
                    sum += cursor.valueLength();
                }
            }
        }
        return sum;
    }

    @Benchmark
    public long loserTree() {
        long sum = 0;
        try (MergeCursor merge = new MergeCursor(cursors())) {
            for (merge.seekFirst(); merge.valid(); merge.next()) {
                sum += merge.valueLength();
            }
        }
        return sum;
    }

    @Benchmark
    public long priorityQueue() {
        long sum = 0;
        PriorityQueue<EntryCursor> queue = new PriorityQueue<>((a, b) ->
                Memory.compare(a.keyAddress(), a.keyLength(), b.keyAddress(), b.keyLength()));
        for (EntryCursor cursor : cursors()) {
            cursor.seekFirst();
            queue.add(cursor);
        }
        while (!queue.isEmpty()) {
            EntryCursor least = queue.poll();
            sum += least.valueLength();
            least.next();
            if (least.valid()) {
                queue.add(least);
            } else {
                least.close();
            }
        }
        return sum;
    }

    @Benchmark
    public long compact() {
        BranchWriter writer = store.writer(WriteMode.THROUGH);
        try (MergeCursor merge = new MergeCursor(cursors())) {
            for (merge.seekFirst(); merge.valid(); merge.next()) {
                writer.add(merge);
            }
        }
        Branch merged = writer.finish();
        long entries = merged.entries();
        merged.release();
        return entries;
    }
}
