package dev.heartwood.engine.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.PreviousFailureException;
import dev.heartwood.engine.base.Clock;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class GroupCommitTest {
    private final AtomicLong appended = new AtomicLong();
    private final AtomicLong now = new AtomicLong();
    private final AtomicInteger syncs = new AtomicInteger();
    private Thread second;
    private long stallNanos;

    /** The last LSN appended, at the moment at which a sync begins. */
    private long sync() {
        syncs.incrementAndGet();
        now.addAndGet(1_000_000 + stallNanos);
        return appended.get();
    }

    @Test
    void aLoneWriterWaitsForNobody() {
        GroupCommit commit = new GroupCommit(this::sync, now::get);
        for (int i = 1; i <= 10; i++) {
            commit.await(appended.incrementAndGet());
            assertEquals(i, commit.durable());
            assertEquals(i, syncs.get());
        }
    }

    @Test
    void whatIsDurableNeedsNoSync() {
        GroupCommit commit = new GroupCommit(this::sync, now::get);
        commit.startFrom(5);
        commit.await(5);
        assertEquals(0, syncs.get());
    }

    /** A group commit in whose first sync, by the thread of the test, another writer comes, who then leads the second. */
    private GroupCommit withSecondWriter(Clock clock) {
        return new GroupCommit(
                () -> {
                    long upTo = sync();
                    if (syncs.get() == 1) {
                        second.start();
                        awaitParked(second);
                    }
                    return upTo;
                },
                clock);
    }

    /** The clock stands still while the second writer gathers, so nothing but the first one's return ends that. */
    @Test
    void theNextLeaderWaitsForThoseWhomTheLastSyncServed() throws InterruptedException {
        CountDownLatch secondLeads = new CountDownLatch(1);
        GroupCommit commit = withSecondWriter(() -> {
            if (Thread.currentThread() == second) {
                secondLeads.countDown();
            }
            return now.get();
        });
        second = new Thread(() -> commit.await(appended.incrementAndGet()));

        commit.await(appended.incrementAndGet());
        secondLeads.await();
        commit.await(appended.incrementAndGet());
        second.join();

        assertEquals(3, commit.durable());
        assertEquals(2, syncs.get());
    }

    /** A writer that was served and does not come again holds the next sync up for a part of a sync only. */
    @Test
    void whoDoesNotComeAgainIsNotWaitedForLong() throws InterruptedException {
        AtomicLong looks = new AtomicLong();
        GroupCommit commit = withSecondWriter(
                () -> now.addAndGet(Thread.currentThread() == second ? looks.incrementAndGet() : 0));
        second = new Thread(() -> commit.await(appended.incrementAndGet()));

        commit.await(appended.incrementAndGet());
        second.join();

        assertEquals(2, commit.durable());
        assertEquals(2, syncs.get());
        assertTrue(looks.get() > 2, "the second sync waited for nobody");
    }

    /** However long a sync has taken, as when the disk stalled, the next one is held up for some milliseconds at most. */
    @Test
    void aLongSyncDoesNotMakeTheNextOneWaitAsLong() throws InterruptedException {
        AtomicLong gathering = new AtomicLong();
        GroupCommit commit = withSecondWriter(() -> {
            boolean isGathering = Thread.currentThread() == second && syncs.get() == 1;
            long step = isGathering ? 1_000_000 : 0;
            gathering.addAndGet(step);
            return now.addAndGet(step);
        });
        stallNanos = 10_000_000_000L;
        second = new Thread(() -> commit.await(appended.incrementAndGet()));

        commit.await(appended.incrementAndGet());
        second.join();

        assertEquals(2, commit.durable());
        assertTrue(gathering.get() <= 10_000_000, gathering + " ns");
    }

    /** What an append met while somebody syncs: who waits hears of it at once, and not from a leader that may have gone. */
    @Test
    void aFailureWakesThoseWhoWait() throws InterruptedException {
        IllegalStateException met = new IllegalStateException("an append failed");
        AtomicReference<Throwable> heard = new AtomicReference<>();
        GroupCommit[] commit = new GroupCommit[1];
        commit[0] = new GroupCommit(
                () -> {
                    second.start();
                    awaitParked(second);
                    commit[0].fail(met);
                    join(second);
                    return sync();
                },
                now::get);
        second = new Thread(() -> {
            try {
                commit[0].await(appended.incrementAndGet());
            } catch (PreviousFailureException e) {
                heard.set(e.getCause());
            }
        });

        commit[0].await(appended.incrementAndGet());

        assertSame(met, heard.get());
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void awaitParked(Thread thread) {
        while (thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
    }
}
