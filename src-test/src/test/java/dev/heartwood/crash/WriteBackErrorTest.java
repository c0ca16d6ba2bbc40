package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.heartwood.DeviceKind;
import dev.heartwood.StoreException;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.testkit.MountedFileSystem;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

/**
 * The operating system fails to write a segment back that nobody syncs, and memory is wanted. What {@link MappedFile#rest} relies on is
 * that it tells whoever has the file mapped, though nothing of it is in memory. The device is a real one that has no room.
 */
class WriteBackErrorTest {
    /** Several writes: one that a loop device could do in part it calls done. */
    private static final long LENGTH = 8 << 20;

    @Test
    void aFileAtRestIsToldThatItCouldNotBeWrittenBack() throws IOException {
        onThinDevice((files, storage) -> {
            try (MappedFile segment = unwritable(files, storage)) {
                assertFalse(files.writeBack());
                files.forget(storage.directory().resolve("segment"));
                assertThrows(StoreException.class, () -> segment.sync(0, LENGTH));
                // Once: the next one has nothing to write.
                segment.sync(0, LENGTH);
            }
        });
    }

    /** What {@link dev.heartwood.engine.device.Storage#openRewritten} is for: whoever opens it later is told nothing, and has nothing to write. */
    @Test
    void aFileThatIsRewrittenIsWrittenAfterASyncThatFailed() throws IOException {
        onThinDevice((files, storage) -> {
            try (MappedFile segment = unwritable(files, storage)) {
                assertFalse(files.writeBack());
                assertThrows(StoreException.class, () -> segment.sync(0, LENGTH));
            }
            try (MappedFile segment = storage.openAtRest("segment")) {
                segment.sync(0, LENGTH);
            }
            try (MappedFile segment = storage.openRewritten("segment")) {
                assertThrows(StoreException.class, () -> segment.sync(0, LENGTH));
            }
        });
    }

    private static void onThinDevice(BiConsumer<MountedFileSystem, FileStorage> test) throws IOException {
        try (TestDirectory parent = new TestDirectory("unwritable")) {
            Optional<MountedFileSystem> mounted = MountedFileSystem.onThinDevice(parent.path());
            assumeTrue(mounted.isPresent(), "not run: it needs to mount file systems, which takes root");
            try (MountedFileSystem files = mounted.get();
                    FileStorage storage = new FileStorage(files.path().resolve("store"), DeviceKind.POSIX, IoMode.BUFFERED)) {
                storage.lock();
                test.accept(files, storage);
            }
        }
    }

    /** A file at rest: its pages have places, but no block of the device was written, except for the first, and none can be any more. */
    private static MappedFile unwritable(MountedFileSystem files, FileStorage storage) {
        MappedFile segment = storage.openMapped("segment", LENGTH, 4096);
        segment.sync(0, LENGTH);
        files.exhaust();
        segment.slide(0, LENGTH);
        Memory.fill(segment.address(), LENGTH, 7);
        segment.rest();
        return segment;
    }
}
