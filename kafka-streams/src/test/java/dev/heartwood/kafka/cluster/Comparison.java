package dev.heartwood.kafka.cluster;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Measures an application on each kind of store in turn, at one broker and with one input, which lies there before. Each runs in a
 * JVM of its own, whose first records are not measured: they load every key and warm the JVM up.
 *
 * @param directory where everything is kept meanwhile
 * @param input what the application reads
 * @param records how many records of it are measured
 * @param configs configuration of the application, for every kind of store
 */
record Comparison(Path directory, DemoInput input, int records, Map<String, String> configs) {
    /** Records of random keys that are processed before measuring begins, besides one of each key. */
    private static final int WARM_RECORDS = 300_000;

    /**
     * What was measured of one kind of store.
     *
     * @param perSecond records processed in a second
     * @param streamNanos processor time of the stream thread for a record processed
     * @param replayed records restored by the start after a kill
     * @param intervalRecords the most records that were processed between two commits, or after the last one before the kill
     * @param restoredPerSecond records restored in a second, from nothing
     * @param memoryMib the peak of the process's resident memory
     * @param diskMib the length of the state's files at the end
     */
    record Result(
            long perSecond,
            long streamNanos,
            long replayed,
            long intervalRecords,
            long restoredPerSecond,
            long memoryMib,
            long diskMib) {}

    /** Called with each result as soon as it is there. */
    interface Report {
        void measured(StoreKind kind, Result result);
    }

    /** Measures all kinds of stores. */
    void run(Report report) {
        try (Broker broker = Broker.start(directory.resolve("broker"))) {
            broker.createTopics(List.of(Workload.LEFT), Workload.PARTITIONS);
            ProgressLine.show("producing %,d records", total());
            input.produce(broker, 0, total());
            warmUp(broker);
            for (StoreKind kind : StoreKind.values()) {
                report.measured(kind, measure(broker, kind));
            }
        } finally {
            ProgressLine.clear();
            WorkingFiles.delete(directory);
        }
    }

    private int measuredFrom() {
        return input.keys() + WARM_RECORDS;
    }

    private int measuredTo() {
        return measuredFrom() + records;
    }

    /** Half as many again are processed around a kill. */
    private int total() {
        return measuredTo() + records / 2;
    }

    private ApplicationRun application(Broker broker, StoreKind kind, String name) {
        return new ApplicationRun(
                broker, new ApplicationRun.Setup(kind, Workload.TABLE, name, directory.resolve(name), configs));
    }

    /** Has another application warm up the broker; not measured. */
    private void warmUp(Broker broker) {
        try (ApplicationRun application = application(broker, StoreKind.ROCKSDB, "warm-up")) {
            application.start();
            application.awaitProcessed(WARM_RECORDS);
        }
    }

    private Result measure(Broker broker, StoreKind kind) {
        try (ApplicationRun application = application(broker, kind, kind.name().toLowerCase(Locale.ROOT))) {
            application.start();
            application.awaitProcessed(measuredFrom());
            ApplicationRun.Moment begin = application.now();
            application.awaitProcessed(measuredTo());
            ApplicationRun.Moment end = application.now();

            application.awaitProcessed(measuredTo() + records / 4);
            long memoryMib = application.memoryPeakMib();
            application.kill();
            long intervalRecords = application.commitIntervalMax();
            application.start();
            long replayed = application.awaitRunning().records();
            application.awaitConsumed(total());
            memoryMib = Math.max(memoryMib, application.memoryPeakMib());
            application.end();
            long diskMib = WorkingFiles.bytes(application.state()) >> 20;

            WorkingFiles.delete(application.state());
            application.start();
            ApplicationRun.Restored restored = application.awaitRunning();
            application.end();
            WorkingFiles.delete(application.state());
            return new Result(
                    end.perSecondSince(begin),
                    end.streamNanosPerRecordSince(begin),
                    replayed,
                    intervalRecords,
                    restored.perSecond(),
                    memoryMib,
                    diskMib);
        }
    }
}
