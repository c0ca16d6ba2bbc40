package dev.heartwood.engine.call;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.lang.foreign.MemorySegment;

/**
 * What a running call owns: its epoch, and scratch for a key and a value. There is one for each epoch slot, used by one call at a
 * time, so calls allocate nothing.
 */
public final class Operation {
    /** What a call copies to native memory. */
    public enum Copied {
        WRITE("a write"),
        KEY_READ("a read"),
        KEY_SOUGHT("a seek"),
        GROUP("a group");

        private final String named;

        Copied(String named) {
            this.named = named;
        }

        @Override
        public String toString() {
            return named;
        }
    }

    private static final long SCRATCH_BYTES = 4096;

    private final Epochs epochs;
    private final MemoryPool buffers;
    private final Operations owner;
    public final FoundEntry found = new FoundEntry();
    private int slot;
    private long scratch;
    private long scratchUsed;
    private long spill;
    private volatile long spillBytes;
    /** Whether the call is outside of any epoch from its begin to its end. */
    private boolean outside;

    /** What the call needs although it is outside of an epoch. */
    private volatile Object used;

    private EntryResolver.Operands operands;

    Operation(Operations owner, Epochs epochs, MemoryPool buffers) {
        this.owner = owner;
        this.epochs = epochs;
        this.buffers = buffers;
    }

    void begin(int enteredSlot) {
        slot = enteredSlot;
        outside = false;
        scratchUsed = 0;
        found.room = 0;
        found.begin(FoundEntry.Waits.FOR_ALL, false);
        operands = null;
    }

    /** Ends the call: gives spilled memory back and leaves the epoch. */
    public void end() {
        try {
            if (spill != 0) {
                buffers.free(spill, spillBytes);
                spill = 0;
                spillBytes = 0;
            }
        } finally {
            if (used != null) {
                used = null;
            }
            epochs.exit(slot);
        }
    }

    /** Leaves what the call is to apply when it has ended. */
    public void leave(EntryResolver.Operands gathered) {
        operands = gathered;
    }

    /** What was left, or null; before the call ends. */
    public EntryResolver.Operands takeOperands() {
        EntryResolver.Operands left = operands;
        if (left != null) {
            operands = null;
        }
        return left;
    }

    public void use(Object needed) {
        used = needed;
    }

    /** The call is outside of any epoch until it ends, and uses {@code needed}. */
    void stayOutside(Object needed) {
        outside = true;
        used = needed;
    }

    boolean isOutside() {
        return outside;
    }

    boolean uses(Object needed) {
        return used == needed;
    }

    public int slot() {
        return slot;
    }

    /** Runs something that may wait, outside the epoch; shared memory seen before must not be used after. */
    public void outsideEpoch(Runnable waiting) {
        owner.runOutside(this, waiting);
    }

    /** Runs something long outside the epoch that uses {@code needed}, which waits for it before it closes. */
    public void outsideEpoch(Object needed, Runnable work) {
        use(needed);
        try {
            owner.runOutside(this, work);
        } finally {
            use(null);
        }
    }

    /** Waits, outside the epoch, until all calls active now have ended; shared memory seen before must not be used after. */
    public void awaitOthers() {
        owner.runOutside(this, epochs::awaitOperations);
    }

    /**
     * Makes room for {@code bytes} in all that this call copies; must come before the first copy. May wait outside the epoch
     * while other calls hold the memory.
     *
     * @param copied what is refused if it can never have so many
     * @throws InsufficientMemoryException when the budget has no memory for it
     */
    public void require(Copied copied, long bytes) {
        if (bytes > SCRATCH_BYTES) {
            spill = allocate(copied, bytes);
            spillBytes = bytes;
        } else if (scratch == 0) {
            scratch = allocate(copied, SCRATCH_BYTES);
        }
    }

    /** As {@link #require(Copied, long)} for a key to be looked up, with room for a value in two pieces. */
    void requireForRead(long keyBytes) {
        require(Copied.KEY_READ, keyBytes + FoundEntry.ROOM_BYTES);
        found.room = reserve(FoundEntry.ROOM_BYTES);
    }

    private long allocate(Copied copied, long bytes) {
        long address = buffers.allocate(bytes);
        return address != 0 ? address : owner.awaitMemory(this, copied, bytes);
    }

    /** Whether the call has memory beyond its scratch; for other threads a moment's view. */
    boolean isSpilled() {
        return spillBytes != 0;
    }

    /** Copies bytes to native memory and returns their address. */
    public long copy(byte[] bytes) {
        long to = next(bytes.length);
        Memory.copyFrom(bytes, 0, to, bytes.length);
        return to;
    }

    /** Copies bytes to native memory and returns their address. */
    public long copy(MemorySegment bytes) {
        long to = next(bytes.byteSize());
        Memory.copyFrom(bytes, 0, to, bytes.byteSize());
        return to;
    }

    /** Room within what {@link #require(Copied, long)} made, for the caller to fill. */
    public long reserve(long bytes) {
        return next(bytes);
    }

    private long next(long bytes) {
        long to = (spill != 0 ? spill : scratch) + scratchUsed;
        scratchUsed += bytes;
        return to;
    }

    /** Gives the scratch back; by the call, or when the slot is taken and no call has it. */
    void free() {
        if (scratch != 0) {
            buffers.free(scratch, SCRATCH_BYTES);
            scratch = 0;
        }
    }
}
