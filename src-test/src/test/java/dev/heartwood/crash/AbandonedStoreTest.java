package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.crash.AbandonedStore.End;
import dev.heartwood.testkit.JavaProcess;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** No hook is needed: a process may return from main, exit or be told to end, with its store open and being written. */
class AbandonedStoreTest {
    private static final int SIGTERM_EXIT = 143;

    private static Process start(Path parent, End end) {
        return JavaProcess.of(AbandonedStore.class, parent.resolve("store").toString(), end.name())
                .flags("-Xmx128m")
                .start(parent.resolve("output"));
    }

    /** The lock is free at once, and what was acknowledged is there. */
    private static void check(Path parent) throws IOException {
        Path directory = parent.resolve("store");
        int acknowledged = ByteBuffer.wrap(Files.readAllBytes(AbandonedStore.progress(directory))).getInt();
        assertTrue(acknowledged >= 2000, acknowledged + " writes");
        try (KeyValueStore store = Heartwood.open(directory, AbandonedStore.options())) {
            for (int i = 0; i < acknowledged; i++) {
                assertNotNull(store.get(AbandonedStore.key(i)), "write " + i + " of " + acknowledged);
            }
            assertTrue(store.verify().isClean());
        }
    }

    @Test
    void aProcessEndsWhenItsMainMethodReturns() throws IOException, InterruptedException {
        try (TestDirectory parent = new TestDirectory("abandoned")) {
            assertEquals(0, start(parent.path(), End.RETURN).waitFor());
            check(parent.path());
        }
    }

    @Test
    void aProcessMayExit() throws IOException, InterruptedException {
        try (TestDirectory parent = new TestDirectory("abandoned")) {
            assertEquals(5, start(parent.path(), End.EXIT).waitFor());
            check(parent.path());
        }
    }

    @Test
    void aProcessMayBeToldToEnd() throws IOException, InterruptedException {
        try (TestDirectory parent = new TestDirectory("abandoned")) {
            Process process = start(parent.path(), End.SIGNAL);
            Path output = parent.path().resolve("output");
            while (process.isAlive() && !Files.readString(output).contains("waiting")) {
                Thread.onSpinWait();
            }
            process.destroy();
            assertEquals(SIGTERM_EXIT, process.waitFor());
            check(parent.path());
        }
    }
}
