package dev.heartwood.cost;

import com.sun.management.OperatingSystemMXBean;
import dev.heartwood.ByteSize;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Measures the same records in one store and in many that share its budget: random writes, then random reads, by one thread. A program, not
 * a test.
 */
public final class SharedBudgetCosts {
    private static final int KEY_BYTES = 24;
    private static final int VALUE_BYTES = 100;
    private static final int READ_SECONDS = 5;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final OperatingSystemMXBean PROCESS =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private final List<KeyValueStore> stores;
    private final long records;

    private SharedBudgetCosts(List<KeyValueStore> stores, long records) {
        this.stores = stores;
        this.records = records;
    }

    /** {@code DIRECTORY RECORDS MEMORY_MIB STORES...}: each number of stores in turn. */
    public static void main(String[] arguments) {
        long records = Long.parseLong(arguments[1]);
        EnvironmentOptions options = EnvironmentOptions.builder()
                .memory(ByteSize.mib(Long.parseLong(arguments[2])))
                .build();
        for (int i = 3; i < arguments.length; i++) {
            int count = Integer.parseInt(arguments[i]);
            try (Environment environment = Heartwood.openEnvironment(options)) {
                List<KeyValueStore> stores = new ArrayList<>();
                for (int store = 0; store < count; store++) {
                    Path directory = Path.of(arguments[0], i + "-" + count, "store-" + store);
                    stores.add(environment.open(directory, StoreOptions.builder().build()));
                }
                new SharedBudgetCosts(stores, records).run();
                stores.forEach(KeyValueStore::close);
            }
        }
    }

    private void run() {
        byte[] value = new byte[VALUE_BYTES];
        SplittableRandom random = new SplittableRandom(1);
        long began = System.nanoTime();
        long cpuOwn = THREADS.getCurrentThreadCpuTime();
        long queued = queuedNanos();
        long cpuAll = PROCESS.getProcessCpuTime();
        for (long i = 0; i < records; i++) {
            random.nextBytes(value);
            storeOf(i).put(key(i), value);
        }
        double written = records / seconds(began);
        double microsOwn = (THREADS.getCurrentThreadCpuTime() - cpuOwn) / 1e3 / records;
        double stalled = stores.stream().mapToLong(store -> store.stats().stallNanos()).sum() / 1e3 / records;
        double microsQueued = (queuedNanos() - queued) / 1e3 / records;
        double microsAll = (PROCESS.getProcessCpuTime() - cpuAll) / 1e3 / records;
        stores.forEach(KeyValueStore::settle);
        began = System.nanoTime();
        long reads = 0;
        while (seconds(began) < READ_SECONDS) {
            long record = random.nextLong(records);
            if (storeOf(record).get(key(record)) == null) {
                throw new AssertionError("record " + record + " is missing");
            }
            reads++;
        }
        System.out.printf(
                "%d stores: %,.0f writes/s, %.2f us of processor each, %.2f with the background, %.2f stalled, "
                        + "%.2f waiting for a processor; %,.0f reads/s%n",
                stores.size(), written, microsOwn, microsAll, stalled, microsQueued, reads / seconds(began));
    }

    private KeyValueStore storeOf(long record) {
        return stores.get((int) (record % stores.size()));
    }

    /** How long this thread could have run and did not, because others did. */
    private static long queuedNanos() {
        try {
            return Long.parseLong(Files.readString(Path.of("/proc/thread-self/schedstat")).trim().split(" ")[1]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static double seconds(long began) {
        return (System.nanoTime() - began) / 1e9;
    }

    /** A key of a number, in no order. */
    private static byte[] key(long number) {
        return ByteBuffer.allocate(KEY_BYTES).putLong(number * 0x9E3779B97F4A7C15L).array();
    }
}
