package dev.heartwood.engine.store;

import dev.heartwood.ByteSize;
import dev.heartwood.engine.auto.LoanPolicy;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.record.RecordCache;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Workers;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

/**
 * Lends memory that memtables have no use for to the record cache, while some store decides by itself, and has it back as soon as they
 * have. Thread-safe.
 *
 * <p>What is lent is taken from the pool of memtables as they take theirs, so that the two together never have more than before. A look in
 * each second lends all but a reserve; whoever takes of the reserve has some given back by a worker that packing has for itself, while it goes on with
 * what is left.
 */
final class MemtableLoan {
    /*
     * Looks are guarded by the monitor. What gives back holds no lock but that of the record cache's rings: it may run beside a look, which
     * then lends again what it had back, until the policy is told that more is written.
     */
    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Parts of a memtable: what is left when lending, and when as much is given back; and what is left when that begins. */
    private static final int LEFT = 2;

    private static final int SHORT = 4;

    /** A store that decides by itself. */
    interface Member {
        /** Called when memory was lent, or all of it given back. */
        void lent(String from, String to, String reason);
    }

    private final MemoryPool memtables;
    private final RecordCache records;
    private final Epochs epochs;
    private final Workers workers;
    private final long leftBytes;
    private final long memtableBytes;
    private final LongSupplier bytesWritten;
    private final List<Member> members = new CopyOnWriteArrayList<>();
    private final AtomicBoolean givingBack = new AtomicBoolean();
    /** Whether somebody found no block since memory was given back last. */
    private volatile boolean isRefused;

    // Guarded by the monitor.
    private LoanPolicy policy;
    private long bytesWrittenThen;
    private long bytesTold;
    private boolean scheduled;

    /**
     * @param memtableBytes the size of a full memtable
     * @param bytesWritten bytes given to all stores that are open
     */
    MemtableLoan(
            MemoryPool memtables,
            RecordCache records,
            Epochs epochs,
            Workers workers,
            long memtableBytes,
            LongSupplier bytesWritten) {
        this.memtables = memtables;
        this.records = records;
        this.epochs = epochs;
        this.workers = workers;
        this.memtableBytes = memtableBytes;
        this.leftBytes = memtableBytes / LEFT;
        this.bytesWritten = bytesWritten;
        memtables.whenShort(memtableBytes / SHORT, this::onShortage);
    }

    /** The most that is ever lent, where memtables have so many bytes. */
    static long bytesMax(long memtablesBytes, long memtableBytes) {
        return Math.max(0, memtablesBytes - memtableBytes / LEFT);
    }

    /** Whether memory is lent that a memtable without room can wait for. */
    boolean isLent() {
        return records.bytesBorrowed() > 0;
    }

    synchronized void join(Member member) {
        members.add(member);
        if (members.size() == 1) {
            policy = new LoanPolicy(memtableBytes);
            later();
        }
    }

    /** The last to leave has everything given back. */
    synchronized void leave(Member member) {
        members.remove(member);
        if (members.isEmpty()) {
            giveBackSoon();
        }
    }

    private void later() {
        if (!scheduled) {
            scheduled = true;
            workers.submitLater(Priority.CHECKPOINT, INTERVAL_NANOS, this::look);
        }
    }

    private void look() {
        // Asks every store, which may be waiting to join or leave.
        look(bytesWritten.getAsLong());
    }

    private synchronized void look(long now) {
        scheduled = false;
        if (members.isEmpty()) {
            return;
        }
        later();
        // Stores that were closed took what they were given with them.
        long written = Math.max(0, now - bytesWrittenThen);
        bytesWrittenThen = now;
        if (policy.mayLend(written) && records.isFull()) {
            while (free() - leftBytes >= records.blockBytes() && records.borrow()) {}
        }
        tell(written);
    }

    private long free() {
        return memtables.capacity() - memtables.allocated();
    }

    private void onShortage(boolean refused) {
        if (refused) {
            isRefused = true;
        }
        giveBackSoon();
    }

    private void giveBackSoon() {
        if (isLent() && givingBack.compareAndSet(false, true)) {
            workers.submit(Priority.SEAL, this::giveBack);
        }
    }

    /** Gives back until enough is left; all when somebody found no block although there was some, or nobody is to lend any more. */
    private void giveBack() {
        givingBack.set(false);
        boolean all = isRefused || members.isEmpty();
        isRefused = false;
        long wanted = all ? Long.MAX_VALUE : leftBytes - free();
        for (long given = 0; given < wanted && records.giveBack(); given += records.blockBytes()) {}
        epochs.reclaim();
    }

    private void tell(long written) {
        long bytes = records.bytesBorrowed();
        if (bytes > bytesTold || bytes == 0 && bytesTold > 0) {
            String reason = String.format(Locale.ROOT, "%.1f MB are written a second", written / 1e6);
            String from = new ByteSize(bytesTold).toString();
            String to = new ByteSize(bytes).toString();
            members.forEach(member -> member.lent(from, to, reason));
        }
        bytesTold = bytes;
    }
}
