package dev.heartwood.engine.cache;

import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.os.PoolModelChecking;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/** A counter in two plain fields, used by every level of the lock, is linearizable. */
public class DistributedLockLincheckTest {
    private static final int STRIPES = 2;
    // Each invocation begins with a new lock in the same memory.
    private static final long MEMORY = MemoryPool.open(1 << 16).allocate(DistributedLock.bytes(1, STRIPES));

    private final DistributedLock locks = new DistributedLock(MEMORY, 1, STRIPES);
    private int first;
    private int second;

    @Operation
    public int read() {
        locks.lockRead(0);
        try {
            return same();
        } finally {
            locks.unlockRead(0);
        }
    }

    @Operation
    public int write() {
        locks.lockWrite(0);
        try {
            return increment();
        } finally {
            locks.unlockWrite(0);
        }
    }

    @Operation
    public int readClaimWrite() {
        while (true) {
            locks.lockRead(0);
            if (locks.tryClaim(0)) {
                locks.upgrade(0);
                int result = increment();
                locks.downgrade(0);
                locks.unclaim(0);
                locks.unlockRead(0);
                return result;
            }
            locks.unlockRead(0);
            Thread.yield();
        }
    }

    @Operation
    public int tryWrite() {
        while (!locks.tryLockWrite(0)) {
            Thread.yield();
        }
        try {
            return increment();
        } finally {
            locks.unlockWrite(0);
        }
    }

    private int increment() {
        first++;
        second++;
        return same();
    }

    private int same() {
        if (first != second) {
            throw new AssertionError(first + " and " + second);
        }
        return first;
    }

    @Test
    void modelChecking() {
        PoolModelChecking.options()
                .iterations(6)
                .invocationsPerIteration(60)
                .threads(2)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(1)
                .check(getClass());
    }

    @Test
    void stress() {
        new StressOptions()
                .iterations(15)
                .invocationsPerIteration(500)
                .threads(3)
                .actorsPerThread(3)
                .check(getClass());
    }
}
