package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Two hundred stores, all written to in turn, stay within one budget and lose nothing. */
class ManyStoresTest {
    private static final ByteSize HEAP = ByteSize.mib(160);

    /** Code, metadata, threads and collector of a JVM that does this, measured without the engine's memory. */
    private static final ByteSize JVM = ByteSize.mib(100);

    @Test
    void twoHundredStoresStayWithinOneBudget() throws IOException, InterruptedException {
        try (TestDirectory directory = new TestDirectory("many")) {
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                            "-Xmx" + HEAP.bytes(),
                            "--enable-native-access=ALL-UNNAMED",
                            "-cp",
                            System.getProperty("java.class.path"),
                            ManyStores.class.getName(),
                            directory.path().toString())
                    .redirectErrorStream(true)
                    .start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, process.waitFor(), said);
            long resident = Long.parseLong(said.strip());
            long limit = ManyStores.MEMORY.bytes() * 115 / 100 + HEAP.bytes() + JVM.bytes();
            assertTrue(resident <= limit, resident + " bytes resident, " + limit + " allowed");
        }
    }
}
