package dev.heartwood.bench.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.bench.process.EngineClient.EngineFailure;
import java.io.IOException;
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
}
