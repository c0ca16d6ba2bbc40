package dev.heartwood.concurrency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.FileStoreHost;
import dev.heartwood.testkit.JavaProcess;
import dev.heartwood.testkit.TestDirectory;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Virtual threads, up to ten thousand, on one carrier, which is lent to nobody else: no deadlock, and no wake-up is lost. */
class VirtualThreadTest {
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void tenThousandShareOneCarrier(boolean interrupted) {
        try (TestDirectory parent = new TestDirectory("virtual")) {
            Path directory = parent.path().resolve("store");
            run(parent, VirtualThreadLoad.DONE, VirtualThreadLoad.class, directory.toString(), Boolean.toString(interrupted));
            FileStoreHost.verify(directory);
        }
    }

    /** The closing thread kept the carrier from the one that it waited for. */
    @Test
    void anInterruptedThreadClosesBesideARead() {
        try (TestDirectory parent = new TestDirectory("virtual")) {
            Path directory = parent.path().resolve("store");
            run(parent, InterruptedClose.DONE, InterruptedClose.class, directory.toString());
            FileStoreHost.verify(directory);
        }
    }

    private static void run(TestDirectory parent, String done, Class<?> load, String... arguments) {
        JavaProcess.Ended ended = JavaProcess.of(load, arguments)
                .flags(
                        "-Djdk.virtualThreadScheduler.parallelism=1",
                        "-Djdk.virtualThreadScheduler.maxPoolSize=1",
                        "-Xmx400m")
                .run(parent.path().resolve("output"));
        assertEquals(0, ended.exit(), ended::output);
        assertTrue(ended.output().contains(done), ended::output);
    }
}
