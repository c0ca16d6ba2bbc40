package dev.heartwood.kafka.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * What an application counts, in a mapped file that another process reads meanwhile and that outlives a kill. Thread-safe.
 */
final class Counters {
    /** The key of an application's configuration that names the file. */
    static final String FILE = "demo.counters";

    /** What is counted, in the order in which it lies in the file, eight bytes each. */
    enum Counter {
        /** Records of the input that were given to the topology since the start. */
        PROCESSED,
        /** Records sent to changelogs since the start. */
        CHANGES,
        /** {@link #CHANGES} as it was at the last commit. */
        CHANGES_COMMITTED,
        /** The most of {@link #CHANGES} between two commits. */
        CHANGES_INTERVAL_MAX,
        /** Processor time that the stream threads have taken since the start, in nanoseconds; some hundred milliseconds old. */
        STREAM_NANOS,
        /** The most that the stores of the instance have used of their budget, in bytes. */
        MEMORY_USED_MAX
    }

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment file;

    private Counters(MemorySegment file) {
        this.file = file;
    }

    /** Maps the file, which is made when it is missing. */
    static Counters open(Path path) {
        long bytes = (long) Counter.values().length * Long.BYTES;
        try (FileChannel channel = FileChannel.open(
                path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return new Counters(channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, Arena.ofAuto()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long offset(Counter counter) {
        return (long) counter.ordinal() * Long.BYTES;
    }

    long get(Counter counter) {
        return (long) LONG.getVolatile(file, offset(counter));
    }

    void set(Counter counter, long value) {
        LONG.setVolatile(file, offset(counter), value);
    }

    void increment(Counter counter) {
        LONG.getAndAdd(file, offset(counter), 1L);
    }

    void raise(Counter counter, long value) {
        if (value > get(counter)) {
            set(counter, value);
        }
    }

    /** Begins anew; what was measured at most stays. */
    void begin() {
        set(Counter.PROCESSED, 0);
        set(Counter.CHANGES, 0);
        set(Counter.CHANGES_COMMITTED, 0);
        set(Counter.STREAM_NANOS, 0);
    }

    /** A commit of all that was sent. */
    void commit() {
        long changes = get(Counter.CHANGES);
        raise(Counter.CHANGES_INTERVAL_MAX, changes - get(Counter.CHANGES_COMMITTED));
        set(Counter.CHANGES_COMMITTED, changes);
    }
}
