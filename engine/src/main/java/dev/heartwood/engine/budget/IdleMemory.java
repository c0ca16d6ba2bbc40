package dev.heartwood.engine.budget;

import dev.heartwood.ByteSize;
import dev.heartwood.KeyRange;
import dev.heartwood.PolicyChange;
import dev.heartwood.PolicyChange.Part;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Timer;
import dev.heartwood.engine.task.Workers;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Has memory that nobody uses now hold records and pages, while some store decides by itself: once a second it looks at what memtables and
 * merges have no use for. Thread-safe.
 */
public final class IdleMemory {
    /*
     * Looks are guarded by the monitor. Those who have their memory back ask the loans for it, without it.
     */
    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** What all stores do. */
    public interface Load {
        /** Bytes of keys and values given to those that are open. */
        long bytesWritten();

        /** Whether one is being opened, and its log replayed. */
        boolean isReplaying();
    }

    private final MemtableLoan memtables;
    private final PageLoan merges;
    private final Epochs epochs;
    private final Load load;
    private final Timer timer;
    private final List<Consumer<PolicyChange>> members = new CopyOnWriteArrayList<>();

    // Guarded by the monitor.
    private long bytesWrittenThen;
    private long recordsTold;
    private long pagesTold;
    private boolean scheduled;

    public IdleMemory(MemtableLoan memtables, PageLoan merges, Epochs epochs, Workers workers, Load load) {
        this.memtables = memtables;
        this.merges = merges;
        this.epochs = epochs;
        this.load = load;
        this.timer = workers.timer(Priority.CHECKPOINT, this::look);
    }

    /** Whether memory of memtables is lent, or being given back, that a memtable without room can wait for. */
    public boolean isComing() {
        return memtables.isComing();
    }

    /** A store begins to decide by itself; it is told when memory is lent, and when records have given theirs back. */
    public synchronized void join(Consumer<PolicyChange> member) {
        members.add(member);
        if (members.size() == 1) {
            memtables.begin();
            recordsTold = 0;
            pagesTold = 0;
        }
        later();
    }

    /** Looks on where a look failed, as on a full Java heap; called by those who have joined, now and then. */
    public synchronized void goOn() {
        if (!members.isEmpty()) {
            later();
        }
    }

    /** A store no longer decides by itself, if it did; the last to leave has everything given back. */
    public synchronized void leave(Consumer<PolicyChange> member) {
        members.remove(member);
        if (members.isEmpty()) {
            memtables.giveBackAll();
            merges.giveBackAll();
        }
    }

    private void later() {
        if (!scheduled) {
            timer.start(INTERVAL_NANOS);
            scheduled = true;
        }
    }

    private void look() {
        synchronized (this) {
            scheduled = false;
        }
        // Asks every store, which may be waiting to join or leave.
        look(load.bytesWritten(), load.isReplaying());
    }

    private synchronized void look(long bytesWritten, boolean isReplaying) {
        epochs.reclaim();
        if (members.isEmpty()) {
            return;
        }
        later();
        // Stores that were closed took what they were given with them.
        long written = Math.max(0, bytesWritten - bytesWrittenThen);
        bytesWrittenThen = bytesWritten;
        memtables.look(written, isReplaying);
        merges.look(!merges.isIdle());
        tell(written);
    }

    /** Once when lending has begun, and for records once when it has ended: what memtables and merges take meanwhile, and give back, is not. */
    private void tell(long written) {
        long records = memtables.bytesForRecords();
        if (records > 0 != recordsTold > 0) {
            String reason = "%.1f MB are written a second, and %d records and %d pages were found in memory";
            tell(recordsTold, records, String.format(
                    Locale.ROOT, reason, written / 1e6, memtables.recordsFound(), memtables.pagesFound()));
            recordsTold = records;
        }
        long pages = memtables.bytesForPages() + merges.bytes();
        if (pages > 0 && pagesTold == 0) {
            tell(pagesTold, pages, "the page cache is full, and neither memtables nor merges use it");
            pagesTold = pages;
        }
    }

    private void tell(long from, long to, String reason) {
        PolicyChange change = new PolicyChange(
                Part.LENT_MEMORY, KeyRange.all(), new ByteSize(from).toString(), new ByteSize(to).toString(), reason);
        members.forEach(member -> member.accept(change));
    }
}
