package dev.heartwood.engine.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.os.Errno;
import dev.heartwood.engine.os.MemoryPool;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Every error number there is, from every call on a data file: a typed exception that names it, or the call is made again. */
class ErrnoTest {
    /** EHWPOISON, the last. */
    private static final int ERRNO_MAX = 133;

    private static final int PAGE = BlockDevice.ALIGNMENT;
    private static final Set<Integer> TRANSIENT = Set.of(Errno.EINTR, Errno.EAGAIN);
    private static final Set<Integer> FULL = Set.of(Errno.ENOSPC, Errno.EDQUOT);
    private static final String GROWTH = "fallocate beyond the end";

    /**
     * What the manual pages of open, statx, fcntl, ftruncate, pread, pwrite, pwritev, fsync, fallocate, ioctl, mmap, msync, madvise,
     * rename, unlink, mkdir, getdents, io_uring_enter, io_submit and io_getevents list, and what block devices and file systems hand up.
     */
    private static final String[] LISTED =
            """
            EPERM 1 ENOENT 2 EINTR 4 EIO 5 ENXIO 6 EBADF 9 EAGAIN 11 ENOMEM 12 EACCES 13 EFAULT 14 EBUSY 16 EEXIST 17
            EXDEV 18 ENODEV 19 ENOTDIR 20 EISDIR 21 EINVAL 22 ENFILE 23 EMFILE 24 ENOTTY 25 ETXTBSY 26 EFBIG 27
            ENOSPC 28 ESPIPE 29 EROFS 30 EMLINK 31 EDEADLK 35 ENAMETOOLONG 36 ENOLCK 37 ENOSYS 38 ENOTEMPTY 39
            ELOOP 40 EBADE 52 EBADR 53 ENODATA 61 ETIME 62 ENOLINK 67 EPROTO 71 EBADMSG 74 EOVERFLOW 75 EBADFD 77
            EILSEQ 84 EDESTADDRREQ 89 EOPNOTSUPP 95 ENOBUFS 105 ESHUTDOWN 108 ETIMEDOUT 110 ESTALE 116 EUCLEAN 117
            EREMOTEIO 121 EDQUOT 122 ENOMEDIUM 123 ECANCELED 125 ENOKEY 126 EKEYREJECTED 129 EHWPOISON 133
            """
                    .split("\\s+");

    /** Answers the next call with an error, and those after it as the real file does. */
    private static final class OneError implements DeviceCalls {
        private final DeviceCalls real = DeviceBinding.POSIX.calls();
        private int errno;

        private boolean fails() {
            return errno != 0;
        }

        private long take() {
            int taken = errno;
            errno = 0;
            return -taken;
        }

        @Override
        public long pread(int descriptor, long address, long length, long position) {
            return fails() ? take() : real.pread(descriptor, address, length, position);
        }

        @Override
        public long pwrite(int descriptor, long address, long length, long position) {
            return fails() ? take() : real.pwrite(descriptor, address, length, position);
        }

        @Override
        public long pwritev(int descriptor, long vector, int count, long position) {
            return fails() ? take() : real.pwritev(descriptor, vector, count, position);
        }

        @Override
        public long fdatasync(int descriptor) {
            return fails() ? take() : real.fdatasync(descriptor);
        }

        @Override
        public long fallocate(int descriptor, int mode, long position, long length) {
            return fails() ? take() : real.fallocate(descriptor, mode, position, length);
        }
    }

    private final TestDirectory directory = TestDirectory.make();
    private final Directory files = new Directory(directory.path());
    private final MemoryPool pool = MemoryPool.open(4 << 20);
    private final OneError calls = new OneError();
    private final FileDevice device =
            new FileDevice(DataFiles.create(files, "data", IoMode.DIRECT), calls, ImmediateQueue::new);
    private final long page = pool.allocate(PAGE);
    private long allocated = 1 << 20;

    @AfterEach
    void close() {
        device.close();
        files.close();
        pool.close();
        directory.close();
    }

