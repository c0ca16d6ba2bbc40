package dev.heartwood.planted;

import dev.heartwood.InsufficientMemoryException;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

/**
 * A read by a thread of its own that finds no frame when it looks its key up first, and waits outside of its epoch until it may go on; in the
 * engine that {@link ClosedBesideReadTest} has loaded, which calls {@link #finds} and {@link #waits} there.
 */
public final class WaitingRead {
    private static final ThreadLocal<WaitingRead> READ = new ThreadLocal<>();

    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch mayGoOn = new CountDownLatch(1);
    private final Thread thread;
    private boolean hasFailed;
    private volatile byte[] value;
    private volatile Throwable failure;

    /** Begins the read, and returns once it waits, or has ended. */
    WaitingRead(Supplier<byte[]> get) {
        thread = Thread.ofPlatform().start(() -> {
            READ.set(this);
            try {
                value = get.get();
            } catch (RuntimeException | Error e) {
                failure = e;
            } finally {
                begun.countDown();
            }
        });
        Waits.await(begun);
    }

    /** A read is about to look its key up. */
    public static void finds() {
        WaitingRead read = READ.get();
        if (read != null && !read.hasFailed) {
            read.hasFailed = true;
            throw new InsufficientMemoryException("for a test");
        }
    }

    /** A call has left its epoch, and is about to wait. */
    public static void waits() {
        WaitingRead read = READ.get();
        if (read != null) {
            read.begun.countDown();
            Waits.await(read.mayGoOn);
        }
    }

    void goOn() {
        mayGoOn.countDown();
    }

    Thread thread() {
        return thread;
    }

    /** What it has read; once its thread has ended. */
    byte[] value() {
        return value;
    }

    /** Why it has read nothing, or null; once its thread has ended. */
    Throwable failure() {
        return failure;
    }
}
