package dev.heartwood.engine.branch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Large values and long keys are read although others hold all memory for pages: the reader waits until they have ended. */
class OverflowPatienceTest {
    private static final int CACHE_BYTES = 256 << 10;
    private static final int VALUE_BYTES = 120 << 10;
    private static final int KEY_BYTES = 2000;

    @Test
    void whoReadsOutsideAnEpochWaitsForThoseInside() throws InterruptedException {
        try (BranchFixture fixture = new BranchFixture(CACHE_BYTES)) {
            byte[] value = new byte[VALUE_BYTES];
            new Random(1).nextBytes(value);
            List<BranchFixture.Entry> entries = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                entries.add(new BranchFixture.Entry(new byte[] {(byte) i}, 1, Entries.PUT, value));
            }
            Branch branch = fixture.write(entries, WriteMode.THROUGH);
            OverflowGroup group = branch.groups[0];
            byte[] read = new byte[(int) group.bytes()];
            runWhileAllIsHeld(
                    fixture,
                    group,
                    () -> assertThrows(
                            InsufficientMemoryException.class,
                            () -> group.read(0, MemorySegment.ofArray(read), 0, read.length)),
                    () -> group.readPatiently(0, MemorySegment.ofArray(read), 0, read.length));
            branch.release();
            for (int i = 0; i < entries.size(); i++) {
                byte[] part = new byte[VALUE_BYTES];
                System.arraycopy(read, i * VALUE_BYTES, part, 0, VALUE_BYTES);
                assertArrayEquals(value, part, "value " + i);
            }
        }
    }

    /** A search that compared the ends of long keys was refused at once, where a cursor waits for all other pages that it needs. */
    @Test
    void whoSearchesAmongLongKeysWaitsToo() throws InterruptedException {
        try (BranchFixture fixture = new BranchFixture(CACHE_BYTES)) {
            List<BranchFixture.Entry> entries = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                entries.add(new BranchFixture.Entry(longKey(i), 1, Entries.PUT, new byte[VALUE_BYTES]));
            }
            Branch branch = fixture.write(entries, WriteMode.THROUGH);
            byte[] sought = longKey(7);
            byte[] bound = longKey(12);
            long key = fixture.key(sought);
            try (BranchCursor cursor = BranchCursor.cached(branch, new Span(null, bound))) {
                // Has memory for a long key from here on.
                cursor.seekFirst();
                runWhileAllIsHeld(
                        fixture,
                        branch.groups[0],
                        () -> assertThrows(InsufficientMemoryException.class, () -> search(fixture, branch, key)),
                        () -> cursor.seek(key, sought.length));
                assertArrayEquals(sought, BranchFixture.entry(cursor).key());
                runWhileAllIsHeld(fixture, branch.groups[0], () -> {}, () -> cursor.seekBefore(key, sought.length));
                assertArrayEquals(longKey(6), BranchFixture.entry(cursor).key());
            }
            branch.release();
        }
    }

    private static byte[] longKey(int number) {
        byte[] key = new byte[KEY_BYTES];
        key[KEY_BYTES - 1] = (byte) number;
        return key;
    }

    /** Calls that hold an epoch do not wait for others in theirs. */
    private static void search(BranchFixture fixture, Branch branch, long key) {
        long page = fixture.file.lockShared(branch.devicePage(0), PageType.BRANCH_LEAF, branch.id());
        try {
            KeyedPage.lowerBound(page, branch, key, KEY_BYTES, Long.MAX_VALUE);
        } finally {
            fixture.file.unlockShared(page);
        }
    }

    /** Has another thread read while all memory for pages is held, and gives that back once the other one waits for it, or has ended. */
    private static void runWhileAllIsHeld(BranchFixture fixture, OverflowGroup group, Runnable before, Runnable read)
            throws InterruptedException {
        List<Long> blocks = takeAll(fixture.pool);
        int epoch = fixture.epochs.enter();
        List<Long> locked = lockAll(fixture, group);
        before.run();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread reader = Thread.ofPlatform().start(() -> {
            try {
                read.run();
            } catch (Throwable e) {
                failure.set(e);
            }
        });
        while (reader.getState() != Thread.State.TIMED_WAITING && reader.isAlive()) {
            Thread.onSpinWait();
        }
        locked.forEach(fixture.file::unlockShared);
        fixture.epochs.exit(epoch);
        reader.join();
        blocks.forEach(block -> fixture.pool.free(block, MemoryPool.BLOCK_BYTES_MIN));
        if (failure.get() != null) {
            throw new AssertionError("the reader did not wait", failure.get());
        }
    }

    private static List<Long> takeAll(MemoryPool pool) {
        List<Long> blocks = new ArrayList<>();
        for (long block = pool.allocate(MemoryPool.BLOCK_BYTES_MIN);
                block != 0;
                block = pool.allocate(MemoryPool.BLOCK_BYTES_MIN)) {
            blocks.add(block);
        }
        return blocks;
    }

    /** Locks pages from the last one on until there is no memory for more; the first one stays unlocked. */
    private static List<Long> lockAll(BranchFixture fixture, OverflowGroup group) {
        List<Long> locked = new ArrayList<>();
        try {
            for (int page = group.pageCount() - 1; page > 0; page--) {
                locked.add(fixture.file.lockShared(group.devicePage(page), PageType.OVERFLOW, group.id()));
            }
            throw new AssertionError("all pages of the group can be locked");
        } catch (InsufficientMemoryException expected) {
            return locked;
        }
    }
}
