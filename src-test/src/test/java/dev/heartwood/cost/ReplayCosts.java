package dev.heartwood.cost;

import dev.heartwood.ByteSize;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.JavaProcess;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.SplittableRandom;

/**
 * Measures how fast the log of a killed process is replayed: another JVM writes records, makes no checkpoint of them and dies, this one
 * opens the store. A program, not a test.
 */
public final class ReplayCosts {
    private static final int KEY_BYTES = 24;
    private static final int VALUE_BYTES = 100;
    private static final int MEMORY_MIB = 4096;
    private static final int MEMTABLE_MIB = 1024;
    private static final int DISTANCE = 1024;

    private ReplayCosts() {}

    /** {@code DIRECTORY RECORDS}; a third argument makes it the process that writes and dies. */
    public static void main(String[] arguments) {
        Path directory = Path.of(arguments[0]);
        long records = Long.parseLong(arguments[1]);
        if (arguments.length > 2) {
            write(directory, records);
            Runtime.getRuntime().halt(0);
        }
        JavaProcess.of(ReplayCosts.class, arguments[0], arguments[1], "write").run(directory.resolveSibling(directory.getFileName() + ".output"));
        long began = System.nanoTime();
        try (KeyValueStore store = open(directory)) {
            double seconds = (System.nanoTime() - began) / 1e9;
            for (long i = 0; i < records; i += Math.max(1, records / 1000)) {
                if (store.get(key(i)) == null) {
                    throw new AssertionError("record " + i + " is lost");
                }
            }
            System.out.printf("%,d records replayed in %.2f s: %,.0f a second%n", records, seconds, records / seconds);
        }
    }

    private static KeyValueStore open(Path directory) {
        return Heartwood.open(
                directory,
                StoreOptions.builder()
                        .memory(ByteSize.mib(MEMORY_MIB))
                        .memtable(ByteSize.mib(MEMTABLE_MIB))
                        .checkpointDistance(DISTANCE)
                        .build());
    }

    private static void write(Path directory, long records) {
        KeyValueStore store = open(directory);
        byte[] value = new byte[VALUE_BYTES];
        SplittableRandom random = new SplittableRandom(1);
        for (long i = 0; i < records; i++) {
            random.nextBytes(value);
            store.put(key(i), value);
        }
    }

    /** A key of a number, in no order. */
    private static byte[] key(long number) {
        return ByteBuffer.allocate(KEY_BYTES).putLong(number * 0x9E3779B97F4A7C15L).array();
    }
}
