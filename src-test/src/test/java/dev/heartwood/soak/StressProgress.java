package dev.heartwood.soak;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * How far a thread of a store has come, in a file that outlives the process. The thread notes its own writes, another what checkpoints have
 * made durable.
 */
final class StressProgress implements AutoCloseable {
    private final RandomAccessFile file;
    private long acknowledged;
    private long durable;
    private long discarded;

    /** The progress that a file tells of; none where there is no file yet. */
    StressProgress(Path path) {
        try {
            file = new RandomAccessFile(path.toFile(), "rw");
            byte[] bytes = new byte[3 * Long.BYTES];
            if (file.read(bytes) == bytes.length) {
                ByteBuffer numbers = ByteBuffer.wrap(bytes);
                acknowledged = numbers.getLong();
                durable = numbers.getLong();
                discarded = numbers.getLong();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The writes whose calls have returned. */
    synchronized long acknowledged() {
        return acknowledged;
    }

    /** Those of them that a kill may not take. */
    synchronized long durable() {
        return durable;
    }

    /** The writes that had been made when the range was discarded last. */
    synchronized long discarded() {
        return discarded;
    }

    /** So many writes are there, as the store has shown, and durable since it has been opened with them. */
    synchronized void found(long writes) {
        acknowledged = writes;
        durable = writes;
        discarded = Math.min(discarded, writes);
        write();
    }

    /** So many writes have been acknowledged. */
    synchronized void acknowledged(long writes, boolean logged) {
        acknowledged = writes;
        if (logged) {
            durable = writes;
        }
        write();
    }

    /** So many writes are durable, since a checkpoint was made after them. */
    synchronized void durable(long writes) {
        durable = Math.max(durable, writes);
        write();
    }

    /** What was written so far is about to be discarded. */
    synchronized void discarding() {
        discarded = acknowledged;
        write();
    }

    private void write() {
        try {
            file.seek(0);
            file.write(ByteBuffer.allocate(3 * Long.BYTES)
                    .putLong(acknowledged)
                    .putLong(durable)
                    .putLong(discarded)
                    .array());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
