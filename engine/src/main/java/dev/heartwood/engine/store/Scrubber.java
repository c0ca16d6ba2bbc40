package dev.heartwood.engine.store;

import dev.heartwood.CorruptionEvent.FoundBy;
import dev.heartwood.CorruptionException;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.checkpoint.Checkpointer;
import dev.heartwood.engine.checkpoint.Superblock;
import dev.heartwood.engine.checkpoint.Superblocks;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Timer;
import dev.heartwood.engine.task.Workers;
import dev.heartwood.engine.verify.PageRuns;
import dev.heartwood.engine.verify.PageRuns.Run;
import dev.heartwood.engine.verify.StoreView;
import dev.heartwood.engine.verify.Tree;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Reads a store's pages from the device, again and again, a few at a time and no faster than its rate, so that rot is found before
 * the page is needed. Runs as tasks of the lowest priority.
 */
final class Scrubber {
    /*
     * A pass takes the list of the last checkpoint's pages and does not hold the checkpoint: pages may be freed and written anew
     * under it. So what does not look right is looked up in a new list, and read once more while that checkpoint is held. Only
     * then it is damage; else the pass goes on with the new list. That costs a look at the whole trunk, so damage that is known is
     * passed over. All that a step reads counts for its rate.
     *
     * All fields but the counters are guarded by the monitor, which a step holds; closing waits for it.
     */
    private static final long CACHE_BYTES = 1L << 20;
    private static final long PASS_NANOS_MIN = TimeUnit.MILLISECONDS.toNanos(100);

    private final Checkpointer checkpointer;
    private final BlockDevice device;
    private final MemoryPool pool;
    private final long bytesPerSecond;
    private final Damage damage;
    private final Timer timer;
    private List<Run> runs = List.of();
    private int next;
    private long storeId;
    /** What the step under way has read. */
    private long bytesRead;

    private boolean closed;
    private volatile long pages;
    private volatile long passes;

    Scrubber(
            Checkpointer checkpointer,
            BlockDevice device,
            MemoryPool pool,
            Workers workers,
            long bytesPerSecond,
            Damage damage) {
        this.checkpointer = checkpointer;
        this.device = device;
        this.pool = pool;
        this.bytesPerSecond = bytesPerSecond;
        this.damage = damage;
        this.timer = workers.timer(Priority.IDLE, this::step);
    }

    /** Begins, unless the rate is 0. */
    synchronized void start() {
        if (bytesPerSecond > 0) {
            timer.start(PASS_NANOS_MIN);
        }
    }

    private synchronized void step() {
        if (closed) {
            return;
        }
        bytesRead = 0;
        long delayNanosMin = PASS_NANOS_MIN;
        int before = next;
        try {
            if (next < runs.size()) {
                Run run = runs.get(next++);
                scrub(run);
                pages += run.count();
                delayNanosMin = 0;
            } else {
                boolean isFirst = storeId == 0;
                runs = list();
                next = 0;
                passes += isFirst ? 0 : 1;
            }
        } catch (InsufficientMemoryException e) {
            // The memory is in use by calls; the same is tried again, and the pass goes on when there is some.
            next = before;
        } catch (StoreIoException e) {
            // The trunk cannot be read, so what belongs to the store cannot be told; the pass goes on all the same.
            damage.met(FoundBy.SCRUB, unreadable(e));
        } finally {
            timer.start(Math.max(delayNanosMin, nanosFor(bytesRead)));
        }
    }

    private long nanosFor(long bytes) {
        return (long) (1e9 * bytes / bytesPerSecond);
    }

    private void scrub(Run run) {
        if (damageIn(run) != null && isNew(damagedPages(run))) {
            try (Checkpointer.Held held = checkpointer.hold()) {
                List<Run> fresh = list(held);
                if (fresh.contains(run)) {
                    damagedPages(run).forEach(e -> damage.met(FoundBy.SCRUB, e));
                }
                runs = fresh;
                next = 0;
                while (next < runs.size() && runs.get(next).first() <= run.first()) {
                    next++;
                }
            }
        }
    }

    private boolean isNew(List<CorruptionException> damaged) {
        return damaged.stream().anyMatch(e -> !damage.isKnown(e.page()));
    }

    /** Why the pages are not what they should be; null when they are. */
    private CorruptionException damageIn(Run run) {
        long buffer = pool.allocate(PageLayout.EXTENT_BYTES);
        if (buffer == 0) {
            throw new InsufficientMemoryException("no buffer to scrub with");
        }
        try {
            bytesRead += run.bytes();
            device.read(run.position(), buffer, run.bytes());
            run.verify(buffer, storeId, device.name());
            return null;
        } catch (CorruptionException e) {
            return e;
        } catch (InsufficientMemoryException e) {
            throw e; // which says nothing of the pages
        } catch (StoreException e) {
            return unreadable(run.first(), run.type(), e);
        } finally {
            pool.free(buffer, PageLayout.EXTENT_BYTES);
        }
    }

    private CorruptionException unreadable(StoreIoException why) {
        return unreadable(Math.max(0, why.offset()) / PageLayout.PAGE_BYTES, PageType.SUPERBLOCK, why);
    }

    private CorruptionException unreadable(long page, PageType type, StoreException why) {
        return new CorruptionException(device.name(), page, type.name(), "a page that can be read", why.getMessage());
    }

    /** What is wrong with each page that is not what it should be. */
    private List<CorruptionException> damagedPages(Run run) {
        List<CorruptionException> damaged = new ArrayList<>();
        for (int i = 0; i < run.count(); i++) {
            CorruptionException e = damageIn(new Run(run.first() + i, 1, run.type(), run.generation()));
            if (e != null) {
                damaged.add(e);
            }
        }
        return damaged;
    }

    private List<Run> list() {
        try (Checkpointer.Held held = checkpointer.hold()) {
            for (Superblocks.Copy copy : held.copies()) {
                switch (copy.damage()) {
                    case null -> {}
                    case CorruptionException e -> damage.met(FoundBy.SCRUB, e);
                    case StoreIoException e -> damage.met(FoundBy.SCRUB, unreadable(e));
                    default -> throw copy.damage();
                }
            }
            return list(held);
        }
    }

    /** The pages of a checkpoint; of a trunk that is damaged, those that can be found. */
    private List<Run> list(Checkpointer.Held held) {
        Superblock superblock = held.superblock();
        try (StoreView view = new StoreView(device, pool, CACHE_BYTES, held.copies(), superblock)) {
            List<Run> listed = PageRuns.of(Tree.read(view.tree(), superblock, problem -> {}));
            storeId = superblock.storeId();
            // Superblocks are read to hold a checkpoint, and the trunk to list what it reaches.
            bytesRead += (long) Superblocks.pages().length * PageLayout.PAGE_BYTES;
            bytesRead += listed.stream().filter(run -> run.type() == PageType.TRUNK).mapToLong(Run::bytes).sum();
            return listed;
        }
    }

    /** Pages read. */
    long pages() {
        return pages;
    }

    /** Times the whole store was read. */
    long passes() {
        return passes;
    }

    /** Stops; waits for the step under way. */
    synchronized void close() {
        closed = true;
    }
}
