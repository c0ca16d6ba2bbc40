package dev.heartwood.bench;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The directory of a benchmark while it runs: another one would delete its stores, which it takes for what an earlier one has left. */
final class ClaimedDirectory implements AutoCloseable {
    static final String LOCK = "bench.lock";

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
        Path file = directory.resolve(LOCK);
        FileChannel channel;
        try {
            Files.createDirectories(directory);
            channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw new IOException("cannot make the directory " + directory + " (choose another with --dir): " + e, e);
        }
        if (lock(channel) == null) {
            channel.close();
            throw new IOException("another heartwood bench uses " + directory + " (choose another with --dir)");
        }
        return new ClaimedDirectory(file, channel);
    }

    private static FileLock lock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            return null; // held within this process
        }
    }

    /** Gives the directory up. */
    @Override
    public void close() throws IOException {
        try (channel) {
            Files.deleteIfExists(file);
        }
    }
}
