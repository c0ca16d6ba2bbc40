package dev.heartwood.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClaimedDirectoryTest {
    @TempDir
    Path directory;

    /** It was locked all the same, and whoever came next made and locked a new file: both had the directory. */
    @Test
    void aFileThatIsDeletedBeforeItIsLockedIsNoClaim() throws IOException {
        Deque<ClaimedDirectory> others = new ArrayDeque<>(List.of(ClaimedDirectory.of(directory), ClaimedDirectory.of(directory.resolve("b"))));
        try (ClaimedDirectory claim = ClaimedDirectory.of(directory, () -> others.poll().close())) {
            assertEquals(0, others.size(), "opened once more");
            assertThrows(IOException.class, () -> ClaimedDirectory.of(directory));
        }
        assertFalse(Files.exists(directory.resolve(ClaimedDirectory.LOCK)));
    }

    /** The lock was gone: the system takes it back when the process closes any descriptor of the file, which it had read. */
    @Test
    void theLockIsHeld() throws IOException {
        try (ClaimedDirectory claim = ClaimedDirectory.of(directory)) {
            String inode = ":" + Files.getAttribute(directory.resolve(ClaimedDirectory.LOCK), "unix:ino") + " ";
            assertTrue(Files.readString(Path.of("/proc/locks")).contains(inode), "no lock of " + inode);
        }
    }

    @Test
    void soIsOneThatAnotherHasMadeAnewSince() throws IOException {
        ClaimedDirectory first = ClaimedDirectory.of(directory);
        Deque<ClaimedDirectory> second = new ArrayDeque<>();
        assertThrows(IOException.class, () -> ClaimedDirectory.of(directory, () -> {
            if (second.isEmpty()) {
                first.close();
                second.add(ClaimedDirectory.of(directory));
            }
        }));
        second.remove().close();
        ClaimedDirectory.of(directory).close();
    }
}
