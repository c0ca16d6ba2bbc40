package dev.heartwood.engine.store;

import dev.heartwood.ByteSize;
import dev.heartwood.KeyRange;
import dev.heartwood.PolicyChange;
import dev.heartwood.PolicyChange.Part;
import dev.heartwood.engine.auto.LoanPolicy;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.record.RecordCache;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Timer;
import dev.heartwood.engine.task.Workers;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Lends memory that memtables have no use for to the record cache, while some store decides by itself, and has it back as soon as they
 * have. Thread-safe.
 *
 * <p>What is lent is taken from the pool of memtables as they take theirs, so that the two together never have more than before. A look in
 * each second lends all but a reserve. Whoever takes most of the reserve has a worker fill it up again, and goes on with what is left; whoever finds
 * no memory has all given back.
 */
final class MemtableLoan {
    /*
     * Looks are guarded by the monitor. What gives back holds no lock but that of the record cache's rings: it may run beside a look, which
     * at worst lends once more what is free then.
     */
    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Parts of a memtable: what is left when lending, and when as much is given back; and what is left when that begins. */
    private static final int LEFT = 2;

    private static final int SHORT = 4;

    /** What all stores do. */
    interface Load {
        /** Bytes of keys and values given to those that are open. */
        long bytesWritten();

        /** Whether one is being opened, and its log replayed. */
        boolean isReplaying();
    }

    private final MemoryPool memtables;
    private final RecordCache records;
    private final Epochs epochs;
    private final Workers workers;
    private final long leftBytes;
    private final long memtableBytes;
    private final Load load;
    private final Timer timer;
    private final List<Consumer<PolicyChange>> members = new CopyOnWriteArrayList<>();
    private final AtomicBoolean givingBack = new AtomicBoolean();
    /** Whether who gives back next is to give back everything. */
    private final AtomicBoolean isAllWanted = new AtomicBoolean();

    /** Whether somebody found no memory while some was lent, since the last look. */
    private final AtomicBoolean wasRefused = new AtomicBoolean();

    // Guarded by the monitor.
    private LoanPolicy policy;
    private long bytesWrittenThen;
    private long bytesTold;
    private boolean scheduled;

    /** @param memtableBytes the size of a full memtable */
    MemtableLoan(
            MemoryPool memtables, RecordCache records, Epochs epochs, Workers workers, long memtableBytes, Load load) {
        this.memtables = memtables;
        this.records = records;
        this.epochs = epochs;
        this.workers = workers;
        this.timer = workers.timer(Priority.CHECKPOINT, this::look);
        this.memtableBytes = memtableBytes;
        this.leftBytes = memtableBytes / LEFT;
        this.load = load;
        memtables.whenShort(memtableBytes / SHORT, this::onShortage);
    }

    /** The most that is ever lent, where memtables have so many bytes. */
    static long bytesMax(long memtablesBytes, long memtableBytes) {
        return Math.max(0, memtablesBytes - memtableBytes / LEFT);
    }

    /** Whether memory is lent, or being given back, that a memtable without room can wait for. */
    boolean isLent() {
        return records.bytesBorrowed() > 0;
    }

    /** A store begins to decide by itself; it is told when memory is lent, and when all of it is given back. */
    synchronized void join(Consumer<PolicyChange> member) {
        members.add(member);
        if (members.size() == 1) {
            policy = new LoanPolicy(memtableBytes);
            bytesTold = 0;
        }
        later();
    }

    /** Looks on where a look failed, as on a full Java heap; called by those who have joined, now and then. */
    synchronized void goOn() {
        if (!members.isEmpty()) {
            later();
        }
    }

    /** A store no longer decides by itself, if it did; the last to leave has everything given back. */
    synchronized void leave(Consumer<PolicyChange> member) {
        members.remove(member);
        if (members.isEmpty()) {
            giveBackAll();
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
        if (members.isEmpty()) {
            epochs.reclaim();
            return;
        }
        later();
        epochs.reclaim();
        if (wasRefused.getAndSet(false)) {
            policy.stop();
        }
        // Stores that were closed took what they were given with them.
        long written = Math.max(0, bytesWritten - bytesWrittenThen);
        bytesWrittenThen = bytesWritten;
        boolean mayLend = policy.mayLend(written);
        if (!mayLend) {
            giveBackAll();
        } else if (records.isFull() && !isReplaying) {
            while (free() - leftBytes >= records.blockBytes() && records.borrow()) {}
        }
        tell(mayLend, written);
    }

    /** Once when lending has begun, and once when it has ended: what memtables take meanwhile, and give back, is not told. */
    private void tell(boolean isLending, long written) {
        long bytes = isLending ? records.bytesBorrowed() : 0;
        if (bytes > 0 == bytesTold > 0) {
            return;
        }
        String from = new ByteSize(bytesTold).toString();
        String to = new ByteSize(bytes).toString();
        String reason = String.format(Locale.ROOT, "%.1f MB are written a second", written / 1e6);
        PolicyChange change = new PolicyChange(Part.LENT_MEMORY, KeyRange.all(), from, to, reason);
        bytesTold = bytes;
        members.forEach(member -> member.accept(change));
    }

    private long free() {
        return memtables.capacity() - memtables.allocated();
    }

    private void onShortage(boolean isRefused) {
        if (isRefused && isLent()) {
            wasRefused.set(true);
            giveBackAll();
        } else {
            giveBackSoon();
        }
    }

    private void giveBackAll() {
        if (isLent()) {
            isAllWanted.set(true);
            giveBackSoon();
        }
    }

    private void giveBackSoon() {
        if (isLent() && givingBack.compareAndSet(false, true)) {
            try {
                workers.submit(Priority.SEAL, this::giveBack);
            } catch (RuntimeException | Error e) {
                givingBack.set(false);
                throw e;
            }
        }
    }

    private void giveBack() {
        givingBack.set(false);
        boolean isAll = isAllWanted.getAndSet(false);
        while ((isAll || free() + records.bytesGivenBack() < leftBytes) && records.giveBack()) {
            epochs.reclaim();
        }
        epochs.reclaim();
    }
}
