package dev.heartwood.soak;

import dev.heartwood.ByteSize;
import dev.heartwood.CorruptionEvent;
import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreListener;
import dev.heartwood.StoreOptions;
import dev.heartwood.soak.SoakSample.Latency;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/**
 * The process that loads until it is killed. Each thread makes the writes of its own history, reads its keys and knows what they
 * must hold, and after each write notes how far it came. What it reads wrong ends the process.
 */
final class SoakLoad {
    static final int THREADS = 4;
    private static final int KEYS = 20_011;
    private static final int CALLS_PER_SYNC = 500;

    private final KeyValueStore store;
    private final Path directory;
    private final long seed;
    private final LongAdder calls = new LongAdder();
    private final Recorder writes = new Recorder(3);
    private final Recorder reads = new Recorder(3);
    private long sampledNanos = System.nanoTime();

    private SoakLoad(KeyValueStore store, Path directory, long seed) {
        this.store = store;
        this.directory = directory;
        this.seed = seed;
    }

    static StoreOptions options() {
        StoreListener listener = new StoreListener() {
            @Override
            public void corruption(CorruptionEvent event) {
                fail(new AssertionError(event.toString()));
            }
        };
        return StoreOptions.builder()
                .memory(ByteSize.mib(32))
                .workers(2)
                .scrubPerSecond(ByteSize.mib(2))
                .listener(listener)
                .build();
    }

    /** What a thread writes. */
    static WriteHistory history(long seed, int thread) {
        return new WriteHistory(seed, thread, KEYS, false);
    }

    static Path progress(Path directory, int thread) {
        return directory.resolveSibling("progress" + thread);
    }

    static Path samples(Path directory) {
        return directory.resolveSibling("samples");
    }

    private static void fail(Throwable failure) {
        failure.printStackTrace();
        Runtime.getRuntime().halt(3);
    }

    /** Arguments: the directory, the seed, and for each thread the first write. */
    public static void main(String[] args) {
        Path directory = Path.of(args[0]);
        long seed = Long.parseLong(args[1]);
        SoakLoad load = new SoakLoad(Heartwood.open(directory, options()), directory, seed);
        for (int t = 0; t < THREADS; t++) {
            int thread = t;
            long first = Long.parseLong(args[2 + t]);
            Thread.ofPlatform().start(() -> {
                try {
                    load.load(thread, first);
                } catch (Throwable e) {
                    fail(e);
                }
            });
        }
        Executors.newSingleThreadScheduledExecutor().scheduleAtFixedRate(load::sample, 1, 1, TimeUnit.SECONDS);
    }

    private void load(int thread, long first) throws IOException {
        WriteHistory history = history(seed, thread);
        SplittableRandom random = new SplittableRandom();
        long done = first;
        try (RandomAccessFile progress = new RandomAccessFile(progress(directory, thread).toFile(), "rw")) {
            byte[] number = new byte[Long.BYTES];
            for (long call = 1; ; call++) {
                int kind = random.nextInt(20);
                if (kind < 10) {
                    long started = System.nanoTime();
                    long end = history.endOfCall(done);
                    history.write(store, done, end, call % CALLS_PER_SYNC == 0 ? Durability.SYNC : Durability.BUFFERED);
                    writes.recordValue((System.nanoTime() - started) / 1000);
                    done = end;
                    ByteBuffer.wrap(number).putLong(done);
                    progress.seek(0);
                    progress.write(number);
                } else {
                    WriteHistory.State state = history.after(done);
                    if (kind < 19) {
                        int key = random.nextInt(KEYS);
                        byte[] sought = history.keyBytes(key);
                        long started = System.nanoTime();
                        byte[] found = store.get(sought);
                        reads.recordValue((System.nanoTime() - started) / 1000);
                        WriteCheck.expect("get", key, state, found);
                    } else {
                        scan(history, state, random.nextInt(KEYS));
                    }
                }
                calls.increment();
            }
        }
    }

    /** Fifty keys in a row, those that are not there included. */
    private void scan(WriteHistory history, WriteHistory.State state, int from) {
        int to = Math.min(KEYS, from + 50);
        KeyRange range = KeyRange.between(history.keyBytes(from), history.keyBytes(to));
        try (Snapshot snapshot = store.snapshot();
                Cursor cursor = snapshot.cursor(range)) {
            WriteCheck.expectForwards(cursor, from, to, state);
        }
    }

    /** Says how it went since it was last asked. */
    private void sample() {
        try {
            long now = System.nanoTime();
            SoakSample sample = new SoakSample(
                    (now - sampledNanos) / 1e9,
                    calls.sumThenReset(),
                    latency(writes),
                    latency(reads),
                    SoakSample.residentBytes(),
                    SoakSample.openDescriptors(),
                    store.stats().diskBytes());
            sampledNanos = now;
            Files.writeString(
                    samples(directory), sample.toLine() + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (Throwable e) {
            fail(e);
        }
    }

    private static Latency latency(Recorder recorder) {
        Histogram taken = recorder.getIntervalHistogram();
        return new Latency(
                taken.getValueAtPercentile(50),
                taken.getValueAtPercentile(99),
                taken.getValueAtPercentile(99.9),
                taken.getMaxValue());
    }
}
