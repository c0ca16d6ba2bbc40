package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.MemoryStats;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.junit.jupiter.api.Test;

/**
 * Tasks move between the threads of an instance and away from it, as they do when instances come and go: stores open, are restored
 * or found as they were, work, and close with iterators open, many at once in one environment, and some lose their directory.
 */
class MigrationStormTest {
    private static final int THREADS = 4;
    private static final int TASKS = 12;
    private static final int MOVES = 400;
    private static final int RECORDS_MAX = 200;
    private static final int VALUE_BYTES = 500;

    /** A page for each thread that has called, workers included, which the environment keeps for the next call. */
    private static final long SCRATCH_BYTES_MAX = 4096 * 3 * THREADS;

    @Test
    void aStormOfMigrationsLeavesNothingBehind() {
        Campaign.run(getClass(), 1, MigrationStormTest::storm);
    }

    private static void storm(long seed) {
        try (TestDirectory directory = new TestDirectory("storm")) {
            StreamsMetricsImpl metrics = StoreContext.metrics();
            int metricsBefore = metrics.metrics().size();
            HeldResources before = HeldResources.now();

            // A store that stays, so that there is an environment to look at before and after. It was closed once, so that its memtable
            // is empty: the environment would have it packed when others want memory, which they do when packing is slow.
            Path anchorage = directory.path().resolve("anchor");
            openAnchor(anchorage, metrics).close();
            HeartwoodKeyValueStore anchor = openAnchor(anchorage, metrics);
            HeldResources anchored = HeldResources.besides(anchorage);
            MemoryStats used = memory(metrics);

            BlockingQueue<Task> tasks = new LinkedBlockingQueue<>();
            for (int i = 0; i < TASKS; i++) {
                tasks.add(new Task(directory.path().resolve("0_" + i), new SplittableRandom(seed * TASKS + i)));
            }
            inThreads(() -> {
                for (int move = 0; move < MOVES / THREADS; move++) {
                    Task task = tasks.take();
                    task.live(metrics);
                    tasks.add(task);
                }
                return null;
            });

            assertEquals(anchored.withoutRings(), HeldResources.besides(anchorage).withoutRings());
            MemoryStats after = memory(metrics);
            assertEquals(used.memtableBytes(), after.memtableBytes());
            assertEquals(used.cacheBytes(), after.cacheBytes());
            assertEquals(used.metadataBytes(), after.metadataBytes());
            assertTrue(after.bufferBytes() <= used.bufferBytes() + SCRATCH_BYTES_MAX, () -> used + " became " + after);
            anchor.close();
            assertEquals(before, HeldResources.now());
            assertEquals(0, SharedEnvironment.openCount());
            assertEquals(metricsBefore, metrics.metrics().size(), "gauges go with their store");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void inThreads(Callable<Void> work) {
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            List<Future<Void>> ends = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                ends.add(threads.submit(work));
            }
            for (Future<Void> end : ends) {
                end.get();
            }
        } catch (ExecutionException e) {
            throw new AssertionError(e.getCause());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static HeartwoodKeyValueStore openAnchor(Path anchorage, StreamsMetricsImpl metrics) {
        return new StoreContext(anchorage, Map.of(), metrics)
                .open(HeartwoodKeyValueStore.of("anchor", ValueFormat.PLAIN));
    }

    /** What the stores of the instance use of the environment that one of them keeps open. */
    private static MemoryStats memory(StreamsMetricsImpl metrics) {
        SharedEnvironment shared = SharedEnvironment.acquire(metrics, HeartwoodStoreConfig.of(Map.of()));
        try {
            return shared.memoryStats();
        } finally {
            shared.release();
        }
    }

    /** A task with one store of numbered records; what is committed is all it may find again. Belongs to whoever took it. */
    private static final class Task {
        private final Path directory;
        private final SplittableRandom random;
        private int written;

        Task(Path directory, SplittableRandom random) {
            this.directory = directory;
            this.random = random;
        }

        /** The store's life in one place, from opening to closing. */
        void live(StreamsMetricsImpl metrics) throws IOException {
            StoreContext context = new StoreContext(directory, Map.of(), metrics);
            HeartwoodKeyValueStore store = context.open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
            Long offset = store.committedOffset(StoreContext.CHANGELOG);
            if (written == 0) {
                assertNull(offset);
            } else if (offset == null) {
                restore(context);
            } else {
                assertEquals(written, offset);
            }
            for (int more = random.nextInt(RECORDS_MAX); more > 0; more--) {
                store.put(key(written), value(written));
                written++;
            }
            if (written > 0) {
                int some = random.nextInt(written);
                assertArrayEquals(value(some), store.get(key(some)));
            }
            KeyValueIterator<Bytes, byte[]> forgotten = store.all();
            assertEquals(written > 0, forgotten.hasNext());
            store.commit(Map.of(StoreContext.CHANGELOG, (long) written));
            store.close();
            if (random.nextInt(4) == 0) {
                deleteDirectory();
            }
        }

        private void restore(StoreContext context) {
            List<KeyValue<byte[], byte[]>> changelog = new ArrayList<>();
            for (int i = 0; i < written; i++) {
                changelog.add(KeyValue.pair(key(i).get(), value(i)));
            }
            context.streams().restore("s", changelog);
        }

        /** As Kafka Streams does with the directory of a task that has gone elsewhere. */
        private void deleteDirectory() throws IOException {
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
            assertTrue(Files.notExists(directory));
        }

        private static Bytes key(int number) {
            return Bytes.wrap(ByteBuffer.allocate(Integer.BYTES).putInt(number).array());
        }

        private static byte[] value(int number) {
            return ByteBuffer.allocate(VALUE_BYTES).putInt(number).array();
        }
    }
}
