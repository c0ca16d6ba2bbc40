package dev.heartwood.bench.engine;

import java.io.IOException;
import java.util.List;

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

    /**
     * Waits until all work that earlier writes have caused is done and on the device, and has some done that the engine might have left for
     * later, as the package says of each.
     */
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

    /**
     * Something that the engine has changed by itself.
     *
     * @param nanoTime when, by {@link System#nanoTime}
     * @param what what, and why
     */
    record Change(long nanoTime, String what) {}

    /** What it has changed by itself since this was last called, oldest first. */
    default List<Change> changes() {
        return List.of();
    }

    /** What the engine tells about itself, for people to read; empty when it tells nothing. */
    String describe();

    /** Closes the store. No session is open. */
    @Override
    void close() throws IOException;
}
