package dev.heartwood.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class MainTest {
    @Test
    void aPropertyThatIsNoOptionEndsItBeforeItBegins() throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx100m",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "-db",
                        HeartwoodClient.class.getName(),
                        "-load",
                        "-P",
                        "workloads/workloada",
                        "-p",
                        "heartwood.colour=red")
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        assertEquals(2, process.waitFor(), said);
        assertEquals("heartwood ycsb: there is no option 'colour'", said);
    }
}
