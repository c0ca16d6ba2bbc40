package dev.heartwood.engine.device;

import dev.heartwood.DeviceKind;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.os.Errno;
import dev.heartwood.engine.os.FileCalls;
import dev.heartwood.engine.os.FileLocks;
import dev.heartwood.engine.os.FileStatus;
import dev.heartwood.engine.os.PathCalls;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A store's directory in the file system. Its data file is read and written as {@link DeviceKind} and {@link IoMode}
 * say.
 */
public final class FileStorage implements Storage {
    /*
     * While it is open it holds one descriptor for the directory, one for the lock, and one per open device. Mapped
     * files hold none.
     */
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random");
    private static final int BOOT_ID_BYTES_MAX = 64;

    private final Directory directory;
    private final DeviceBinding binding;
    private final IoMode ioMode;
    private final FileAccess access;
    private final ReentrantLock stateLock = new ReentrantLock();
    // Guarded by stateLock.
    private StoreLock storeLock;
    private boolean closed;

    /**
     * Touches nothing yet.
     *
     * @throws java.nio.file.InvalidPathException as {@link NativePath#absolute}
     * @throws dev.heartwood.StoreIoException when {@code kind} asks for io_uring or AIO by name and the kernel denies it
     * @throws IllegalStateException when {@code kind} asks for jnr-ffi and it is missing
     */
    public FileStorage(Path directory, DeviceKind kind, IoMode ioMode) {
        this(directory, kind, ioMode, FileAccess.WRITE);
    }

    private FileStorage(Path directory, DeviceKind kind, IoMode ioMode, FileAccess access) {
        this.directory = new Directory(NativePath.absolute(directory));
        this.binding = DeviceBinding.of(kind);
        this.ioMode = ioMode;
        this.access = access;
        if (binding.usesUring()) {
            RingPool.URING.retain();
            RingPool.POLLED.retain();
        }
    }

    /**
     * Opens the data file and the log to be read alone, by pread, so that a read-only file system will do; there the lock is shared
     * with others who read. Touches nothing yet.
     */
    public static FileStorage reading(Path directory, IoMode ioMode) {
        return new FileStorage(directory, DeviceKind.POSIX, ioMode, FileAccess.READ);
    }

    @Override
    public Path directory() {
        return directory.path();
    }

    @Override
    public String bootId() {
        try (Directory random = new Directory(BOOT_ID)) {
            byte[] text = SmallFiles.read(random, "boot_id", BOOT_ID_BYTES_MAX);
            return new String(text, StandardCharsets.US_ASCII).strip();
        }
    }

    @Override
    public void lock() {
        stateLock.lock();
        try {
            if (storeLock != null || closed) {
                throw new IllegalStateException(closed ? "the storage is closed" : "this storage holds the lock");
            }
            if (access == FileAccess.WRITE) {
                directory.make();
            }
            storeLock = StoreLock.take(directory, access);
        } finally {
            stateLock.unlock();
        }
    }

    /** Without the lock file and files that were never finished. */
    @Override
    public List<String> list() {
        if (!directory.exists()) {
            return List.of();
        }
        return directory.list().stream()
                .filter(name -> !name.equals(StoreLock.NAME) && !name.endsWith(SmallFiles.UNFINISHED))
                .sorted()
                .toList();
    }

    @Override
    public boolean exists(String name) {
        return directory.exists() && status(name).errno() != Errno.ENOENT;
    }

    @Override
    public boolean isRawDevice(String name) {
        return directory.exists() && status(name).kind() == FileStatus.Kind.BLOCK_DEVICE;
    }

    @Override
    public long size(String name) {
        FileStatus status = status(name);
        if (status.errno() != 0) {
            throw Failures.of(-status.errno(), "statx", directory.pathOf(name), -1);
        }
        if (status.kind() != FileStatus.Kind.BLOCK_DEVICE) {
            return status.size();
        }
        int descriptor = directory.open(name, PathCalls.O_RDONLY);
        try {
            return DataFiles.blockDeviceBytes(descriptor, directory.pathOf(name));
        } finally {
            FileCalls.close(descriptor);
        }
    }

    private FileStatus status(String name) {
        FileStatus status = directory.status(name);
        if (status.errno() != 0 && status.errno() != Errno.ENOENT) {
            throw Failures.of(-status.errno(), "statx", directory.pathOf(name), -1);
        }
        return status;
    }

    @Override
    public byte[] readFile(String name, int lengthMax) {
        return SmallFiles.read(directory, name, lengthMax);
    }

    @Override
    public void writeFile(String name, byte[] contents) {
        SmallFiles.write(directory, name, contents);
    }

    @Override
    public BlockDevice openDevice(String name, boolean create) {
        OpenFile file =
                create ? DataFiles.create(directory, name, ioMode) : DataFiles.open(directory, name, ioMode, access);
        try {
            return new FileDevice(file, binding.calls(), binding.reads(ioMode), binding.queues(ioMode));
        } catch (Throwable e) {
            FileLocks.close(file.descriptor());
            throw e;
        }
    }

    @Override
    public MappedFile openMapped(String name, long length, long window) {
        return MappedSegment.create(directory, name, length, window);
    }

    @Override
    public MappedFile openMappedExisting(String name) {
        return MappedSegment.open(directory, name, access);
    }

    @Override
    public MappedFile openAtRest(String name) {
        return MappedSegment.openAtRest(directory, name, access);
    }

    @Override
    public MappedFile openRewritten(String name) {
        return MappedSegment.openRewritten(directory, name);
    }

    @Override
    public void delete(String name) {
        directory.delete(name);
    }

    @Override
    public void syncDirectory() {
        directory.sync();
    }

    @Override
    public void close() {
        stateLock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            closeAll();
        } finally {
            stateLock.unlock();
        }
    }

    /** All of it, whatever closing one part throws. */
    private void closeAll() {
        try {
            directory.close();
        } finally {
            try {
                if (storeLock != null) {
                    storeLock.close();
                }
            } finally {
                releaseRings();
            }
        }
    }

    private void releaseRings() {
        if (binding.usesUring()) {
            try {
                RingPool.URING.release();
            } finally {
                RingPool.POLLED.release();
            }
        }
    }
}
