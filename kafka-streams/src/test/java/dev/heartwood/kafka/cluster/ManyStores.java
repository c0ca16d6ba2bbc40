package dev.heartwood.kafka.cluster;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * An application with a hundred stores in one instance, on Heartwood and on RocksDB: the memory of both, and of Heartwood how
 * much its stores used of their budget at most, as its own metrics show it.
 *
 * @param directory where everything is kept meanwhile
 * @param input what the application reads
 * @param memory Heartwood's budget
 */
record ManyStores(Path directory, DemoInput input, String memory) {
    private static final int RECORDS_PER_KEY = 4;

    /** Measures and prints; returns the bars that were missed. */
    List<String> run() {
        List<String> missed = new ArrayList<>();
        try (Broker broker = Broker.start(directory.resolve("broker"))) {
            int records = RECORDS_PER_KEY * input.keys();
            broker.createTopics(Workload.TABLES.inputs(), Workload.PARTITIONS);
            ProgressLine.show("producing %,d records", records);
            input.produce(broker, Workload.TABLES.inputs(), records);
            System.out.printf("%n%d stores: %,d records of %,d keys; heartwood.memory.max.bytes=%s%n%n",
                    Workload.TABLES_COUNT * Workload.PARTITIONS, records, input.keys(), memory);
            for (StoreKind kind : List.of(StoreKind.HEARTWOOD, StoreKind.ROCKSDB)) {
                measure(broker, kind, records).ifPresent(missed::add);
            }
            return missed;
        } finally {
            ProgressLine.clear();
            WorkingFiles.delete(directory);
        }
    }

    private Optional<String> measure(Broker broker, StoreKind kind, int records) {
        String name = kind.name().toLowerCase(Locale.ROOT);
        Map<String, String> configs = Map.of("heartwood.memory.max.bytes", memory);
        Optional<String> missed = Optional.empty();
        try (ApplicationRun application = new ApplicationRun(
                broker, new ApplicationRun.Setup(kind, Workload.TABLES, name, directory.resolve(name), configs))) {
            application.start();
            while (application.processed() < records) {
                application.look();
                ProgressLine.show("%s %,d records", kind, application.processed());
            }
            ProgressLine.clear();
            System.out.printf("%-12s peak memory of the process %,d MiB", kind, application.memoryPeakMib());
            if (kind == StoreKind.HEARTWOOD) {
                long used = application.budgetUsedMaxBytes();
                System.out.printf(", the stores' own at most %,d MiB", used >> 20);
                missed = Bars.missedBudget(used, memory);
            }
            System.out.println();
            application.end();
        }
        WorkingFiles.delete(directory.resolve(name));
        return missed;
    }
}
