package dev.heartwood.bench.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.bench.process.EngineClient.EngineFailure;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class EngineClientTest {
    /** A JVM prints why it crashes to standard output, of which only the lines for the driver were read. */
    @Test
    void whatAProcessSaysBeforeItDiesIsShown() throws IOException {
        Process process = new ProcessBuilder("sh", "-c", "echo '# SIGBUS'; echo '" + EngineProcess.MARK + "progress 7'; exit 134").start();
        List<String> shown = new ArrayList<>();
        try (EngineClient client = new EngineClient("lmdb", process, shown::add)) {
            EngineFailure failure = assertThrows(EngineFailure.class, client::describe);
            assertEquals("lmdb: its process ended with exit code 134", failure.getMessage());
        }
        assertEquals(List.of("lmdb: # SIGBUS"), shown);
    }

    /** RocksDB's process had several times its cache by the C library's many arenas. */
    @Test
    void anEngineHasFewArenasUnlessTheEnvironmentSaysHowMany() {
        String given = System.getenv("MALLOC_ARENA_MAX");
        assertEquals(
                given == null ? "2" : given,
                EngineClient.processOf(List.of("java")).environment().get("MALLOC_ARENA_MAX"));
    }

    /** It was not looked at any more after its last result: the run ended with exit code 0. */
    @Test
    void aProcessThatDiedAfterItsLastResultHasFailed() throws IOException, InterruptedException {
        Process process = new ProcessBuilder("sh", "-c", "exit 134").start();
        process.waitFor();
        try (EngineClient client = new EngineClient("lmdb", process, line -> {})) {
            EngineFailure failure = assertThrows(EngineFailure.class, client::quit);
            assertEquals("lmdb: its process ended with exit code 134", failure.getMessage());
        }
    }

    @Test
    void soHasOneThatEndsWithAnError() throws IOException {
        Process process = new ProcessBuilder("sh", "-c", "echo '" + EngineProcess.MARK + "done'; exit 139").start();
        try (EngineClient client = new EngineClient("lmdb", process, line -> {})) {
            EngineFailure failure = assertThrows(EngineFailure.class, client::quit);
            assertEquals("lmdb: its process had closed its store and ended with exit code 139", failure.getMessage());
        }
    }

    @Test
    void oneThatWasClosedHasNot() throws IOException, InterruptedException, EngineFailure {
        EngineClient client = new EngineClient("lmdb", new ProcessBuilder("sleep", "600").start(), line -> {});
        client.close();
        client.quit();
    }

    /** It was left alone after ten minutes, with its memory, and counted as good. */
    @Test
    void aProcessThatDoesNotEndIsKilledAndHasFailed() throws IOException {
        Process process = new ProcessBuilder("sh", "-c", "echo '" + EngineProcess.MARK + "done'; exec sleep 600").start();
        try (EngineClient client = new EngineClient("lmdb", process, line -> {}, Duration.ZERO)) {
            EngineFailure failure = assertThrows(EngineFailure.class, client::quit);
            assertEquals("lmdb: its process had closed its store and did not end", failure.getMessage());
            assertFalse(process.isAlive());
        }
    }
}