    @Test
    void everyErrnoOfEveryCallIsTyped() {
        device.allocate(allocated);
        for (int errno = 1; errno <= ERRNO_MAX; errno++) {
            Set<Integer> unsupported = Set.of(Errno.EOPNOTSUPP, Errno.ENOSYS);
            require(errno, TRANSIENT, "pread", () -> device.read(0, page, PAGE));
            require(errno, TRANSIENT, "pwrite", () -> device.write(0, page, PAGE));
            require(errno, TRANSIENT, "pwritev", () -> device.writePages(0, new long[] {page}, 1));
            require(errno, Set.of(Errno.EINTR), "fdatasync", device::sync);
            require(errno, errno == Errno.EINTR ? TRANSIENT : unsupported, GROWTH, () -> {
                device.allocate(allocated + PAGE);
                allocated += PAGE;
            });
            require(errno, TRANSIENT, "read", this::readThroughAQueue);
        }
    }

    private void readThroughAQueue() {
        try (IoQueue queue = device.newQueue(1)) {
            queue.read(0, page, PAGE, 1);
            queue.await();
        }
    }

    /** Punching is asked for once where it is not possible, so each number has a device of its own. */
    @Test
    void everyErrnoOfADiscardIsTyped() {
        device.allocate(allocated);
        for (int errno = 1; errno <= ERRNO_MAX; errno++) {
            OpenFile file = new OpenFile("data", device.open(), allocated, false);
            FileDevice fresh = new FileDevice(file, calls, ImmediateQueue::new);
            Set<Integer> done = Set.of(Errno.EINTR, Errno.EOPNOTSUPP, Errno.ENOSYS);
            require(errno, done, "fallocate", () -> fresh.discard(0, PAGE));
        }
    }

    /** As {@link #everyErrnoOfADiscardIsTyped}, of giving a hole its blocks again. */
    @Test
    void everyErrnoOfARestoreIsTyped() {
        device.allocate(allocated);
        for (int errno = 1; errno <= ERRNO_MAX; errno++) {
            // What was interrupted filled the hole when it was tried again.
            device.discard(0, PAGE);
            OpenFile file = new OpenFile("data", device.open(), allocated, false);
            FileDevice fresh = new FileDevice(file, calls, ImmediateQueue::new);
            Set<Integer> done = Set.of(Errno.EINTR, Errno.EOPNOTSUPP, Errno.ENOSYS);
            require(errno, done, "fallocate", () -> fresh.restore(0, PAGE));
        }
    }

    private void require(int errno, Set<Integer> overcome, String operation, Runnable call) {
        calls.errno = errno;
        String what = operation + " with " + Errno.name(errno);
        if (overcome.contains(errno)) {
            call.run();
            return;
        }
        StoreException refusal = assertThrows(StoreException.class, call::run, what);
        assertFalse(calls.fails(), what + " was not made");
        boolean isFull = FULL.contains(errno) || errno == Errno.EFBIG && operation.equals(GROWTH);
        if (isFull && !operation.contains("read")) {
            assertEquals(NoSpaceException.class, refusal.getClass(), what);
            return;
        }
        if (errno == Errno.ENOMEM && operation.contains("read")) {
            assertEquals(InsufficientMemoryException.class, refusal.getClass(), what);
            assertTrue(refusal.getMessage().contains("ENOMEM"), what);
            return;
        }
        StoreIoException failure = (StoreIoException) refusal;
        assertEquals(errno, failure.errno(), what);
        assertEquals(Errno.name(errno), failure.errnoName(), what);
        assertEquals(operation.contains("read"), failure instanceof ReadFailedException, what);
    }

    @Test
    void everyErrnoThatIsListedHasItsName() {
        for (int i = 0; i < LISTED.length; i += 2) {
            assertEquals(LISTED[i], Errno.name(Integer.parseInt(LISTED[i + 1])));
        }
    }
}
