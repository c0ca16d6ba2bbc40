package dev.heartwood.engine.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The bindings: results, errno, structures, and what differs between machines. */
class SystemCallsTest {
    @Test
    void platformsDifferInTheirOpenFlags() {
        assertEquals(Platform.X86_64, Platform.of("Linux", "amd64"));
        assertEquals(Platform.AARCH64, Platform.of("Linux", "aarch64"));
        // O_DIRECT and O_DIRECTORY have each other's value on the other machine.
        assertEquals(040000, Platform.X86_64.openDirect);
        assertEquals(0200000, Platform.X86_64.openDirectory);
        assertEquals(0200000, Platform.AARCH64.openDirect);
        assertEquals(040000, Platform.AARCH64.openDirectory);
        assertThrows(UnsupportedOperationException.class, () -> Platform.of("Linux", "riscv64"));
        assertThrows(UnsupportedOperationException.class, () -> Platform.of("Mac OS X", "aarch64"));
    }

    @Test
    void errorNumbersHaveNames() {
        assertEquals("EPERM", Errno.name(1));
        assertEquals("EIO", Errno.name(Errno.EIO));
        assertEquals("EAGAIN", Errno.name(Errno.EAGAIN));
        assertEquals("EMFILE", Errno.name(Errno.EMFILE));
        assertEquals("ENOSPC", Errno.name(Errno.ENOSPC));
        assertEquals("EROFS", Errno.name(Errno.EROFS));
        assertEquals("ENOSYS", Errno.name(Errno.ENOSYS));
        assertEquals("ELOOP", Errno.name(Errno.ELOOP));
        assertEquals("EDQUOT", Errno.name(Errno.EDQUOT));
        assertEquals("E4000", Errno.name(4000));
    }

    @Test
    void failuresReturnErrno() {
        assertEquals(-Errno.ENOENT, PathCalls.open(PathCalls.WORKING_DIRECTORY, "no/such/file", 0, 0));
        assertEquals(-Errno.EBADF, FileCalls.close(-1));
        assertEquals(-Errno.EBADF, FileCalls.fdatasync(-1));
        assertEquals(-Errno.EBADF, FileCalls.fallocate(-1, 0, 0, 1));
        assertEquals(-Errno.EBADF, FileLocks.tryLock(-1));
        assertEquals(-Errno.EBADF, FileStatus.of(-1).errno() * -1);
        assertEquals(-Errno.EINVAL, NativeMemory.advise(1, 4096, NativeMemory.MADV_HUGEPAGE));
    }

    @Test
    void blockingCallsOfVirtualThreadsKeepTheirErrno() throws Exception {
        try (var threads = java.util.concurrent.Executors.newVirtualThreadPerTaskExecutor()) {
            var results = new java.util.ArrayList<java.util.concurrent.Future<Integer>>();
            for (int i = 0; i < 200; i++) {
                boolean missing = i % 2 == 0;
                results.add(threads.submit(() -> missing
                        ? PathCalls.open(PathCalls.WORKING_DIRECTORY, "no/such/file", 0, 0)
                        : FileCalls.close(-1)));
            }
            for (int i = 0; i < 200; i++) {
                assertEquals(i % 2 == 0 ? -Errno.ENOENT : -Errno.EBADF, (int) results.get(i).get());
            }
        }
    }

    @Test
    void statusReadsTheStructure() throws Exception {
        Path target = Files.createDirectories(Path.of("target"));
        Path file = Files.createTempFile(target, "status", "");
        Files.write(file, new byte[12345]);
        FileStatus status = FileStatus.of(PathCalls.WORKING_DIRECTORY, file.toString());
        assertEquals(0, status.errno());
        assertEquals(12345, status.size());
        assertEquals(FileStatus.Kind.REGULAR, status.kind());
        Files.delete(file);
        assertEquals(
                FileStatus.Kind.DIRECTORY,
                FileStatus.of(PathCalls.WORKING_DIRECTORY, target.toString()).kind());
        assertEquals(
                Errno.ENOENT,
                FileStatus.of(PathCalls.WORKING_DIRECTORY, file.toString()).errno());
    }

    /** Files of holes show it: one is as long as its file system lets files be, and no longer. */
    @Test
    void theLongestFileIsKnown() throws Exception {
        Path file = Files.createTempFile(Files.createDirectories(Path.of("target")), "longest", "");
        int descriptor = PathCalls.open(PathCalls.WORKING_DIRECTORY, file.toString(), PathCalls.O_RDWR, 0);
        try {
            long longest = FileCalls.bytesMax(descriptor);
            assertTrue(longest >= 1L << 31, longest + " bytes");
            assertEquals(0, FileCalls.ftruncate(descriptor, longest));
            assertTrue(longest == Long.MAX_VALUE || FileCalls.ftruncate(descriptor, longest + 1) < 0);
            assertEquals(0, FileCalls.bytesMax(-1));
        } finally {
            FileCalls.close(descriptor);
            Files.delete(file);
        }
    }

