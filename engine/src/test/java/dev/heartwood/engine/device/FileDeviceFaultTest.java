package dev.heartwood.engine.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ClosedException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.os.Errno;
import dev.heartwood.engine.os.FileCalls;
import dev.heartwood.engine.os.FileStatus;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.os.PathCalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A device whose system calls are refused, interrupted and cut short, over a real file. */
class FileDeviceFaultTest {
    private static final int PAGE = BlockDevice.ALIGNMENT;
    private static final long PASS = Long.MAX_VALUE;

    /** Takes the next result from the script: an error, a length to cut the transfer to, or PASS. */
    private static final class FaultyCalls implements DeviceCalls {
        private final DeviceCalls real = DeviceBinding.POSIX.calls();
        private final ArrayDeque<Long> script = new ArrayDeque<>();

        void next(long... results) {
            for (long result : results) {
                script.add(result);
            }
        }

        private long next() {
            return script.isEmpty() ? PASS : script.poll();
        }

        @Override
        public long pread(int descriptor, long address, long length, long position) {
            long limit = next();
            return limit < 0 ? limit : real.pread(descriptor, address, Math.min(limit, length), position);
        }

        @Override
        public long pwrite(int descriptor, long address, long length, long position) {
            long limit = next();
            return limit < 0 ? limit : real.pwrite(descriptor, address, Math.min(limit, length), position);
        }

        @Override
        public long pwritev(int descriptor, long vector, int count, long position) {
            long limit = next();
            long written = limit < 0 ? limit : real.pwritev(descriptor, vector, count, position);
            return Math.min(limit, written);
        }

        @Override
        public long fdatasync(int descriptor) {
            long result = next();
            return result < 0 ? result : real.fdatasync(descriptor);
        }

        @Override
        public long fallocate(int descriptor, int mode, long position, long length) {
            long result = next();
            return result < 0 ? result : real.fallocate(descriptor, mode, position, length);
        }
    }

    private static class ForwardingCalls implements DeviceCalls {
        private final DeviceCalls calls;

        ForwardingCalls(DeviceCalls calls) {
            this.calls = calls;
        }

        @Override
        public long pread(int descriptor, long address, long length, long position) {
            return calls.pread(descriptor, address, length, position);
        }

        @Override
        public long pwrite(int descriptor, long address, long length, long position) {
            return calls.pwrite(descriptor, address, length, position);
        }

        @Override
        public long pwritev(int descriptor, long vector, int count, long position) {
            return calls.pwritev(descriptor, vector, count, position);
        }

        @Override
        public long fdatasync(int descriptor) {
            return calls.fdatasync(descriptor);
        }

        @Override
        public long fallocate(int descriptor, int mode, long position, long length) {
            return calls.fallocate(descriptor, mode, position, length);
        }
    }

    private final TestDirectory directory = TestDirectory.make();
    private final Directory files = new Directory(directory.path());
    private final MemoryPool pool = MemoryPool.open(4 << 20);
    private final FaultyCalls calls = new FaultyCalls();
    private final FileDevice device =
            new FileDevice(DataFiles.create(files, "data", IoMode.DIRECT), calls, ImmediateQueue::new);

    @AfterEach
    void close() {
        device.close();
        files.close();
        pool.close();
        directory.close();
    }

    /** Before Linux 5.14 the system populates no mapping; a page that it does not give was taken for readable, and looking at it ended the process. */
    @Test
    void whatCannotBeReadOfAMappedFileIsFoundByReading() throws IOException {
        Path log = directory.path().resolve("log");
        Files.write(log, new byte[8 * PAGE + 1]);
        int descriptor = files.open("log", PathCalls.O_RDONLY);
        try {
            assertEquals(9 * PAGE, MappedSegment.readThrough(calls, descriptor, 9 * PAGE, "log"));
            assertEquals(9 * PAGE, MappedSegment.readThrough(calls, descriptor, 12 * PAGE, "log"));
            calls.next(-Errno.EINTR, PASS, PASS, -Errno.EIO);
            assertEquals(2 * PAGE, MappedSegment.readThrough(calls, descriptor, 9 * PAGE, "log"));
            for (long error : new long[] {-Errno.EIO, -Errno.EACCES}) {
                calls.next(error);
                assertThrows(
                        ReadFailedException.class, () -> MappedSegment.readThrough(calls, descriptor, 9 * PAGE, "log"));
            }
            // An address that no page begins at is refused as the advice is by such a kernel.
            assertEquals(9 * PAGE, MappedSegment.populateReadable(descriptor, PAGE + 1, 12 * PAGE, "log"));
            Files.write(log, new byte[0]);
            assertThrows(
                    ReadFailedException.class, () -> MappedSegment.populateReadable(descriptor, PAGE + 1, PAGE, "log"));
        } finally {
            FileCalls.close(descriptor);
        }
    }

