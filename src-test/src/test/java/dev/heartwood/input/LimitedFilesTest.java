package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.FileStoreHost;
import dev.heartwood.testkit.JavaProcess;
import dev.heartwood.testkit.JavaProcess.Ended;
import dev.heartwood.testkit.TestDirectory;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A store in a process whose files may be no longer than so much, as a file system has a longest file, too. */
class LimitedFilesTest {
    /** Of half a KiB, or of one. */
    private static final int BLOCKS = 32 << 10;

    private static final int RECORDS_MIN = 5000;

    /** The error number of a file that may be no longer was none of a full device: merges stopped the store, and deletes were refused. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void aStoreWhoseFileMayBeNoLongerIsFullAndGoesOn() {
        try (TestDirectory parent = new TestDirectory("short")) {
            Path store = parent.path().resolve("store");
            Ended ended = JavaProcess.of(LimitedFiles.class, store.toString(), Integer.toString(BLOCKS << 10))
                    .under("sh", "-c", "ulimit -f " + BLOCKS + "; exec \"$@\"", "sh")
                    .run(parent.path().resolve("output"));
            assertEquals(0, ended.exit(), ended::output);
            assertTrue(Integer.parseInt(ended.output().strip()) >= RECORDS_MIN, ended::output);
            FileStoreHost.verify(store);
        }
    }
}
