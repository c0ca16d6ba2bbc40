package dev.heartwood.bench.report;

import dev.heartwood.bench.process.PhaseResult;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The results as a JSON array, one object per phase, engine and number of threads. */
public final class JsonReport {
    private JsonReport() {}

    /** The array. */
    public static String of(List<PhaseResult> results) {
        return results.stream().map(JsonReport::object).collect(Collectors.joining(",\n  ", "[\n  ", "\n]\n"));
    }

    private static String object(PhaseResult r) {
        return String.format(
                Locale.ROOT,
                "{\"engine\": \"%s\", \"phase\": \"%s\", \"threads\": %d, \"records\": %d, \"ops\": %d, "
                        + "\"seconds\": %.3f, \"cpuSeconds\": %.2f, \"opsPerSecond\": %.1f, "
                        + "\"p50Micros\": %.3f, \"p99Micros\": %.3f, \"p999Micros\": %.3f, "
                        + "\"maxMicros\": %.3f, \"bytesRead\": %d, \"bytesWritten\": %d, \"writeAmplification\": %.3f, "
                        + "\"diskBytes\": %d, \"rssBytes\": %d, \"changes\": [%s]}",
                r.engine(),
                r.phase(),
                r.threads(),
                r.records(),
                r.operations(),
                r.seconds(),
                r.cpuSeconds(),
                r.operationsPerSecond(),
                r.latency().p50Micros(),
                r.latency().p99Micros(),
                r.latency().p999Micros(),
                r.latency().maxMicros(),
                r.storage().bytesRead(),
                r.storage().bytesWritten(),
                r.storage().writeAmplification(),
                r.storage().diskBytes(),
                r.memory().rssPeakBytes(),
                r.changes().stream().map(JsonReport::object).collect(Collectors.joining(", ")));
    }

    private static String object(PhaseResult.Change change) {
        return String.format(
                Locale.ROOT,
                "{\"seconds\": %.1f, \"what\": \"%s\"}",
                change.seconds(),
                change.what().replace("\\", "\\\\").replace("\"", "\\\""));
    }
}
