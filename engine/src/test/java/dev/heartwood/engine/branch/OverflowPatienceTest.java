package dev.heartwood.engine.branch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** A large value is read although others hold all memory for pages: the reader waits until they have ended. */
class OverflowPatienceTest {
    private static final int CACHE_BYTES = 256 << 10;
    private static final int VALUE_BYTES = 120 << 10;

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
            List<Long> blocks = takeAll(fixture.pool);
            int epoch = fixture.epochs.enter();
            List<Long> locked = lockAll(fixture, group);
            byte[] read = new byte[(int) group.bytes()];
            assertThrows(
                    InsufficientMemoryException.class, () -> group.read(0, MemorySegment.ofArray(read), 0, read.length));
            AtomicReference<Throwable> failure = new AtomicReference<>();
            Thread reader = Thread.ofPlatform().start(() -> {
                try {
                    group.readPatiently(0, MemorySegment.ofArray(read), 0, read.length);
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
            branch.release();
            if (failure.get() != null) {
                throw new AssertionError("the reader did not wait", failure.get());
            }
            for (int i = 0; i < entries.size(); i++) {
                byte[] part = new byte[VALUE_BYTES];
                System.arraycopy(read, i * VALUE_BYTES, part, 0, VALUE_BYTES);
                assertArrayEquals(value, part, "value " + i);
            }
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
