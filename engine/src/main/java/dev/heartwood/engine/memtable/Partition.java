package dev.heartwood.engine.memtable;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** The shared words of one partition of the hash index, with its spin lock. */
final class Partition {
    /*
     * Shared field   read                        written     guarded by
     * locked         opaque                      CAS 0 -> 1, release 0
     * table          acquire; plain under lock   release     lock; growing
     * overflow       acquire; plain under lock   release     lock
     * used           opaque; plain under lock    opaque      lock
     * growing        -                           CAS 0 -> 1, release 0
     *
     * The lock is held for a few memory accesses and while a table is copied, never over anything that can block. Who waits
     * yields after a few tries, so that the holder runs even when all threads share one carrier or one core.
     */
    private static final int SPINS_BEFORE_YIELD = 64;

    private static final VarHandle LOCKED;
    private static final VarHandle TABLE;
    private static final VarHandle OVERFLOW;
    private static final VarHandle USED;
    private static final VarHandle GROWING;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            LOCKED = lookup.findVarHandle(Partition.class, "locked", int.class);
            TABLE = lookup.findVarHandle(Partition.class, "table", long.class);
            OVERFLOW = lookup.findVarHandle(Partition.class, "overflow", long.class);
            USED = lookup.findVarHandle(Partition.class, "used", int.class);
            GROWING = lookup.findVarHandle(Partition.class, "growing", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private long table;
    private long overflow;
    private int locked;
    private int used;
    private int growing;

    // Keeps neighbours off this partition's cache line.
    @SuppressWarnings("unused")
    private long after0, after1, after2, after3, after4;

    void lock() {
        int tries = 0;
        while ((int) LOCKED.getOpaque(this) != 0 || !LOCKED.compareAndSet(this, 0, 1)) {
            if (++tries < SPINS_BEFORE_YIELD) {
                Thread.onSpinWait();
            } else {
                tries = 0;
                Thread.yield();
            }
        }
    }

    void unlock() {
        LOCKED.setRelease(this, 0);
    }

    /** Becomes the one thread that makes this partition's next table; false when another one does. */
    boolean beginGrowth() {
        return GROWING.compareAndSet(this, 0, 1);
    }

    void endGrowth() {
        GROWING.setRelease(this, 0);
    }

    /** The table word; 0 when there is none yet. See {@link HashIndex}. */
    long table() {
        return (long) TABLE.getAcquire(this);
    }

    void setTable(long word) {
        TABLE.setRelease(this, word);
    }

    /** The first node of the overflow list, or 0. */
    long overflow() {
        return (long) OVERFLOW.getAcquire(this);
    }

    void setOverflow(long node) {
        OVERFLOW.setRelease(this, node);
    }

    /** Slots of the table in use. */
    int used() {
        return (int) USED.getOpaque(this);
    }

    void setUsed(int count) {
        USED.setOpaque(this, count);
    }
}
