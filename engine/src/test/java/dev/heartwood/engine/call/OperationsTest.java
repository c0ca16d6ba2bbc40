package dev.heartwood.engine.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.call.Operation.Copied;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OperationsTest {
    private static final int CAPACITY = 64 << 10;

    private final Epochs epochs = new Epochs();
    private final MemoryPool pool = MemoryPool.open(CAPACITY);
    private final Operations operations = new Operations(epochs, pool, new UserCode(), ByteSize.mib(256), Long.MAX_VALUE);

    @AfterEach
    void everythingComesBack() {
        operations.close();
        assertEquals(0, pool.allocated());
        pool.close();
    }

    @Test
    void callsWaitForEachOthersMemory() throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(6)) {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                int bytes = i % 3 == 0 ? CAPACITY : i % 3 == 1 ? CAPACITY / 4 : 100;
                running.add(threads.submit(() -> {
                    for (int n = 0; n < 300; n++) {
                        call(bytes);
                    }
                }));
            }
            for (Future<?> each : running) {
                each.get();
            }
        }
    }

    private void call(int bytes) {
        Operation operation = operations.begin();
        try {
            operation.require(Copied.WRITE, bytes);
            long address = operation.reserve(bytes);
            byte mine = (byte) Thread.currentThread().threadId();
            Memory.fill(address, bytes, mine);
            assertEquals(mine, Memory.getByte(address + bytes - 1));
        } finally {
            operation.end();
        }
    }

    @Test
    void scratchOfCallsThatAreOverIsNoObstacle() {
        Operation[] many = new Operation[8];
        for (int i = 0; i < many.length; i++) {
            many[i] = operations.begin();
            many[i].require(Copied.WRITE, 100);
        }
        for (Operation each : many) {
            each.end();
        }
        call(CAPACITY);
    }

    @Test
    void whatCallsDoNotHoldIsNotWaitedFor() {
        long held = pool.allocate(CAPACITY / 2);
        InsufficientMemoryException refused = assertThrows(InsufficientMemoryException.class, () -> call(CAPACITY));
        assertEquals(
                "no memory for a call that takes 65536 bytes now: other calls, cursors and open stores hold it; try again, or raise the memory option",
                refused.getMessage());
        call(CAPACITY / 2);
        pool.free(held, CAPACITY / 2);
        call(CAPACITY);
    }

    /** A move of a cursor that waited for memory holds nobody back after it either, and may wait for all calls that are active. */
    @Test
    void aCallOutsideOfEpochsStaysThereWhenItHasWaited() throws InterruptedException {
        Operation other = operations.begin();
        other.require(Copied.WRITE, CAPACITY);
        Thread waiter = Thread.currentThread();
        Thread ending = Thread.ofPlatform().start(() -> {
            while (waiter.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            other.end();
        });
        Operation move = operations.beginOutsideEpoch(this);
        move.require(Copied.WRITE, CAPACITY / 2);
        ending.join(); // the other call gives its memory back before it leaves its epoch
        assertTrue(epochs.passed(epochs.advance()), "who waits for active calls would wait for this one");
        move.end();
    }

    /** One message for both blamed a key and a value, and named no limit. */
    @Test
    void whatCanNeverFitIsRefusedByTheNameOfTheLimit() {
        InsufficientMemoryException refused =
                assertThrows(InsufficientMemoryException.class, () -> call(CAPACITY + 1));
        assertEquals(
                "a write of 65537 bytes needs more than the 64k that a memory of 256m has for one; larger values and"
                        + " batches need more memory",
                refused.getMessage());
    }

    /** A group that a cursor was to walk, as long as that, was called a write. */
    @ParameterizedTest
    @CsvSource({"GROUP, a group", "KEY_SOUGHT, a seek", "KEY_READ, a read"})
    void whatIsNoWriteIsNotCalledOne(Copied copied, String named) {
        Operation operation = operations.begin();
        InsufficientMemoryException refused =
                assertThrows(InsufficientMemoryException.class, () -> operation.require(copied, CAPACITY + 1));
        operation.end();
        assertEquals(
                named + " of 65537 bytes needs more than the 64k that a memory of 256m has for a call; raise the memory option",
                refused.getMessage());
    }

    @Test
    void theLimitIsTheLargestBlockOfAPoolThatIsNone() {
        try (MemoryPool odd = MemoryPool.open(CAPACITY * 3 / 2)) {
            Operations own = new Operations(epochs, odd, new UserCode(), ByteSize.mib(16), Long.MAX_VALUE);
            Operation operation = own.begin();
            operation.require(Copied.WRITE, CAPACITY);
            operation.end();
            Operation other = own.begin();
            InsufficientMemoryException refused =
                    assertThrows(InsufficientMemoryException.class, () -> other.require(Copied.WRITE, CAPACITY + 1));
            other.end();
            assertTrue(refused.getMessage().contains(" more than the 64k that a memory of 16m has for one"), refused.getMessage());
            own.close();
        }
    }
}
