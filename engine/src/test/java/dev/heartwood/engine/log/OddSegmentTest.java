package dev.heartwood.engine.log;

import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.heartwood.DeviceKind;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.log.LogTester.Operation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OddSegmentTest {
    private static final long STORE_ID = 5;
    private static final LogOptions OPTIONS = new LogOptions(64 << 10, 64 << 10);

    @TempDir
    private Path directory;

    /** A file that was made ready and never begun, and cut since, holds nothing; nor can it be mapped. */
    @Test
    void aFileCutWithinAPageIsNotUsedAgain() throws IOException {
        Path odd = directory.resolve(SegmentName.of(1000));
        try (FileStorage storage = new FileStorage(directory, DeviceKind.POSIX, IoMode.BUFFERED);
                LogTester tester = new LogTester()) {
            storage.lock();
            WriteAheadLog.create(storage, STORE_ID, 1, OPTIONS).close();
            Files.write(odd, new byte[50_000]);
            try (WriteAheadLog log = WriteAheadLog.open(storage, STORE_ID, 1, OPTIONS, 0)) {
                log.replay(tester);
                for (int generation = 1; generation <= 2; generation++) {
                    log.rotate(generation, 0);
                    for (int i = 0; i < 200; i++) {
                        tester.append(log, 0, Operation.put(generation, 200L * generation + i, "x".repeat(1000)));
                    }
                }
                log.release(1);
            }
        }
        assertFalse(Files.exists(odd));
    }
}
