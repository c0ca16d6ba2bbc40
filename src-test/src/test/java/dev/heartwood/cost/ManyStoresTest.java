package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Two hundred stores, all written to in turn, stay within one budget and lose nothing. */
class ManyStoresTest {
    private static final ByteSize HEAP = ByteSize.mib(160);

    @Test
    void twoHundredStoresStayWithinOneBudget() throws IOException, InterruptedException {
        try (TestDirectory directory = new TestDirectory("many")) {
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                            // All of the heap is there from the start, so that what is committed for it is resident.
                            "-Xms" + HEAP.bytes(),
                            "-Xmx" + HEAP.bytes(),
                            "-XX:+AlwaysPreTouch",
                            "-XX:NativeMemoryTracking=summary",
                            "--enable-native-access=ALL-UNNAMED",
                            "-cp",
                            System.getProperty("java.class.path"),
                            ManyStores.class.getName(),
                            directory.path().toString())
                    .redirectErrorStream(true)
                    .start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, process.waitFor(), said);
            long[] bytes = Arrays.stream(said.strip().split(" ")).mapToLong(Long::parseLong).toArray();
            ResidentMemory fullest = new ResidentMemory(bytes[1], bytes[2], bytes[3]);
            String account = inMib(bytes[0]) + " MiB resident at the most; of " + inMib(fullest.residentBytes()) + " the heap is "
                    + inMib(fullest.heapBytes()) + ", the rest of the JVM " + inMib(fullest.jvmBytes()) + ", the engine "
                    + inMib(fullest.engineBytes());
            System.out.println("many stores: " + account);
            long engineMax = ManyStores.MEMORY.bytes() * 115 / 100;
            assertTrue(fullest.engineBytes() <= engineMax, account);
            // Nor did more come and go between two looks.
            assertTrue(bytes[0] <= engineMax + HEAP.bytes() + fullest.jvmBytes(), account);
        }
    }

    private static long inMib(long bytes) {
        return bytes >> 20;
    }
}
