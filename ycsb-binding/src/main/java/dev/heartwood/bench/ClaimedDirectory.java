package dev.heartwood.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
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
        return of(directory, () -> {});
    }

    /** @param whenOpened is run each time the file has been opened and not been locked yet */
    static ClaimedDirectory of(Path directory, Action whenOpened) throws IOException {
        Path file = directory.resolve(LOCK);
        while (true) {
            FileChannel channel = open(directory, file);
            whenOpened.run();
            if (lock(channel) == null) {
                channel.close();
                throw new IOException("another heartwood bench uses " + directory + " (choose another with --dir)");
            }
            if (isStill(file, channel)) {
                return new ClaimedDirectory(file, channel);
            }
            channel.close(); // another has deleted it in between
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

    /** Whether what is locked is what others will open: what is written to the one is found in the other. */
    private static boolean isStill(Path file, FileChannel locked) throws IOException {
        String owner = ProcessHandle.current().pid() + " " + System.nanoTime() + "\n";
        locked.truncate(0);
        locked.write(ByteBuffer.wrap(owner.getBytes(StandardCharsets.US_ASCII)), 0);
        try {
            return Files.readString(file, StandardCharsets.US_ASCII).equals(owner);
        } catch (NoSuchFileException deleted) {
            return false;
        }
    }

    private static FileLock lock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            return null; // held within this process
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
