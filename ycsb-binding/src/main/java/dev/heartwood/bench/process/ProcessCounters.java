package dev.heartwood.bench.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What the kernel has charged to this process so far.
 *
 * @param bytesRead bytes it caused to be read from storage
 * @param bytesWritten bytes it caused to be written to storage, without those of files that were deleted before they reached it
 * @param rssPeakBytes the peak of its resident memory
 * @param anonymousBytes resident memory that no file backs, now
 * @param cpuSeconds processor time of all its threads
 */
record ProcessCounters(long bytesRead, long bytesWritten, long rssPeakBytes, long anonymousBytes, double cpuSeconds) {
    private static final Path PROCESS = Path.of("/proc/self");

    /** The counters now; 0 where the kernel does not tell. */
    static ProcessCounters now() {
        return of(PROCESS);
    }

    /** What was charged since; of bytes written none where more were deleted that had been charged before. */
    PhaseResult.Between since(ProcessCounters earlier) {
        return new PhaseResult.Between(
                bytesRead - earlier.bytesRead, Math.max(0, bytesWritten - earlier.bytesWritten), cpuSeconds - earlier.cpuSeconds);
    }

    /** The counters that a directory of the process file system tells. */
    static ProcessCounters of(Path process) {
        return new ProcessCounters(
                field(process, "io", "read_bytes"),
                field(process, "io", "write_bytes") - field(process, "io", "cancelled_write_bytes"),
                field(process, "status", "VmHWM") << 10,
                field(process, "status", "RssAnon") << 10,
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

    private static long field(Path process, String file, String name) {
        try {
            for (String line : Files.readAllLines(process.resolve(file))) {
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
