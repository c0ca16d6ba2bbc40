package dev.heartwood.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The directory of a benchmark while it runs: another one would delete its stores, which it takes for what an earlier one has left. */
final class ClaimedDirectory implements AutoCloseable {
    static final String LOCK = "bench.lock";

    /** The file has no blocks but one. */
    private static final long LENGTHS = 1L << 40;

    private final Path file;
    private final FileChannel channel;

    private ClaimedDirectory(Path file, FileChannel channel) {
        this.file = file;
        this.channel = channel;
    }

    /**
     * Claims a directory, which is made where there is none.
     *
     * @throws IOException when it cannot be made, or another benchmark has claimed it
     */
    static ClaimedDirectory of(Path directory) throws IOException {
        return of(directory, () -> {});
    }

    /** @param whenOpened is run each time the file has been opened and not been locked yet */
    static ClaimedDirectory of(Path directory, Action whenOpened) throws IOException {
        Path file = directory.resolve(LOCK);
        while (true) {
            ClaimedDirectory claim = new ClaimedDirectory(file, open(directory, file));
            try {
                whenOpened.run();
                if (!claim.isLocked()) {
                    throw new IOException("another heartwood bench uses " + directory + " (choose another with --dir)");
                }
                if (claim.isStill()) {
                    return claim;
                }
            } catch (IOException e) {
                claim.channel.close();
                throw e;
            }
            claim.channel.close(); // another has deleted it in between
        }
    }

    /** Something that may fail. */
    @FunctionalInterface
    interface Action {
        void run() throws IOException;
    }

    private static FileChannel open(Path directory, Path file) throws IOException {
        try {
            Files.createDirectories(directory);
            return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw new IOException("cannot make the directory " + directory + " (choose another with --dir): " + e, e);
        }
    }

    private boolean isLocked() throws IOException {
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            return false; // held within this process
        }
    }

    /**
     * Whether what is locked is what others will open: both have one length, which nobody else gives a file. The file is not opened for that, since
     * the system takes back a process's lock when it closes any descriptor of what is locked.
     */
    private boolean isStill() throws IOException {
        long length = 1 + Math.floorMod(System.nanoTime() * 0x9E3779B97F4A7C15L, LENGTHS);
        try {
            channel.truncate(0);
            channel.write(ByteBuffer.allocate(1), length - 1);
            return Files.size(file) == length;
        } catch (NoSuchFileException deleted) {
            return false;
        } catch (IOException e) {
            throw new IOException("cannot write " + file + " (choose another directory with --dir): " + e.getMessage(), e);
        }
    }

    /** Gives the directory up: the file is deleted while it is locked, so that nobody deletes another's. */
    @Override
    public void close() throws IOException {
        try (channel) {
            Files.deleteIfExists(file);
        }
    }
}
