package dev.heartwood.kafka.cluster;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.StateRestoreListener;

/**
 * Counts restored records, and the time from the first start of a restore to the last end of one; and notes when it had come so far, since a
 * restore begins slowly in a new JVM: those of different lengths are compared as far as the shortest goes. Thread-safe.
 */
final class RestoreTime implements StateRestoreListener {
    /** Records between two notes. */
    static final int STEP = 50_000;

    private final List<Long> notedMillis = new ArrayList<>();
    private long records;
    private long beginNanos;
    private long endNanos;
    private boolean begun;

    /**
     * What was restored.
     *
     * @param records how many records
     * @param millis how long it took
     * @param notedMillis how long it took until each {@link #STEP} of them were
     */
    record Restored(long records, long millis, List<Long> notedMillis) {
        /** What {@link RestoreTime#said} said. */
        static Restored of(String said) {
            List<Long> numbers = Arrays.stream(said.strip().split(" ")).map(Long::valueOf).toList();
            return new Restored(numbers.get(0), numbers.get(1), numbers.subList(2, numbers.size()));
        }

        /** Records restored in a second, of the first {@code count}, or a little less; of all where those are few. */
        long perSecond(long count) {
            int notes = (int) Math.min(count / STEP, notedMillis.size());
            return notes == 0 ? perSecond(records, millis) : perSecond((long) notes * STEP, notedMillis.get(notes - 1));
        }

        private static long perSecond(long count, long millis) {
            return count * 1_000 / Math.max(1, millis);
        }
    }

    @Override
    public synchronized void onRestoreStart(TopicPartition partition, String store, long from, long to) {
        if (!begun) {
            begun = true;
            beginNanos = System.nanoTime();
            endNanos = beginNanos;
        }
    }

    @Override
    public synchronized void onBatchRestored(TopicPartition partition, String store, long end, long count) {
        records += count;
        while (notedMillis.size() < records / STEP) {
            notedMillis.add((System.nanoTime() - beginNanos) / 1_000_000);
        }
    }

    @Override
    public synchronized void onRestoreEnd(TopicPartition partition, String store, long total) {
        endNanos = System.nanoTime();
    }

    /** Records, milliseconds and notes, as numbers with a space between them. */
    synchronized String said() {
        return Stream.concat(Stream.of(records, (endNanos - beginNanos) / 1_000_000), notedMillis.stream())
                .map(String::valueOf)
                .collect(Collectors.joining(" "));
    }
}
