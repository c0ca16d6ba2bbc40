package dev.heartwood.engine.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.DeviceKind;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.log.LogTester.Operation;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The log over real files, also when its process is killed. */
class FileLogTest {
    private static final long STORE_ID = 4;
    private static final LogOptions OPTIONS = new LogOptions(64 << 10, 256 << 10);

    @TempDir
    private Path directory;

    private static FileStorage storage(Path directory) {
        FileStorage storage = new FileStorage(directory, DeviceKind.POSIX, IoMode.BUFFERED);
        storage.lock();
        return storage;
    }

    @Test
    void survivesManyLives() {
        Random random = new Random(7);
        List<Operation> all = new ArrayList<>();
        long sequence = 1;
        for (int life = 0; life < 6; life++) {
            try (FileStorage storage = storage(directory);
                    LogTester tester = new LogTester()) {
                WriteAheadLog log;
                if (life == 0) {
                    log = WriteAheadLog.create(storage, STORE_ID, 3, OPTIONS);
                } else {
                    log = WriteAheadLog.open(storage, STORE_ID, 3, OPTIONS, 0);
                    log.replay(tester);
                    assertEquals(all, tester.replayed);
                }
                log.rotate(1 + life, 0);
                log.prepareSpare();
                for (int i = 0; i < 2000; i++) {
                    Operation operation = LogTester.operation(random, 1 + life, sequence, 2000);
                    sequence += 10;
                    tester.append(log, random.nextInt(3), operation);
                    all.add(operation);
                    if (i % 400 == 0) {
                        log.sync();
                        log.prepareSpare();
                    }
                }
                log.close();
            }
        }
    }

    @Test
    void everyEntryThatAKilledProcessAcknowledgedIsThere() throws Exception {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        for (int round = 0; round < 2; round++) {
            Path store = directory.resolve("killed-" + round);
            Process process = new ProcessBuilder(
                            java.toString(),
                            "--enable-native-access=ALL-UNNAMED",
                            "-XX:TieredStopAtLevel=1",
                            "-Xshare:auto",
                            "-cp",
                            System.getProperty("java.class.path"),
                            Child.class.getName(),
                            store.toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            long acknowledged = 0;
            try (InputStream output = process.getInputStream()) {
                while (acknowledged < 3_000 + round * 7777 && output.read() >= 0) {
                    acknowledged++;
                }
                process.toHandle().destroyForcibly();
                acknowledged += output.readAllBytes().length;
            }
            process.waitFor();
            try (FileStorage storage = storage(store);
                    LogTester tester = new LogTester();
                    WriteAheadLog log = WriteAheadLog.open(storage, STORE_ID, 1, OPTIONS, 0)) {
                ReplaySummary summary = log.replay(tester);
                assertTrue(summary.records() >= acknowledged, summary + ", acknowledged " + acknowledged);
                Random random = new Random(1);
                for (Operation found : tester.replayed) {
                    assertEquals(Child.next(random, found.sequence()), found);
                }
            }
        }
    }

    /** Appends until it is killed, and says so after each append. */
    static final class Child {
        static Operation next(Random random, long sequence) {
            return LogTester.operation(random, 1, sequence, 400);
        }

        public static void main(String[] arguments) {
            FileStorage storage = storage(Path.of(arguments[0]));
            LogTester tester = new LogTester();
            WriteAheadLog log = WriteAheadLog.create(storage, STORE_ID, 1, OPTIONS);
            log.rotate(1, 0);
            Random random = new Random(1);
            for (long sequence = 1; ; sequence += 10) {
                tester.append(log, 0, next(random, sequence));
                System.out.write('.');
                System.out.flush();
            }
        }
    }
}
