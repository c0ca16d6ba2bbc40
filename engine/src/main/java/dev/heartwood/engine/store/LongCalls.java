package dev.heartwood.engine.store;

import dev.heartwood.ClosedException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/** Calls that take long and run beside all others; closing asks them to end and waits until they have. Thread-safe. */
final class LongCalls {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition ended = lock.newCondition();
    private int running;
    private volatile boolean closing;

    /** Runs a call, which asks {@link #requireOpen} now and then. */
    <T> T run(Supplier<T> call) {
        begin();
        try {
            return call.get();
        } finally {
            end();
        }
    }

    private void begin() {
        lock.lock();
        try {
            requireOpen();
            running++;
        } finally {
            lock.unlock();
        }
    }

    private void end() {
        lock.lock();
        try {
            running--;
            ended.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Ends a call whose store is being closed. */
    void requireOpen() {
        if (closing) {
            throw new ClosedException("the store");
        }
    }

    /** Lets no call begin any more and waits for those that run. */
    void close() {
        lock.lock();
        try {
            closing = true;
            while (running > 0) {
                ended.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }
}
