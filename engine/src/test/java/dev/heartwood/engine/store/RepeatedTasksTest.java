package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.StoreOptions;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.record.RecordCache;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Timer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is done again and again goes on after the Java heap was too full to have it done once more. Once it ended for good. */
class RepeatedTasksTest {
    private final List<Runnable> looks = new ArrayList<>();

    /** Keeps what waits for its time. */
    private final class Queued extends QueuedWorkers {
        Queued() {
            super(new ArrayDeque<>());
        }

        @Override
        public Timer timer(Priority priority, Runnable task) {
            return delayNanos -> looks.add(task);
        }
    }

    @Test
    void lendingGoesOnAfterTheStoresCouldNotBeAsked() {
        try (MemoryPool pool = MemoryPool.open(4 << 20);
                MemoryPool lender = MemoryPool.open(4 << 20)) {
            Epochs epochs = new Epochs();
            boolean[] isFull = {true};
            MemtableLoan.Load load = new MemtableLoan.Load() {
                @Override
                public long bytesWritten() {
                    if (isFull[0]) {
                        throw new OutOfMemoryError("for a test");
                    }
                    return 0;
                }

                @Override
                public boolean isReplaying() {
                    return false;
                }
            };
            RecordCache records = new RecordCache(pool, lender, 1 << 20, epochs);
            MemtableLoan loan = new MemtableLoan(lender, records, epochs, new Queued(), 1 << 20, load);
            loan.join(change -> {});
            assertThrows(OutOfMemoryError.class, looks.removeFirst()::run);
            isFull[0] = false;
            loan.join(change -> {});
            assertEquals(1, looks.size());
            looks.removeFirst().run();
            assertEquals(1, looks.size());
        }
    }
}
