package dev.heartwood.engine.os;

/**
 * Reads and writes that the kernel carries out while the process goes on: they go in through {@link #prepare}, start with
 * {@link #enter}, and come out through {@link #completed}. For one thread at a time. Allocates nothing once it is open.
 */
public interface Ring extends AutoCloseable {
    /** The operations that can be under way at once. */
    int entries();

    /** Prepares a write, or a read; {@code userData} comes back with its completion. The ring has room. */
    void prepare(boolean isWrite, int file, long address, int length, long position, long userData);

    /** Prepares a read, as {@link #prepare}. */
    default void read(int file, long address, int length, long position, long userData) {
        prepare(false, file, address, length, position, userData);
    }

    /** Operations prepared and not yet taken by the kernel. */
    int unsubmitted();

    /**
     * Starts what is prepared and waits until {@code completionsMin} operations are done, 0 or 1 of them. Returns 0
     * or more, or minus errno; EINTR, EAGAIN and EBUSY may be tried again.
     */
    int enter(int completionsMin);

    /** The name of the system call that {@link #enter} makes. */
    String enterCall();

    /** Whether the kernel has taken an operation whose completion was not read. */
    boolean isUnderWay();

    /** Whether a completion can be read. */
    boolean completed();

    /** The user data of the first unread completion. */
    long completedUserData();

    /** The bytes that the first unread completion transferred, or minus errno. */
    int completedResult();

    /** Marks the first unread completion as read. */
    void next();

    /**
     * Returns when nothing is under way, even where no call can be made because the Java heap or the stack is full; completions are dropped. What
     * the kernel has not taken stays in the ring, which may only be closed then.
     */
    default void drain() {
        while (isUnderWay()) {
            if (completed()) {
                next();
            } else {
                giveWay();
            }
        }
    }

    private static void giveWay() {
        try {
            Thread.yield();
        } catch (OutOfMemoryError | StackOverflowError e) {
            Thread.onSpinWait(); // it comes in any case, at the next interrupt at the latest
        }
    }

    /** Gives the ring back to the kernel; nothing may be under way. Idempotent. */
    @Override
    void close();
}
