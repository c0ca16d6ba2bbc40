package dev.heartwood.soak;

import dev.heartwood.soak.SoakSample.Latency;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/** Sums samples up by the minute, prints a row for each, and compares the halves of a run. One thread. */
final class SoakTable {
    /** A minute of load: the greatest of what was sampled, and the worst of the quantiles of each second. */
    private record Row(
            double seconds, long calls, Latency write, Latency read, long rssBytes, long descriptors, long diskBytes, int kills) {}

    private static final int ROW_SECONDS = 60;

    private final List<Row> rows = new ArrayList<>();
    private final List<SoakSample> minute = new ArrayList<>();
    private double minuteSeconds;
    private int kills;
    private int killsInMinute;
    private double reopenMillisMax;

    SoakTable() {
        System.out.println("soak: minute   calls/s | write us: median   p99  p99.9     max | get us: median   p99  p99.9     max"
                + " | RSS MB  fds  disk MB | kills  reopen ms max");
    }

    void add(SoakSample sample) {
        minute.add(sample);
        minuteSeconds += sample.seconds();
        if (minuteSeconds >= ROW_SECONDS) {
            endRow();
        }
    }

    /** Notes a kill, and how long the store took to open afterwards. */
    void killed(double reopenMillis) {
        kills++;
        killsInMinute++;
        reopenMillisMax = Math.max(reopenMillisMax, reopenMillis);
    }

    int kills() {
        return kills;
    }

    long minutes() {
        return rows.size();
    }

    /** Prints what is left of the last minute. */
    void end() {
        if (!minute.isEmpty()) {
            endRow();
        }
    }

    private void endRow() {
        Row row = new Row(
                minuteSeconds,
                minute.stream().mapToLong(SoakSample::calls).sum(),
                minute.stream().map(SoakSample::write).reduce(Latency::worst).orElseThrow(),
                minute.stream().map(SoakSample::read).reduce(Latency::worst).orElseThrow(),
                most(minute, SoakSample::rssBytes),
                most(minute, SoakSample::descriptors),
                most(minute, SoakSample::diskBytes),
                killsInMinute);
        rows.add(row);
        System.out.printf(
                "soak: %6d %9.0f | %16d %5d %6d %7d | %14d %5d %6d %7d | %6d %4d %8d | %5d %14.0f%n",
                rows.size(),
                row.calls / row.seconds,
                row.write.median(),
                row.write.p99(),
                row.write.p999(),
                row.write.max(),
                row.read.median(),
                row.read.p99(),
                row.read.p999(),
                row.read.max(),
                row.rssBytes >> 20,
                row.descriptors,
                row.diskBytes >> 20,
                row.kills,
                reopenMillisMax);
        minute.clear();
        minuteSeconds = 0;
        killsInMinute = 0;
        reopenMillisMax = 0;
    }

    private static <T> long most(List<T> of, ToLongFunction<T> what) {
        return of.stream().mapToLong(what).max().orElse(0);
    }

    /** The greatest in the second half of the rows for each in the first half. */
    private double growth(ToLongFunction<Row> what) {
        int half = rows.size() / 2;
        return (double) most(rows.subList(half, rows.size()), what) / most(rows.subList(0, half), what);
    }

    double memoryGrowth() {
        return growth(Row::rssBytes);
    }

    double descriptorGrowth() {
        return growth(Row::descriptors);
    }

    double diskGrowth() {
        return growth(Row::diskBytes);
    }

    /** By the median minute of each half, as one slow second decides about a minute. */
    double latencyGrowth() {
        int half = rows.size() / 2;
        return (double) medianP99(rows.subList(half, rows.size())) / medianP99(rows.subList(0, half));
    }

    private static long medianP99(List<Row> of) {
        return of.stream().mapToLong(row -> row.write.p99() + row.read.p99()).sorted().skip(of.size() / 2).findFirst().orElseThrow();
    }
}
