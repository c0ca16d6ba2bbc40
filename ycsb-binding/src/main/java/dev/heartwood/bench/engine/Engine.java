package dev.heartwood.bench.engine;

import java.io.IOException;

/** A store under measurement. Thread-safe. */
public interface Engine extends AutoCloseable {
    /** What a session is for. */
    enum Access {
        /** Single operations, each with the durability of the settings. */
        OPERATIONS,
        /**
         * Puts that may be grouped where the engine gains by it, and that count as written when the session
         * closes.
         */
        LOAD
    }

    /** A session of the calling thread on {@code buffer}. */
    Session session(RecordBuffer buffer, Access access);

    /** Makes everything written survive the loss of power. */
    void sync();

    /** Waits until all work that earlier writes have caused is done and on the device. */
    void settle() throws InterruptedException;

    /**
     * Changes how many memtables there are between two checkpoints, and waits until nothing is left unwritten that was kept for the
     * distance before.
     *
     * @throws IllegalStateException when the engine has no such setting
     */
    default void retune(int distance) {
        throw new IllegalStateException("it has no checkpoint distance");
    }

    /** What the engine tells about itself, for people to read; empty when it tells nothing. */
    String describe();

    /** Closes the store. No session is open. */
    @Override
    void close() throws IOException;
}