    @Test
    void vectorsJoinNeighbours() {
        try (MemoryPool pool = MemoryPool.open(16 << 20)) {
            long a = pool.allocate(8 << 20);
            IoVector vector = IoVector.current();
            assertTrue(vector.add(a, 4096));
            assertTrue(vector.add(a + 4096, 4096));
            assertEquals(1, vector.count());
            assertEquals(8192, vector.bytes());
            for (int i = 1; i < IoVector.PIECES_MAX; i++) {
                assertTrue(vector.add(a + (i + 1) * 8192L - 4096, 1));
            }
            assertFalse(vector.add(a, 1));
            assertTrue(vector.add(a + IoVector.PIECES_MAX * 8192L - 4096 + 1, 1), "a neighbour needs no room");
            assertEquals(0, IoVector.current().count());
        }
    }

    @Test
    void ringsGoRoundAndRound() throws Exception {
        goesRoundAndRound(Uring.open(4));
        goesRoundAndRound(Aio.open(4));
    }

    @SuppressWarnings("try") // closing twice is part of it
    private static void goesRoundAndRound(Ring made) throws IOException {
        Path target = Files.createDirectories(Path.of("target"));
        Path file = Files.createTempFile(target, "ring", "");
        Files.write(file, new byte[8192]);
        int descriptor = PathCalls.open(PathCalls.WORKING_DIRECTORY, file.toString(), PathCalls.O_RDWR, 0);
        try (MemoryPool pool = MemoryPool.open(1 << 20);
                Ring ring = made) {
            long page = pool.allocate(4096);
            assertEquals(4, ring.entries());
            for (int i = 0; i < 1000; i++) {
                if (i % 2 == 0) {
                    Memory.putLong(page, i);
                    ring.prepare(true, descriptor, page, 4096, 4096, i);
                } else {
                    Memory.putLong(page, -1);
                    ring.read(descriptor, page, 4096, 4096, i);
                }
                assertEquals(1, ring.enter(1));
                assertTrue(ring.completed());
                assertEquals(i, ring.completedUserData());
                assertEquals(4096, ring.completedResult());
                ring.next();
                assertEquals(i & ~1, Memory.getLong(page));
                assertFalse(ring.completed());
            }
            for (int i = 0; i < 4; i++) {
                ring.read(descriptor, page, 4096, 0, i);
            }
            assertThrows(IllegalStateException.class, () -> ring.read(descriptor, page, 4096, 0, 9));
            assertEquals(4, ring.enter(1));
            drainsWhatTheKernelHasTaken(ring, descriptor, page);
            ring.close();
        } finally {
            FileCalls.close(descriptor);
            Files.delete(file);
        }
    }

    /** The ring is full of reads. */
    private static void drainsWhatTheKernelHasTaken(Ring ring, int descriptor, long page) {
        assertTrue(ring.isUnderWay());
        ring.drain();
        assertFalse(ring.isUnderWay());
        Memory.putLong(page, -1);
        ring.read(descriptor, page, 4096, 4096, 0);
        ring.drain();
        assertEquals(1, ring.unsubmitted());
        assertEquals(-1, Memory.getLong(page), "not submitted");
    }

    /** What a kernel refuses at once, and what it does, come back all the same, each with its own number and result. */
    @Test
    void aRingTellsWhatWasRefused() throws IOException {
        Path file = Files.createTempFile(Files.createDirectories(Path.of("target")), "refused", "");
        Files.write(file, new byte[4 * 4096]);
        int descriptor = PathCalls.open(PathCalls.WORKING_DIRECTORY, file.toString(), PathCalls.O_RDONLY, 0);
        try (MemoryPool pool = MemoryPool.open(1 << 20);
                Ring uring = Uring.open(8);
                Ring aio = Aio.open(8)) {
            long pages = pool.allocate(8 * 4096);
            for (Ring ring : List.of(uring, aio)) {
                for (int round = 0; round < 50; round++) {
                    tellsWhatWasRefused(ring, descriptor, pages);
                }
            }
        } finally {
            FileCalls.close(descriptor);
            Files.delete(file);
        }
    }

    private static void tellsWhatWasRefused(Ring ring, int descriptor, long pages) {
        for (int i = 0; i < 7; i++) {
            long page = pages + i * 4096L;
            boolean isRefused = i % 3 == 0;
            if (isRefused && i < 6) {
                ring.read(Integer.MAX_VALUE, page, 4096, 0, i);
            } else if (isRefused) {
                ring.prepare(true, descriptor, page, 4096, 0, i); // opened to be read alone
            } else {
                ring.read(descriptor, page, 4096, 4096L * (i / 3), i);
            }
        }
        int seen = 0;
        while (seen != 127) {
            ring.enter(1);
            while (ring.completed()) {
                int i = (int) ring.completedUserData();
                assertEquals(0, seen & 1 << i, "operation " + i + " comes back twice");
                seen |= 1 << i;
                assertEquals(i % 3 == 0 ? -Errno.EBADF : 4096, ring.completedResult(), "operation " + i);
                ring.next();
            }
        }
        assertEquals(0, ring.unsubmitted());
        assertFalse(ring.isUnderWay());
    }
}
