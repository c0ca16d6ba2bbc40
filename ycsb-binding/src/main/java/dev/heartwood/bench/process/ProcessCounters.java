package dev.heartwood.bench.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What the kernel has charged to this process so far.
 *
 * @param bytesRead bytes it caused to be read from storage
 * @param bytesWritten bytes it caused to be written to storage
 * @param rssPeakBytes the peak of its resident memory
 * @param anonymousBytes resident memory that no file backs, now
 * @param cpuSeconds processor time of all its threads
 */
record ProcessCounters(long bytesRead, long bytesWritten, long rssPeakBytes, long anonymousBytes, double cpuSeconds) {
    private static final Path PROCESS = Path.of("/proc/self");

    /** The counters now; 0 where the kernel does not tell. */
    static ProcessCounters now() {
        return new ProcessCounters(
                field("io", "read_bytes"),
                field("io", "write_bytes"),
                field("status", "VmHWM") << 10,
                field("status", "RssAnon") << 10,
                ProcessHandle.current()
                        .info()
                        .totalCpuDuration()
                        .map(duration -> duration.toNanos() / 1e9)
                        .orElse(0.0));
    }

    /** Lets the peak of resident memory begin anew; where the kernel refuses, it stays that of the whole run. */
    static void resetPeak() {
        try {
            Files.writeString(PROCESS.resolve("clear_refs"), "5");
        } catch (IOException refused) {
            return;
        }
    }

    private static long field(String file, String name) {
        try {
            for (String line : Files.readAllLines(PROCESS.resolve(file))) {
                if (line.startsWith(name + ":")) {
                    return Long.parseLong(
                            line.substring(name.length() + 1).replace("kB", "").strip());
                }
            }
            return 0;
        } catch (IOException unreadable) {
            return 0;
        }
    }
}
