package dev.heartwood.engine.device;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.heartwood.ClosedException;
import dev.heartwood.DeviceKind;
import dev.heartwood.NotAStoreException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.StoreIoException;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.os.MemoryRegions;
import dev.heartwood.engine.os.PathCalls;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FileStorageTest {
    private final TestDirectory directory = TestDirectory.make();
    private final FileStorage storage = storage(directory.path().resolve("a/b/store"));

    @AfterEach
    void close() {
        storage.close();
        directory.close();
    }

    private static FileStorage storage(Path path) {
        return new FileStorage(path, DeviceKind.POSIX, IoMode.DIRECT);
    }

    @Test
    void aMissingDirectoryIsEmpty() {
        assertEquals(List.of(), storage.list());
        assertFalse(storage.exists("data"));
        assertThrows(StoreIoException.class, () -> storage.size("data"));
        storage.lock();
        assertEquals(List.of(), storage.list());
        assertTrue(Files.isDirectory(storage.directory()));
    }

    /** It took the file system for full, and the directory for empty. */
    @Test
    void aDirectoryThatIsRenamedIsAskedAsBefore() throws IOException {
        storage.lock();
        try (BlockDevice device = storage.openDevice("data", true)) {
            Files.move(storage.directory(), directory.path().resolve("moved"));
            assertTrue(device.available() > 0);
            assertTrue(storage.exists("data"));
            assertTrue(storage.list().contains("data"), storage.list()::toString);
        }
    }

    @Test
    void refusesAPathThatIsNoDirectory() throws IOException {
        Path file = Files.writeString(directory.path().resolve("file"), "x");
        try (FileStorage wrong = storage(file)) {
            assertThrows(NotAStoreException.class, wrong::lock);
            assertThrows(NotAStoreException.class, wrong::list);
        }
        try (FileStorage below = storage(file.resolve("store"))) {
            assertThrows(NotAStoreException.class, below::lock);
        }
    }

    @Test
    void writesAndReadsSmallFiles() {
        storage.lock();
        byte[] text = "some options\n".getBytes(StandardCharsets.US_ASCII);
        storage.writeFile("OPTIONS", text);
        assertArrayEquals(text, storage.readFile("OPTIONS", 1000));
        assertArrayEquals("some".getBytes(StandardCharsets.US_ASCII), storage.readFile("OPTIONS", 4));
        storage.writeFile("OPTIONS", new byte[0]);
        assertEquals(0, storage.readFile("OPTIONS", 1000).length);
        byte[] large = new byte[100_000];
        large[99_999] = 7;
        storage.writeFile("large", large);
        assertArrayEquals(large, storage.readFile("large", 1 << 20));
        assertEquals(100_000, storage.size("large"));
        assertEquals(List.of("OPTIONS", "large"), storage.list());
        storage.delete("large");
        storage.delete("large");
        storage.syncDirectory();
        assertEquals(List.of("OPTIONS"), storage.list());
        assertEquals("ENOENT", assertThrows(StoreIoException.class, () -> storage.readFile("no", 1)).errnoName());
    }

    @Test
    void listsManyNames() throws IOException {
        storage.lock();
        for (int i = 0; i < 2000; i++) {
            Files.createFile(storage.directory().resolve("a-file-with-a-rather-long-name-" + (10_000 + i)));
        }
        Files.createFile(storage.directory().resolve("left" + SmallFiles.UNFINISHED));
        List<String> names = storage.list();
        assertEquals(2000, names.size());
        assertEquals("a-file-with-a-rather-long-name-10000", names.getFirst());
        assertEquals("a-file-with-a-rather-long-name-11999", names.getLast());
    }

    @Test
    @SuppressWarnings("try") // closing twice is part of it
    void mapsAFileThatOutlivesTheMapping() {
        storage.lock();
        try (MappedFile file = storage.openMapped("log", 1 << 20)) {
            assertEquals(1 << 20, file.length());
            assertEquals(0, Memory.getLong(file.address() + 4096));
            Memory.putLong(file.address() + 5000, 42);
            file.sync(5000, 8);
            file.sync(0, file.length());
            file.sync(100, 0);
            assertThrows(IllegalArgumentException.class, () -> file.sync(1 << 20, 1));
        }
        try (MappedFile file = storage.openMappedExisting("log")) {
            assertEquals(42, Memory.getLong(file.address() + 5000));
            assertEquals(1 << 20, file.length());
        }
        // Taken over, with another length, its contents kept.
        try (MappedFile file = storage.openMapped("log", 1 << 19)) {
            assertEquals(42, Memory.getLong(file.address() + 5000));
        }
        assertEquals(1 << 19, storage.size("log"));
        try (MappedFile file = storage.openMapped("log", 1 << 21)) {
            assertEquals(42, Memory.getLong(file.address() + 5000));
            assertEquals(0, Memory.getLong(file.address() + (1 << 21) - 8));
            file.close();
        }
        assertEquals(1 << 21, storage.size("log"));
        assertThrows(IllegalArgumentException.class, () -> storage.openMapped("log", 100));
    }

    @Test
    void mapsSparseFilesWithBlocks() throws IOException {
        storage.lock();
        Path log = storage.directory().resolve("log");
        new ProcessBuilder("truncate", "-s", "1M", log.toString()).start().onExit().join();
        assertEquals(1 << 20, Files.size(log));
        try (MappedFile file = storage.openMapped("log", 1 << 20)) {
            Memory.putLong(file.address() + (1 << 20) - 8, 3);
            file.sync(0, 1 << 20);
        }
    }

    @Test
    void mapsShortAndEmptyFiles() throws IOException {
        storage.lock();
        Files.write(storage.directory().resolve("short"), new byte[] {9, 9, 9});
        try (MappedFile file = storage.openMappedExisting("short")) {
            assertEquals(4096, file.length());
            assertEquals(9, Memory.getByte(file.address() + 2));
            assertEquals(0, Memory.getByte(file.address() + 3));
        }
        assertEquals(3, storage.size("short"));
        Files.createFile(storage.directory().resolve("empty"));
        try (MappedFile file = storage.openMappedExisting("empty")) {
            assertEquals(0, file.length());
            file.sync(0, 0);
        }
    }

    @Test
    void touchingKeepsContents() {
        try (MemoryPool pool = MemoryPool.open(1 << 20)) {
            long block = pool.allocate(1 << 16);
            Memory.putByte(block + 4096, 5);
            MappedSegment.touch(block, 1 << 16);
            assertEquals(5, Memory.getByte(block + 4096));
        }
    }

    @Test
    void aWindowOfAMappedFileSlides() {
        storage.lock();
        int regions = MemoryRegions.count();
        try (MappedFile file = storage.openMapped("log", 1 << 20, 1 << 16)) {
            long step = 1 << 16;
            assertEquals(step, file.windowEnd());
            for (long at = 0; at < file.length(); at += step) {
                file.slide(Math.max(0, at - 4096), at + step);
                assertEquals(at + step, file.windowEnd());
                Memory.putLong(file.address() + at, at + 1);
                file.sync(Math.max(0, at - step), step);
            }
            file.slide(file.length() - 4096, file.length());
            assertThrows(AssertionError.class, () -> Memory.getLong(file.address() + file.length() - 4104));
            assertThrows(IllegalArgumentException.class, () -> file.slide(0, file.length()));
            assertThrows(IllegalArgumentException.class, () -> file.slide(file.length() - 4096, file.length() + 4096));
        }
        assertEquals(regions, MemoryRegions.count());
        try (MappedFile file = storage.openMappedExisting("log")) {
            for (long at = 0; at < file.length(); at += 1 << 16) {
                assertEquals(at + 1, Memory.getLong(file.address() + at));
            }
        }
        assertThrows(IllegalArgumentException.class, () -> storage.openMapped("log", 1 << 20, 1 << 21));
    }

    /** What of a file's mappings is resident, as the kernel says; -1 when there is none. */
    private static long residentKib(Path file) throws IOException {
        long kib = -1;
        boolean isHere = false;
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
            if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
                isHere = line.endsWith(file.toRealPath().toString());
            } else if (isHere && line.startsWith("Rss:")) {
                kib = Math.max(kib, 0) + Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        return kib;
    }

    @Test
    @SuppressWarnings("try") // resting twice is part of it
    void aMappedFileAtRestHasNoMemoryAndIsSynced() throws IOException {
        storage.lock();
        int regions = MemoryRegions.count();
        Path path = storage.directory().resolve("log");
        try (MappedFile file = storage.openMapped("log", 1 << 20, 1 << 19)) {
            Memory.putLong(file.address() + 5000, 42);
            file.slide(4096, 1 << 19);
            assertEquals((1 << 9) - 4, residentKib(path));
            file.rest();
            file.rest();
            assertEquals(0, residentKib(path));
            assertEquals(regions, MemoryRegions.count());
            file.sync(0, 1 << 20);
            assertEquals(0, residentKib(path));
            assertThrows(AssertionError.class, () -> Memory.getLong(file.address() + 5000));
            assertThrows(IllegalStateException.class, () -> file.slide(1 << 19, 1 << 20));
        }
        assertEquals(-1, residentKib(path));
        try (MappedFile file = storage.openAtRest("log")) {
            assertEquals(1 << 20, file.length());
            assertEquals(0, residentKib(path));
            file.sync(0, 1 << 20);
        }
        try (MappedFile file = storage.openMappedExisting("log")) {
            assertEquals(42, Memory.getLong(file.address() + 5000));
            file.rest();
        }
        assertEquals(regions, MemoryRegions.count());
        assertEquals(-1, residentKib(path));
        Files.createFile(storage.directory().resolve("empty"));
        try (MappedFile file = storage.openAtRest("empty")) {
            file.sync(0, 0);
            file.rest();
        }
    }

    /** Its contents are what they were, and what was never written gets no place on the device. */
    @Test
    void aRewrittenFileIsAtRestAndAsItWas() throws IOException {
        storage.lock();
        int regions = MemoryRegions.count();
        Path path = storage.directory().resolve("log");
        byte[] contents = new byte[64 * 4096];
        Arrays.fill(contents, 8 * 4096, 11 * 4096 - 1, (byte) 7);
        contents[contents.length - 1] = 1;
        try (RandomAccessFile sparse = new RandomAccessFile(path.toFile(), "rw")) {
            sparse.setLength(contents.length);
            sparse.seek(8 * 4096);
            sparse.write(contents, 8 * 4096, 3 * 4096);
            sparse.seek(63 * 4096);
            sparse.write(contents, 63 * 4096, 4096);
            sparse.getFD().sync();
        }
        long allocated = allocatedBytes(path);
        assertTrue(allocated < contents.length);
        try (MappedFile file = storage.openRewritten("log")) {
            assertEquals(contents.length, file.length());
            assertEquals(0, residentKib(path));
            assertEquals(regions, MemoryRegions.count());
            file.sync(0, file.length());
        }
        assertArrayEquals(contents, Files.readAllBytes(path));
        assertEquals(allocated, allocatedBytes(path));
        Files.createFile(storage.directory().resolve("empty"));
        try (MappedFile file = storage.openRewritten("empty")) {
            file.sync(0, 0);
        }
        assertEquals(regions, MemoryRegions.count());
    }

    private static long allocatedBytes(Path path) {
        try (Directory directory = new Directory(path.getParent())) {
            return directory.status(path.getFileName().toString()).allocatedBytes();
        }
    }

    /** A page of a mapping that lies behind the end of its file is refused as one is that the device does not give. */
    @Test
    void whatCannotBeReadOfAMappedFileIsFound() throws IOException {
        storage.lock();
        Path path = storage.directory().resolve("log");
        for (int pages : new int[] {8, 3, 1}) {
            try (MappedFile file = storage.openMapped("log", 8 * 4096)) {
                new ProcessBuilder("truncate", "-s", Integer.toString(4096 * pages), path.toString()).start().onExit().join();
                assertEquals(4096L * pages, MappedSegment.populateReadable(-1, file.address(), file.length(), "log"));
            }
        }
        try (MappedFile file = storage.openMapped("log", 8 * 4096)) {
            new ProcessBuilder("truncate", "-s", "0", path.toString()).start().onExit().join();
            ReadFailedException e = assertThrows(
                    ReadFailedException.class, () -> MappedSegment.populateReadable(-1, file.address(), file.length(), "log"));
            assertEquals("EIO", e.errnoName());
        }
    }

    @Test
    void aFailedMappingLeavesNoFile() {
        storage.lock();
        assertThrows(RuntimeException.class, () -> storage.openMapped("log", 1L << 50));
        assertFalse(storage.exists("log"));
    }

    @Test
    void createsADeviceOnce() {
        storage.lock();
        storage.openDevice("data", true).close();
        StoreIoException e = assertThrows(StoreIoException.class, () -> storage.openDevice("data", true));
        assertEquals("EEXIST", e.errnoName());
        assertEquals("ENOENT", assertThrows(StoreIoException.class, () -> storage.openDevice("x", false)).errnoName());
    }

    @Test
    void theBootIdIsStable() {
        assertEquals(36, storage.bootId().length());
        assertEquals(storage.bootId(), storage.bootId());
    }

    @Test
    void readOnlyFileSystemsSaySo() {
        // /proc takes no new files from anyone, whatever its mount says.
        try (FileStorage refused = storage(Path.of("/proc/heartwood"))) {
            StoreIoException e = assertThrows(StoreIoException.class, refused::lock);
            assertEquals("mkdir", e.operation());
            assertTrue(List.of("ENOENT", "EROFS", "EACCES", "EPERM").contains(e.errnoName()), e.errnoName());
        }
    }

    @Test
    void missingPermissionSaysSo() throws IOException {
        assumeTrue(!"root".equals(System.getProperty("user.name")), "root may do everything");
        Path closed = Files.createDirectory(directory.path().resolve("closed"));
        assertTrue(closed.toFile().setWritable(false));
        try (FileStorage refused = storage(closed)) {
            assertEquals("EACCES", assertThrows(StoreIoException.class, refused::lock).errnoName());
        }
    }

    @Test
    void refusesDirectAccessByName() {
        // Files of /proc know no O_DIRECT.
        try (FileStorage process = storage(Path.of("/proc/self"))) {
            StoreIoException e = assertThrows(StoreIoException.class, () -> process.openDevice("comm", false));
            assertEquals("EINVAL", e.errnoName());
            assertTrue(e.getMessage().contains("IoMode.BUFFERED"), e.getMessage());
        }
    }

    @Test
    void descriptorsAreCloseOnExecAndDataIsDirect() throws IOException {
        storage.lock();
        try (BlockDevice device = storage.openDevice("data", true);
                IoQueue queue = device.newQueue(1);
                Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            assertEquals(0, queue.pending());
            int found = 0;
            for (Path descriptor : descriptors.toList()) {
                Path target = Files.exists(descriptor, LinkOption.NOFOLLOW_LINKS)
                        ? Files.readSymbolicLink(descriptor)
                        : Path.of("gone");
                if (target.startsWith(storage.directory()) || target.toString().contains("io_uring")) {
                    int flags = openFlags(descriptor.getFileName().toString());
                    assertTrue((flags & 0x80000) != 0, "close-on-exec: " + target);
                    assertEquals(target.endsWith("data"), (flags & PathCalls.O_DIRECT) != 0, target.toString());
                    found++;
                }
            }
            assertTrue(found >= 3, "directory, lock, data: " + found);
        }
    }

    private static int openFlags(String descriptor) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/fdinfo", descriptor))) {
            if (line.startsWith("flags:")) {
                return Integer.parseInt(line.substring(6).strip(), 8);
            }
        }
        throw new AssertionError("no flags of descriptor " + descriptor);
    }

    @Test
    void runningOutOfDescriptorsSaysSo() throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin/java").toString();
        Process child = new ProcessBuilder(
                        "sh",
                        "-c",
                        "ulimit -n 64; exec \"$@\"",
                        "sh",
                        java,
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Exhauster.class.getName(),
                        directory.path().resolve("many").toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        assertEquals("EMFILE", new String(child.getInputStream().readAllBytes()).strip());
        assertEquals(0, child.waitFor());
    }

    /** Opens stores until the process has no descriptor left. */
    static final class Exhauster {
        private Exhauster() {}

        public static void main(String[] arguments) {
            List<FileStorage> opened = new ArrayList<>();
            // Everything that the first failure needs is loaded while there are descriptors.
            try (FileStorage first = storage(Path.of(arguments[0]))) {
                first.lock();
                first.readFile("none", 1);
            } catch (StoreIoException e) {
                for (int i = 0; i < 100; i++) {
                    opened.add(storage(Path.of(arguments[0] + i)));
                    try {
                        opened.getLast().lock();
                    } catch (StoreIoException full) {
                        System.out.println(full.errnoName());
                        break;
                    }
                }
            }
            opened.forEach(FileStorage::close);
        }
    }

    @Test
    void bufferedModeWorks() {
        try (FileStorage buffered = new FileStorage(storage.directory(), DeviceKind.AUTO, IoMode.BUFFERED);
                MemoryPool pool = MemoryPool.open(1 << 20)) {
            buffered.lock();
            try (BlockDevice device = buffered.openDevice("data", true)) {
                long page = pool.allocate(4096);
                Memory.fill(page, 4096, 3);
                device.write(4096, page, 4096);
                Memory.fill(page, 4096, 0);
                device.read(4096, page, 4096);
                assertEquals(0x0303030303030303L, Memory.getLong(page));
            }
        }
    }

    @Test
    void refusesUseAfterClose() {
        storage.lock();
        assertThrows(IllegalStateException.class, storage::lock);
        storage.close();
        storage.close();
        assertThrows(IllegalStateException.class, storage::lock);
        assertThrows(ClosedException.class, () -> storage.readFile("x", 1));
    }
}
