package dev.heartwood.bench.report;

import dev.heartwood.bench.process.PhaseResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The results as a JSON array, one object per round, phase, engine and number of threads. */
public final class JsonReport {
    private JsonReport() {}

    /** The array. */
    public static String of(Rounds rounds) {
        List<String> objects = new ArrayList<>();
        for (int round = 0; round < rounds.count(); round++) {
            for (PhaseResult result : rounds.results().get(round)) {
                objects.add(object(round + 1, result));
            }
        }
        return objects.stream().collect(Collectors.joining(",\n  ", "[\n  ", "\n]\n"));
    }

    private static String object(int round, PhaseResult r) {
        return String.format(
                Locale.ROOT,
                "{\"round\": %d, \"engine\": \"%s\", \"phase\": \"%s\", \"threads\": %d, \"records\": %d, \"ops\": %d, "
                        + "\"seconds\": %.3f, \"cpuSeconds\": %.2f, \"betweenBytesRead\": %d, "
                        + "\"betweenBytesWritten\": %d, \"betweenCpuSeconds\": %.2f, \"opsPerSecond\": %.1f, "
                        + "\"p50Micros\": %.3f, \"p99Micros\": %.3f, \"p999Micros\": %.3f, "
                        + "\"maxMicros\": %.3f, \"bytesRead\": %d, \"bytesWritten\": %d, \"writeAmplification\": %.3f, "
                        + "\"diskBytes\": %d, \"rssBytes\": %d, \"anonymousBytes\": %d, \"scannedRecords\": %d, \"missing\": %d, "
                        + "\"wrong\": %d, \"changes\": [%s]}",
                round,
                r.engine(),
                r.phase(),
                r.threads(),
                r.records(),
                r.operations(),
                r.seconds(),
                r.cpuSeconds(),
                r.between().bytesRead(),
                r.between().bytesWritten(),
                r.between().cpuSeconds(),
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
                r.memory().anonymousBytes(),
                r.scannedRecords(),
                r.faults().missing(),
                r.faults().wrong(),
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
