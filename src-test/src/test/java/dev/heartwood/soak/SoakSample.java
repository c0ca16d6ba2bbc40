package dev.heartwood.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;

/**
 * What a loading process said of itself over some seconds; times in microseconds.
 *
 * @param seconds how long it counted
 * @param calls calls made
 * @param write how long writes took
 * @param read how long gets took
 * @param rssBytes resident memory of the whole process
 * @param descriptors descriptors open
 * @param diskBytes bytes of data file and log
 */
record SoakSample(
        double seconds, long calls, Latency write, Latency read, long rssBytes, long descriptors, long diskBytes) {
    /** Quantiles. */
    record Latency(long median, long p99, long p999, long max) {
        /** The worse of each. */
        Latency worst(Latency other) {
            return new Latency(
                    Math.max(median, other.median),
                    Math.max(p99, other.p99),
                    Math.max(p999, other.p999),
                    Math.max(max, other.max));
        }
    }

    String toLine() {
        return String.join(
                " ",
                Stream.of(
                                seconds, calls, write.median, write.p99, write.p999, write.max, read.median, read.p99, read.p999,
                                read.max, rssBytes, descriptors, diskBytes)
                        .map(String::valueOf)
                        .toList());
    }

    static SoakSample parse(String line) {
        String[] fields = line.split(" ");
        long[] n = Arrays.stream(fields).skip(1).mapToLong(Long::parseLong).toArray();
        return new SoakSample(
                Double.parseDouble(fields[0]),
                n[0],
                new Latency(n[1], n[2], n[3], n[4]),
                new Latency(n[5], n[6], n[7], n[8]),
                n[9],
                n[10],
                n[11]);
    }

    /** Resident memory of this process. */
    static long residentBytes() throws IOException {
        String line = Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(l -> l.startsWith("VmRSS:"))
                .findFirst()
                .orElseThrow();
        return Long.parseLong(line.replaceAll("\\D", "")) << 10;
    }

    /** Descriptors that this process has open. */
    static long openDescriptors() throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors.count();
        }
    }
}
