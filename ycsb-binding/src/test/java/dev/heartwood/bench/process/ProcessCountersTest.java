package dev.heartwood.bench.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is read of the process file system. */
class ProcessCountersTest {
    @Test
    void whatWasNeverWrittenDoesNotCount(@TempDir Path process) throws IOException {
        Files.writeString(
                process.resolve("io"),
                "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: 20480\ncancelled_write_bytes: 8192\n");
        Files.writeString(process.resolve("status"), "Name:\tjava\nVmHWM:\t     300 kB\nRssAnon:\t     200 kB\n");
        ProcessCounters counters = ProcessCounters.of(process);
        assertEquals(4096, counters.bytesRead());
        assertEquals(12288, counters.bytesWritten());
        assertEquals(300 << 10, counters.rssPeakBytes());
        assertEquals(200 << 10, counters.anonymousBytes());
    }

    @Test
    void ofThisProcess() {
        assertTrue(ProcessCounters.now().rssPeakBytes() > 1 << 20);
    }

    @Test
    void whatIsNotToldIsNothing(@TempDir Path nothing) {
        assertEquals(0, ProcessCounters.of(nothing).bytesWritten());
    }
}
