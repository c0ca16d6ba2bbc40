package dev.heartwood.concurrency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.FileStoreHost;
import dev.heartwood.testkit.JavaProcess;
import dev.heartwood.testkit.TestDirectory;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Ten thousand virtual threads on one carrier, which is lent to nobody else: no deadlock, and no wake-up is lost. */
class VirtualThreadTest {
    @Test
    void tenThousandShareOneCarrier() {
        try (TestDirectory parent = new TestDirectory("virtual")) {
            Path directory = parent.path().resolve("store");
            JavaProcess.Ended ended = JavaProcess.of(VirtualThreadLoad.class, directory.toString())
                    .flags(
                            "-Djdk.virtualThreadScheduler.parallelism=1",
                            "-Djdk.virtualThreadScheduler.maxPoolSize=1",
                            "-Xmx400m")
                    .run(parent.path().resolve("output"));
            assertEquals(0, ended.exit(), ended::output);
            assertTrue(ended.output().contains(VirtualThreadLoad.DONE), ended::output);
            FileStoreHost.verify(directory);
        }
    }
}