    @Test
    void randomFaultsInTransfersLeaveNoTrace() {
        long seed = 77;
        SplittableRandom random = new SplittableRandom(seed);
        int pages = 64;
        long written = pool.allocate(pages * PAGE);
        long read = pool.allocate(pages * PAGE);
        long[] addresses = new long[pages];
        for (int i = 0; i < pages; i++) {
            addresses[i] = written + (long) (i * 13 % pages) * PAGE;
        }
        for (int round = 0; round < 60; round++) {
            for (int i = 0; i < pages * PAGE; i += 8) {
                Memory.putLong(written + i, random.nextLong());
            }
            boolean vectored = random.nextBoolean();
            randomFaults(random);
            if (vectored) {
                device.writePages(0, addresses, pages);
            } else {
                device.write(0, written, pages * PAGE);
            }
            calls.script.clear();
            randomFaults(random);
            device.read(0, read, pages * PAGE);
            calls.script.clear();
            for (int i = 0; i < pages; i++) {
                long expected = vectored ? addresses[i] : written + (long) i * PAGE;
                assertEquals(
                        PAGE,
                        Memory.commonPrefix(expected, read + (long) i * PAGE, PAGE),
                        "seed " + seed + ", round " + round + ", page " + i);
            }
        }
    }

    private void randomFaults(SplittableRandom random) {
        int count = random.nextInt(20);
        for (int i = 0; i < count; i++) {
            calls.next(
                    switch (random.nextInt(4)) {
                        case 0 -> -Errno.EINTR;
                        case 1 -> -Errno.EAGAIN;
                        case 2 -> 512L * (1 + random.nextInt(40));
                        default -> (long) PAGE * (1 + random.nextInt(20));
                    });
        }
    }

    @Test
    void aFailedSyncIsNotRetried() {
        calls.next(-Errno.EINTR, -Errno.EIO, -Errno.EIO);
        StoreIoException e = assertThrows(StoreIoException.class, device::sync);
        assertEquals("EIO", e.errnoName());
        assertEquals("fdatasync", e.operation());
        assertEquals(1, calls.script.size());
    }

    @Test
    void aFullDeviceSaysSo() {
        calls.next(-Errno.EINTR, -Errno.ENOSPC);
        assertThrows(NoSpaceException.class, () -> device.allocate(1 << 20));
        assertEquals(0, device.size());
        // As long as its file system, or the limit of the process, lets a file be.
        calls.next(-Errno.EFBIG);
        assertThrows(NoSpaceException.class, () -> device.allocate(1 << 20));
        calls.next(-Errno.EOPNOTSUPP, -Errno.EFBIG);
        assertThrows(NoSpaceException.class, () -> device.allocate(1 << 20));
        assertEquals(0, device.size());
        calls.next(-Errno.EDQUOT);
        long page = pool.allocate(PAGE);
        assertThrows(NoSpaceException.class, () -> device.writePages(0, new long[] {page}, 1));
        device.allocate(1 << 20);
        assertEquals(1 << 20, device.size());
    }

    /** Some file systems allocate what they can before they say that the device is full. */
    @Test
    void aFailedAllocationGivesBackWhatItGot() {
        device.allocate(1 << 18);
        DeviceCalls greedy = new ForwardingCalls(calls) {
            @Override
            public long fallocate(int descriptor, int mode, long position, long length) {
                super.fallocate(descriptor, FileCalls.FALLOC_KEEP_SIZE, position, 1 << 20);
                super.fallocate(descriptor, 0, position, 1 << 19);
                return -Errno.ENOSPC;
            }
        };
        OpenFile file = new OpenFile("data", device.open(), device.size(), false);
        FileDevice full = new FileDevice(file, greedy, ImmediateQueue::new);
        assertThrows(NoSpaceException.class, () -> full.allocate(2 << 20));
        assertEquals(1 << 18, full.size());
        FileStatus status = FileStatus.of(device.open());
        assertEquals(1 << 18, status.size());
        assertTrue(status.allocatedBytes() <= (1 << 18) + PAGE, "allocated " + status.allocatedBytes());
    }

    @Test
    void allocatesByWritingWhereTheFileSystemCannot() {
        long page = pool.allocate(PAGE);
        calls.next(-Errno.EOPNOTSUPP);
        device.allocate(3 << 20);
        device.read((3 << 20) - PAGE, page, PAGE);
        assertEquals(0, Memory.getLong(page));
        calls.next(-Errno.EOPNOTSUPP, -Errno.ENOSPC);
        assertThrows(NoSpaceException.class, () -> device.allocate(4 << 20));
    }

    @Test
    void aHoleGetsItsBlocksAgain() {
        device.allocate(1 << 20);
        calls.next(-Errno.EIO);
        device.restore(0, 1 << 20);
        assertEquals(1, calls.script.size(), "not asked while there are no holes");
        calls.script.clear();
        device.discard(1 << 18, 1 << 18);
        assertTrue(FileStatus.of(device.open()).allocatedBytes() < 1 << 20);
        // As the next opening of the file finds it.
        OpenFile file = new OpenFile("data", device.open(), device.size(), false);
        FileDevice later = new FileDevice(file, calls, ImmediateQueue::new);
        calls.next(-Errno.ENOSPC);
        assertThrows(NoSpaceException.class, () -> later.restore(1 << 18, 1 << 18));
        calls.next(-Errno.EINTR);
        later.restore(1 << 18, 1 << 18);
        assertTrue(FileStatus.of(device.open()).allocatedBytes() >= 1 << 20);
        assertEquals(1 << 20, FileStatus.of(device.open()).size());
        calls.next(-Errno.EOPNOTSUPP);
        device.restore(0, PAGE);
        calls.next(-Errno.EIO);
        device.restore(0, PAGE);
        assertEquals(1, calls.script.size(), "not asked again");
    }

