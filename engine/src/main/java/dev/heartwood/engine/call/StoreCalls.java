package dev.heartwood.engine.call;

import dev.heartwood.ClosedException;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Epochs;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The calls of a store: refuses them once the store is closed, and has who closes it wait for those that began before. Every call begins
 * here; {@code StoreLifecycle} alone closes it. Thread-safe.
 *
 * <pre>
 *  field      read       written    guarded by
 *  closed     volatile   once       the lock of {@code StoreLifecycle}; a call looks after it has its operation, and again after it has waited
 *  applying   volatile   counted    -; raised by a call, which who closes waits for until then
 * </pre>
 */
public final class StoreCalls {
    private static final long POLL_NANOS = 100_000;

    private final Operations operations;
    private final Epochs epochs;
    private final AtomicInteger applying = new AtomicInteger();
    private volatile boolean closed;

    public StoreCalls(Operations operations, Epochs epochs) {
        this.operations = operations;
        this.epochs = epochs;
    }

    /** Begins a call; refuses it when the store is closed. */
    public Operation begin() {
        return requireOpen(operations.begin());
    }

    /** As {@link #begin} for a cursor, which locks the pages it reads: however long it takes, it holds nothing back. */
    public Operation beginOutsideEpoch() {
        return requireOpen(operations.beginOutsideEpoch(this));
    }

    /** As {@link #begin} for what gives something back, and looks itself whether the store, closed, has done so. */
    public Operation beginAnyway() {
        return operations.begin();
    }

    private Operation requireOpen(Operation operation) {
        if (closed) {
            operation.end();
            throw new ClosedException("the store");
        }
        return operation;
    }

    /** Refuses what does not touch shared memory when the store is closed. */
    public void requireOpen() {
        if (closed) {
            throw new ClosedException("the store");
        }
    }

    public boolean isClosed() {
        return closed;
    }

    /** Makes room for what a call copies. The call may have waited for it, so it looks again whether the store is closed. */
    public void require(Operation operation, Operation.Copied copied, long bytes) {
        operation.require(copied, bytes);
        requireOpen();
    }

    /** As the other for a key to be looked up. */
    public void requireForRead(Operation operation, int keyBytes) {
        operation.requireForRead(keyBytes);
        requireOpen();
    }

    /**
     * A call, which ends now, goes on with user code and needs nothing of the store any more; {@link #applied} must follow. Who closes waits for it
     * all the same.
     */
    public void applies() {
        applying.incrementAndGet();
    }

    public void applied() {
        applying.decrementAndGet();
    }

    /** Refuses calls from now on. */
    public void close() {
        closed = true;
    }

    /** After {@link #close}: waits until every call that saw the store open has ended. */
    public void awaitEnd() {
        epochs.awaitOperations();
        operations.awaitUsers(this);
        while (applying.get() > 0) {
            Clock.SYSTEM.parkNanos(POLL_NANOS);
        }
    }
}
