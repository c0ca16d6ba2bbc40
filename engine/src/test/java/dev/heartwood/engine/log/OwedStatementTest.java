package dev.heartwood.engine.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.log.LogTester.Operation;
import dev.heartwood.engine.os.Memory;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A life that found an append missing, which its process was killed in, and that ends before a segment says so. */
class OwedStatementTest {
    private static final long STORE_ID = 7;
    private static final LogOptions OPTIONS = new LogOptions(16 << 10, 64 << 10);
    private static final Operation TORN = Operation.put(1, 1, "torn");
    private static final Operation WHOLE = Operation.put(1, 2, "whole");

    private final LogTester tester = new LogTester();
    private CrashStorage storage = torn();
    private WriteAheadLog opened;

    @AfterEach
    void end() {
        tester.close();
        storage.discard();
    }

    /** What a process left that was killed in one lane's append, after another's. */
    private CrashStorage torn() {
        CrashStorage machine = new CrashStorage("boot");
        try (WriteAheadLog log = WriteAheadLog.create(machine, STORE_ID, 2, OPTIONS)) {
            log.rotate(1, 0);
            tester.append(log, 0, TORN);
            tester.append(log, 1, WHOLE);
            CrashStorage killed = machine.kill();
            Memory.putInt(killed.files.get("log-000001.seg").address + LogLayout.HEADER_BYTES, 0);
            return killed;
        } finally {
            machine.discard();
        }
    }

    private void goOnWith(CrashStorage next) {
        storage.discard();
        storage = next;
    }

    /** A life of which the log is opened, whose store begins to write or cannot, and is closed. */
    private void live(Runnable beginning) {
        try (LogTester sink = new LogTester();
                WriteAheadLog log = WriteAheadLog.open(storage, STORE_ID, 2, OPTIONS, 0)) {
            assertEquals(1, log.replay(sink).lostRecords());
            assertEquals(List.of(WHOLE), sink.replayed);
            opened = log;
            beginning.run();
        }
        assertEquals(0, storage.openMappings);
    }

    @Test
    void withoutSpaceForOneItLeavesTheLogAsItWas() {
        storage.bytesMax = 0;
        live(() -> {
            opened.rotate(2, 0);
            assertThrows(NoSpaceException.class, opened::sync);
        });
        goOnWith(storage.kill());
        live(() -> opened.rotate(2, 0));
    }

    /** One is left for the claims. */
    @Test
    void withoutDescriptorsForOneItLeavesTheLogAsItWas() {
        storage.refuseMappingsAfter(1);
        live(() -> assertThrows(StoreIoException.class, () -> opened.rotate(2, 0)));
        goOnWith(storage.kill());
        live(() -> opened.rotate(2, 0));
    }

    /** What nobody has called durable may be lost; and what is there then is a beginning. */
    @Test
    void powerMayBeLostAfterwards() {
        storage.bytesMax = 0;
        live(() -> opened.rotate(2, 0));
        for (int seed = 0; seed < 20; seed++) {
            CrashStorage left = storage.losePower(new Random(seed));
            try (LogTester sink = new LogTester();
                    WriteAheadLog log = WriteAheadLog.open(left, STORE_ID, 2, OPTIONS, 0)) {
                log.replay(sink);
                assertEquals(List.of(), sink.replayed);
            }
            left.discard();
        }
    }
}