    /** Who looks for space may do so while its store is closed: the descriptor is still this file's, and not another one's that got it. */
    @Test
    void aDeviceThatIsClosedMeanwhileKeepsItsDescriptor() {
        AtomicReference<FileDevice> closed = new AtomicReference<>();
        int[] errnos = {Errno.EBADF};
        DeviceCalls closing = new ForwardingCalls(calls) {
            @Override
            public long fallocate(int descriptor, int mode, long position, long length) {
                if (mode == FileCalls.FALLOC_KEEP_SIZE) {
                    closed.get().close();
                    errnos[0] = FileStatus.of(descriptor).errno();
                }
                return super.fallocate(descriptor, mode, position, length);
            }
        };
        FileDevice other = new FileDevice(DataFiles.create(files, "other", IoMode.DIRECT), closing, ImmediateQueue::new);
        closed.set(other);
        other.allocate(1 << 20);
        other.discard(0, PAGE);
        int descriptor = other.open();
        other.restore(0, PAGE);
        assertEquals(0, errnos[0]);
        assertEquals(Errno.EBADF, FileStatus.of(descriptor).errno(), "closed once nobody uses it");
        assertThrows(ClosedException.class, () -> other.restore(0, PAGE));
    }

    /** A file has blocks beside those of its contents, which hid a hole as large: it was not filled, and a full disk met when it was written. */
    @Test
    void aSmallHoleIsFilledAfterOpening() {
        int holeBytes = 1 << 14;
        long written = pool.allocate(PAGE);
        device.allocate(1 << 20);
        for (int page = 0; page < 1 << 20; page += PAGE) {
            device.write(page, written, PAGE);
        }
        device.discard(0, holeBytes);
        // As if the file system had taken so many for itself.
        assertEquals(0, FileCalls.fallocate(device.open(), FileCalls.FALLOC_KEEP_SIZE, 1 << 20, holeBytes));
        OpenFile file = new OpenFile("data", device.open(), device.size(), false);
        FileDevice later = new FileDevice(file, calls, ImmediateQueue::new);
        assertTrue(FileStatus.of(device.open()).allocatedBytes() >= 1 << 20);
        calls.next(-Errno.ENOSPC);
        assertThrows(NoSpaceException.class, () -> later.restore(0, holeBytes));
        later.restore(0, holeBytes);
        assertTrue(FileStatus.of(device.open()).allocatedBytes() >= (1 << 20) + holeBytes);
        // Some file systems refuse blocks that are there already.
        calls.next(-Errno.ENOSPC);
        later.restore(holeBytes, (1 << 20) - holeBytes);
        calls.next(-Errno.EIO);
        assertThrows(StoreIoException.class, () -> later.restore(holeBytes, (1 << 20) - holeBytes));
    }

    @Test
    void discardDoesNothingWhereItIsNotPossible() {
        device.allocate(1 << 20);
        calls.next(-Errno.EIO);
        assertThrows(StoreIoException.class, () -> device.discard(0, PAGE));
        calls.next(-Errno.EOPNOTSUPP);
        device.discard(0, PAGE);
        calls.next(-Errno.EIO);
        device.discard(0, PAGE);
        assertEquals(1, calls.script.size(), "not asked again");
    }

    @Test
    void aDeviceOfFixedSizeDoesNotGrow() {
        device.allocate(1 << 20);
        OpenFile fixed = new OpenFile("raw", device.open(), 1 << 20, true);
        FileDevice raw = new FileDevice(fixed, calls, ImmediateQueue::new);
        raw.allocate(1 << 20);
        assertThrows(NoSpaceException.class, () -> raw.allocate((1 << 20) + PAGE));
        assertFalse(raw.mayHaveHoles());
        assertTrue(device.mayHaveHoles());
    }

    @Test
    void aQueueReportsEachFailureWithItsTag() {
        device.allocate(1 << 20);
        long pages = pool.allocate(4 * PAGE);
        try (IoQueue queue = device.newQueue(4)) {
            for (int i = 0; i < 4; i++) {
                queue.read((long) i * PAGE, pages + (long) i * PAGE, PAGE, 100 + i);
            }
            calls.next(PASS, -Errno.EIO, PASS, -Errno.EIO);
            int failures = 0;
            while (queue.pending() > 0) {
                try {
                    assertTrue(queue.await() % 2 == 0);
                } catch (StoreException e) {
                    assertTrue(queue.failedTag() % 2 == 1);
                    failures++;
                }
            }
            assertEquals(2, failures);
        }
    }
}
