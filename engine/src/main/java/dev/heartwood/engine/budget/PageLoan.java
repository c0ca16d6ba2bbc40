package dev.heartwood.engine.budget;

import dev.heartwood.engine.cache.PageCache;
import dev.heartwood.engine.os.MemoryPool;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Lends what is free of a pool to the page cache, for pages that it evicts; whoever finds no memory in the pool has some back at once.
 * Thread-safe; {@link IdleMemory} looks, one look at a time.
 */
public final class PageLoan {
    /*
     * What is lent is had back at once, and all that is lost then is what was copied there. So it is lent whenever it seems to be idle: at so many
     * looks on end, since merges that follow each other leave gaps.
     */
    private static final int LOOKS = 2;

    private final PageCache cache;
    private final MemoryPool lender;
    private final long leftBytes;
    // Guarded by who looks.
    private int looks;

    /** Whether somebody asked for some since the last look. */
    private final AtomicBoolean wasWanted = new AtomicBoolean();

    /** @param leftBytes what of the pool is not lent */
    public PageLoan(PageCache cache, MemoryPool lender, long leftBytes) {
        this.cache = cache;
        this.lender = lender;
        this.leftBytes = leftBytes;
        lender.whenWanted(this::giveBackSome);
    }

    /**
     * Lends what is free, if there is use for it and nobody asked for some since the last look, nor is about to.
     *
     * @param isNeeded whether somebody will need memory of the pool soon
     */
    void look(boolean isNeeded) {
        looks = wasWanted.getAndSet(false) || isNeeded ? 0 : looks + 1;
        if (looks >= LOOKS && cache.isFull()) {
            while (!wasWanted.get() && free() - leftBytes >= cache.borrowedAtOnce() && cache.borrow(lender)) {}
        }
    }

    private long free() {
        return lender.capacity() - lender.allocated();
    }

    /** Whether most of the pool is free, or lent. */
    boolean isIdle() {
        return free() + bytes() > lender.capacity() / 4 * 3;
    }

    /** Gives some back, at once, and has nothing lent for a while; false when nothing was lent. */
    boolean giveBackSome() {
        // First, so that a look that is lending stops, and what it lent until then is found.
        wasWanted.set(true);
        return cache.giveBackSome(lender);
    }

    /** Gives all back that is lent, which nobody wants more than the page cache. */
    void giveBackAll() {
        cache.giveBackAll(lender);
    }

    /** What is lent, in bytes. */
    long bytes() {
        return cache.bytesBorrowed(lender);
    }
}
