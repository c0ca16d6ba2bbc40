package dev.heartwood.engine.budget;

import dev.heartwood.engine.auto.LoanChoice;
import dev.heartwood.engine.auto.LoanPolicy;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.cache.CacheStats;
import dev.heartwood.engine.cache.PageCache;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.record.RecordCache;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Workers;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Lends memory that memtables have no use for to the record cache or to the page cache, and has it back as soon as they have. Thread-safe; {@link IdleMemory} looks, one look at a time.
 *
 * <p>What is lent is taken from the pool of memtables as they take theirs, so that all together never have more than before. A look
 * lends all but a reserve. Whoever takes most of the reserve has a worker fill it up again, and goes on with what is left; whoever finds
 * no memory has back at once what the page cache has, and all that the record cache has when its readers have ended.
 */
public final class MemtableLoan {
    /*
     * What gives back holds no lock but those of the caches: it may run beside a look, which at worst lends once more what is free then.
     */
    /** Parts of a memtable: what is left when lending, and when as much is given back; and what is left when that begins. */
    private static final int LEFT = 2;

    private static final int SHORT = 4;

    /** Nothing is lent for pages after a second in which such a part of a memtable was written. */
    private static final int PAGES_WRITTEN_SHARE = 8;

    private final MemoryPool memtables;
    private final RecordCache records;
    private final PageCache cache;
    private final PageLoan pages;
    private final Epochs epochs;
    private final Workers workers;
    private final long leftBytes;
    private final long memtableBytes;
    private final AtomicBoolean givingBack = new AtomicBoolean();
    /** Whether who gives back next is to give back all that records have. */
    private final AtomicBoolean isAllWanted = new AtomicBoolean();

    /** Whether somebody found no memory while some was lent, since the last look. */
    private final AtomicBoolean wasRefused = new AtomicBoolean();

    // Guarded by who looks.
    private LoanPolicy policy;
    private LoanChoice choice;
    private boolean isForRecords;
    private long recordsFoundBefore;
    private long pagesFoundBefore;
    private long pageBytesBefore;
    /** What there was for records when they found no block in it; else 0. */
    private long roomRefused;
    private long recordsFound;
    private long pagesFound;

    /** @param memtableBytes the size of a full memtable */
    public MemtableLoan(
            MemoryPool memtables, RecordCache records, PageCache cache, Epochs epochs, Workers workers, long memtableBytes) {
        this.memtables = memtables;
        this.records = records;
        this.cache = cache;
        this.epochs = epochs;
        this.workers = workers;
        this.memtableBytes = memtableBytes;
        this.leftBytes = leftBytes(memtableBytes);
        this.pages = new PageLoan(cache, memtables, leftBytes);
        memtables.whenShort(memtableBytes / SHORT, this::onShortage);
    }

    /** What is never lent, where memtables have so many bytes. */
    public static long leftBytes(long memtableBytes) {
        return memtableBytes / LEFT;
    }

    /** Whether records have memory, or are giving it back, that a memtable without room can wait for. */
    boolean isComing() {
        return records.bytesBorrowed() > 0;
    }

    /** What records have of it while they may; while it is given back, because memtables need it or pages are to have it, nothing. */
    long bytesForRecords() {
        return isForRecords ? records.bytesBorrowed() : 0;
    }

    long bytesForPages() {
        return pages.bytes();
    }

    /** Records found in the record cache between the last two looks. */
    long recordsFound() {
        return recordsFound;
    }

    /** Pages that came back between them from memory that is lent. */
    long pagesFound() {
        return pagesFound;
    }

    /** Begins to look. */
    void begin() {
        policy = new LoanPolicy(memtableBytes);
        choice = new LoanChoice();
        isForRecords = false;
    }

    /**
     * Lends, or has given back.
     *
     * @param bytesWritten given to all stores since the look before
     * @param isReplaying whether a store is being opened, and its log replayed
     */
    void look(long bytesWritten, boolean isReplaying) {
        if (wasRefused.getAndSet(false)) {
            policy.stop();
        }
        boolean mayLend = policy.mayLend(bytesWritten);
        isForRecords = isForRecords() && mayLend;
        if (!isForRecords) {
            recordsGiveBackAll();
        }
        if (isReplaying) {
            return;
        }
        if (isForRecords && records.isFull()) {
            lendToRecords();
        }
        pages.look(bytesWritten > memtableBytes / PAGES_WRITTEN_SHARE);
    }

    /** What is too little for records, or more than they may have, is left to pages. */
    private void lendToRecords() {
        long room = free() + pages.bytes() - leftBytes;
        if (records.mayBorrow() && room >= records.blockBytes() && room > roomRefused) {
            pages.giveBackAll();
            long before = records.bytesBorrowed();
            while (free() - leftBytes >= records.blockBytes() && records.borrow()) {}
            // It may lie in pieces.
            roomRefused = records.bytesBorrowed() == before ? room : 0;
        }
    }

    /** Whether records would make more of it than pages, by what was found of both since the look before. */
    private boolean isForRecords() {
        CacheStats stats = cache.stats();
        recordsFound = records.hits() - recordsFoundBefore;
        pagesFound = stats.broughtBack() - pagesFoundBefore;
        recordsFoundBefore += recordsFound;
        pagesFoundBefore += pagesFound;
        long pageBytes = Math.max(pageBytesBefore, stats.bytesBorrowed());
        pageBytesBefore = stats.bytesBorrowed();
        return choice.isForRecords(recordsFound, records.bytes(), pagesFound, pageBytes);
    }

    private long free() {
        return memtables.capacity() - memtables.allocated();
    }

    private void onShortage(boolean isRefused) {
        if (isRefused && isComing()) {
            wasRefused.set(true);
            recordsGiveBackAll();
        } else if (isComing() || pages.bytes() > 0) {
            giveBackSoon();
        }
    }

    /** Has all given back that is lent. */
    void giveBackAll() {
        pages.giveBackAll();
        recordsGiveBackAll();
    }

    private void recordsGiveBackAll() {
        if (isComing()) {
            isAllWanted.set(true);
            giveBackSoon();
        }
    }

    private void giveBackSoon() {
        if (givingBack.compareAndSet(false, true)) {
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
        while (isShort() && pages.giveBackSome()) {}
        while ((isAll || isShort()) && records.giveBack()) {
            epochs.reclaim();
        }
        epochs.reclaim();
    }

    private boolean isShort() {
        return free() + records.bytesGivenBack() < leftBytes;
    }
}
