package dev.heartwood.kafka.cluster;

import dev.heartwood.kafka.cluster.RestoreTime.Restored;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Measures an application on each kind of store, at one broker and with one input, which lies there before. All of them run at the
 * same time, so that whatever else the machine does meets them alike, each in a JVM of its own, whose first records are not
 * measured: they load every key and warm the JVM up.
 *
 * @param directory where everything is kept meanwhile
 * @param workload what the applications do
 * @param input what the applications read
 * @param records how many records the slowest processes while all are measured
 * @param configs configuration of the applications, for every kind of store
 */
record Comparison(Path directory, Workload workload, DemoInput input, int records, Map<String, String> configs) {
    /** Records of random keys that are processed before measuring begins, besides one of each key. */
    private static final int WARM_RECORDS = 300_000;

    /** How many times as fast as the slowest the fastest may be without running out of input. */
    private static final int LEAD_MAX = 3;

    /**
     * What was measured of one kind of store.
     *
     * @param perSecond records processed in a second
     * @param streamNanos processor time of the stream thread for a record processed
     * @param replayed records restored by the start after a kill
     * @param intervalChanges the most records that were sent to changelogs between two commits, or after the last one before the kill
     * @param restoredPerSecond records restored in a second, from nothing, of as many as the shortest changelog has
     * @param memoryMib the peak of the process's resident memory
     * @param diskMib the length of the state's files at the end
     */
    record Result(
            long perSecond,
            long streamNanos,
            long replayed,
            long intervalChanges,
            long restoredPerSecond,
            long memoryMib,
            long diskMib) {}

    /** Measures the kinds of stores that the workload is for. */
    Map<StoreKind, Result> run() {
        Map<StoreKind, ApplicationRun> applications = new EnumMap<>(StoreKind.class);
        try (Broker broker = Broker.start(directory.resolve("broker"))) {
            broker.createTopics(workload.inputs(), Workload.PARTITIONS);
            ProgressLine.show("producing %,d records", total());
            input.produce(broker, workload.inputs(), total());
            for (StoreKind kind : workload.kinds()) {
                applications.put(kind, application(broker, kind));
            }
            return measure(applications);
        } finally {
            applications.values().forEach(ApplicationRun::close);
            ProgressLine.clear();
            WorkingFiles.delete(directory);
        }
    }

    private int measuredFrom() {
        return input.keys() + WARM_RECORDS;
    }

    private int total() {
        return LEAD_MAX * (measuredFrom() + records);
    }

    private ApplicationRun application(Broker broker, StoreKind kind) {
        String name = kind.name().toLowerCase(Locale.ROOT);
        return new ApplicationRun(
                broker, new ApplicationRun.Setup(kind, workload, name, directory.resolve(name), configs));
    }

    /** Runs all, kills all under load, starts them again, and has them restore everything. */
    private Map<StoreKind, Result> measure(Map<StoreKind, ApplicationRun> applications) {
        applications.values().forEach(ApplicationRun::start);
        awaitAll(applications, application -> application.processed() >= measuredFrom());
        Map<StoreKind, ApplicationRun.Moment> begin = each(applications, ApplicationRun::now);
        awaitAll(applications, application ->
                application.processed() >= begin.get(application.kind()).records() + records);
        Map<StoreKind, ApplicationRun.Moment> end = each(applications, ApplicationRun::now);
        Map<StoreKind, Long> memoryMib = each(applications, ApplicationRun::memoryPeakMib);
        if (end.values().stream().anyMatch(moment -> moment.records() >= total())) {
            throw new IllegalStateException("one has run out of input, which makes its rate too low: " + end);
        }

        applications.values().forEach(ApplicationRun::kill);
        Map<StoreKind, Long> intervalChanges = each(applications, ApplicationRun::changesIntervalMax);
        Map<StoreKind, Restored> replayed = restart(applications);
        Map<StoreKind, Long> diskMib = each(applications, application -> WorkingFiles.bytes(application.state()) >> 20);
        applications.values().forEach(application -> WorkingFiles.delete(application.state()));
        Map<StoreKind, Restored> restored = restart(applications);
        long shortest = restored.values().stream().mapToLong(Restored::records).min().orElse(0);
        return each(applications, application -> {
            StoreKind kind = application.kind();
            return new Result(
                    end.get(kind).perSecondSince(begin.get(kind)),
                    end.get(kind).streamNanosPerRecordSince(begin.get(kind)),
                    replayed.get(kind).records(),
                    intervalChanges.get(kind),
                    restored.get(kind).perSecond(shortest),
                    memoryMib.get(kind),
                    diskMib.get(kind));
        });
    }

    /** Starts all, and ends each once it runs, so that it takes nothing from those that still restore; returns what each restored. */
    private static Map<StoreKind, Restored> restart(Map<StoreKind, ApplicationRun> applications) {
        applications.values().forEach(ApplicationRun::start);
        try (ExecutorService waiting = Executors.newVirtualThreadPerTaskExecutor()) {
            Map<StoreKind, CompletableFuture<Restored>> restored = each(applications, application -> CompletableFuture.supplyAsync(() -> {
                Restored found = application.awaitRunning();
                application.end();
                return found;
            }, waiting));
            return each(applications, application -> restored.get(application.kind()).join());
        }
    }

    private static void awaitAll(Map<StoreKind, ApplicationRun> applications, Predicate<ApplicationRun> isDone) {
        while (!applications.values().stream().allMatch(isDone)) {
            applications.values().forEach(ApplicationRun::look);
            ProgressLine.show("%s", applications.values().stream()
                    .map(application -> "%s %,d".formatted(application.kind(), application.processed()))
                    .collect(Collectors.joining("  ")));
        }
    }

    private static <T> Map<StoreKind, T> each(
            Map<StoreKind, ApplicationRun> applications, Function<ApplicationRun, T> function) {
        Map<StoreKind, T> results = new EnumMap<>(StoreKind.class);
        applications.forEach((kind, application) -> results.put(kind, function.apply(application)));
        return results;
    }
}
