package dev.heartwood.engine.call;

import dev.heartwood.ByteSize;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.call.Operation.Copied;
import dev.heartwood.engine.os.MemoryPool;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The operations of an environment, one for each epoch slot, made when first needed. Thread-safe. */
public final class Operations {
    /** How often a call looks again, after all others have ended, before it gives up. */
    private static final int ROUNDS_MAX = 16;

    private static final long POLL_NANOS = 100_000;

    /*
     * Operations wait, with their slots and with memory, for merges and packing, and those for the merge operators and filters that they
     * call. So for the calls of user code there are some slots more, and they do not wait until others give memory back.
     */
    private final Epochs epochs;
    private final MemoryPool buffers;
    private final UserCode userCode;
    private final ByteSize memory;
    private final long writeBytesMax;
    private final AtomicReferenceArray<Operation> bySlot = new AtomicReferenceArray<>(Epochs.SLOTS_ALL);

    /**
     * Operations over the memory for calls.
     *
     * @param memory the budget that {@code buffers} are a part of, for what is said where they have too little
     * @param writeBytesMax what memtables take of one write
     */
    public Operations(Epochs epochs, MemoryPool buffers, UserCode userCode, ByteSize memory, long writeBytesMax) {
        this.epochs = epochs;
        this.buffers = buffers;
        this.userCode = userCode;
        this.memory = memory;
        this.writeBytesMax = writeBytesMax;
    }

    /** Begins a call; its {@link Operation#end} must follow. */
    public Operation begin() {
        return take(userCode.isWithin() ? epochs.enterAwaited(false) : epochs.enter());
    }

    /**
     * Begins a call outside of any epoch, which reads only what it has locked or holds a reference to; {@link #awaitUsers} knows it
     * by what it uses.
     */
    Operation beginOutsideEpoch(Object uses) {
        Operation operation = take(userCode.isWithin() ? epochs.enterAwaited(true) : epochs.enterSuspended());
        operation.stayOutside(uses);
        return operation;
    }

    /** Waits until no call outside of an epoch uses {@code used} any more; none may begin to. */
    public void awaitUsers(Object used) {
        for (int i = 0; i < bySlot.length(); i++) {
            Operation operation = bySlot.get(i);
            while (operation != null && operation.uses(used)) {
                Clock.SYSTEM.parkNanos(POLL_NANOS);
            }
        }
    }

    private Operation take(int slot) {
        Operation operation = bySlot.getPlain(slot);
        if (operation == null) {
            operation = bySlot.getAcquire(slot);
            if (operation == null) {
                operation = make(slot);
                bySlot.setRelease(slot, operation);
            }
        }
        operation.begin(slot);
        return operation;
    }

    private Operation make(int slot) {
        try {
            return new Operation(this, epochs, buffers);
        } catch (Error full) {
            epochs.exit(slot); // a full Java heap; nobody would give the slot back
            throw full;
        }
    }

    /** Leaves the epoch of a call, if it is in one, without giving its operation up, waits, and enters an epoch again. */
    void runOutside(Operation operation, Runnable waiting) {
        if (operation.isOutside()) {
            waiting.run();
            return;
        }
        epochs.suspend(operation.slot());
        try {
            waiting.run();
        } finally {
            epochs.resume(operation.slot());
        }
    }

    /**
     * Memory for a call that found none, and so holds none. Other calls give theirs back when they end; who waits is outside of
     * the epoch and holds nothing, so calls that wait do not wait for each other. Cursors may keep memory for any time: when calls
     * hold no large block any more and there is still none, the call fails.
     *
     * @throws InsufficientMemoryException when there is no such block even in an empty pool, or calls do not hold what is missing
     */
    long awaitMemory(Operation operation, Copied copied, long bytes) {
        if (bytes > blockBytesMax()) {
            throw copied == Copied.WRITE ? tooLarge(bytes) : tooLarge(copied, bytes);
        }
        operation.free();
        long[] address = new long[1];
        runOutside(operation, () -> address[0] = pollMemory(operation, bytes));
        if (address[0] == 0) {
            throw new InsufficientMemoryException("no memory for a call that takes " + bytes
                    + " bytes now: other calls, cursors and open stores hold it; try again, or raise the memory option");
        }
        return address[0];
    }

    private long blockBytesMax() {
        return Long.highestOneBit(buffers.capacity());
    }

    /** Why a write is refused that is larger than memtables or calls have room for one, whichever of them has found that out. */
    public InsufficientMemoryException tooLarge(long bytes) {
        return new InsufficientMemoryException("a write of " + bytes + " bytes needs more than the "
                + new ByteSize(Math.min(writeBytesMax, blockBytesMax())) + " that a memory of " + memory
                + " has for one; larger values and batches need more memory");
    }

    private InsufficientMemoryException tooLarge(Copied copied, long bytes) {
        return new InsufficientMemoryException(copied + " of " + bytes + " bytes needs more than the " + new ByteSize(blockBytesMax())
                + " that a memory of " + memory + " has for a call; raise the memory option");
    }

    private long pollMemory(Operation operation, long bytes) {
        for (int rounds = 0; rounds < ROUNDS_MAX; rounds++) {
            long stamp = epochs.advance();
            boolean ended;
            do {
                ended = epochs.passed(stamp) && (userCode.isWithin() || !isAnySpilled(operation));
                freeIdle();
                long address = buffers.allocate(bytes);
                if (address != 0) {
                    return address;
                }
                Clock.SYSTEM.parkNanos(POLL_NANOS);
            } while (!ended);
        }
        return 0;
    }

    private boolean isAnySpilled(Operation except) {
        for (int i = 0; i < bySlot.length(); i++) {
            Operation operation = bySlot.get(i);
            if (operation != null && operation != except && operation.isSpilled()) {
                return true;
            }
        }
        return false;
    }

    /** Takes the scratch from slots that no call has. */
    private void freeIdle() {
        for (int i = 0; i < bySlot.length(); i++) {
            Operation operation = bySlot.get(i);
            if (operation != null && epochs.tryEnter(i)) {
                operation.free();
                epochs.exit(i);
            }
        }
    }

    /** Gives the scratch memory back; only when no call can come any more. */
    public void close() {
        for (int i = 0; i < bySlot.length(); i++) {
            Operation operation = bySlot.get(i);
            if (operation != null) {
                operation.free();
            }
        }
    }
}
