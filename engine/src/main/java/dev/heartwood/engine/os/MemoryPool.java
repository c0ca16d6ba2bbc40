package dev.heartwood.engine.os;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.base.Clock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * The native memory of one environment: one anonymous mapping, given out in power-of-two blocks. Thread-safe. Memory
 * costs the machine nothing until it is touched; the kernel is advised to use huge pages. All addresses are below 2^48.
 */
public final class MemoryPool implements AutoCloseable {
    /*
     * A buddy allocator. Offsets of blocks are multiples of their size, and the mapping is aligned to a huge page, so
     * blocks are aligned to the smaller of their size and a huge page. The bookkeeping, one byte per 2 KiB, is on the
     * Java heap: a stray write into native memory cannot damage it.
     */
    /** The smallest block. */
    public static final int BLOCK_BYTES_MIN = 4096;

    private static final int BLOCK_SHIFT = 12;
    private static final long HUGE_PAGE_BYTES = 2L << 20;
    private static final long CAPACITY_BYTES_MAX = 1L << 30 + BLOCK_SHIFT - 1;
    private static final long POLL_NANOS = 100_000;
    private static final int IDLE_POLLS_MAX = 200;
    /** What indexes keep of an address; processors with larger ones give them to those alone who ask for such. */
    private static final long ADDRESS_END = 1L << 48;

    private static final int POISON = 0xDB;
    private static final long POISON_BYTES_MAX = 128 << 10;

    private final ReentrantLock lock = new ReentrantLock();
    private final long address;
    private final long capacity;
    private final LeftMappings.Mapping mapping;
    // Guarded by lock.
    private final BuddyTree blocks;
    // Written under lock, read without it: bytes given out or kept, and blocks given back so far.
    private volatile long allocated;
    private volatile long freed;
    private volatile boolean closed;
    /** Null when none are kept. */
    private volatile KeptBlocks kept;
    private volatile Shortage shortage = new Shortage(0, isRefused -> {});
    private volatile BooleanSupplier borrower = () -> false;

    /** Who is called when there is little left. */
    private record Shortage(long bytesLeftMin, WhenShort action) {}

    /** What is done, by the thread that allocates, when there is little left; it returns soon and allocates nothing of the pool. */
    public interface WhenShort {
        /** Called after an allocation; {@code isRefused} says whether it found no block. */
        void onShortage(boolean isRefused);
    }

    private MemoryPool(long address, long capacity) {
        this.address = address;
        this.capacity = capacity;
        this.mapping = new LeftMappings.Mapping(address, capacity);
        this.blocks = new BuddyTree((int) (capacity >>> BLOCK_SHIFT));
    }

    /**
     * Maps a pool of {@code bytes}, rounded down to whole smallest blocks.
     *
     * @throws InsufficientMemoryException when the system grants no such mapping, or it is beyond what a pool can be
     */
    public static MemoryPool open(long bytes) {
        long capacity = bytes & -BLOCK_BYTES_MIN;
        if (capacity <= 0) {
            throw new IllegalArgumentException("a pool of " + bytes + " bytes");
        }
        if (capacity > CAPACITY_BYTES_MAX) {
            throw new InsufficientMemoryException(
                    "a pool of " + bytes + " bytes; the largest is " + CAPACITY_BYTES_MAX + " bytes");
        }
        LeftMappings.unmapLeft();
        long address = mapAligned(capacity);
        NativeMemory.advise(address, capacity, NativeMemory.MADV_HUGEPAGE); // advice: a refusal costs speed only
        try {
            MemoryPool pool = new MemoryPool(address, capacity);
            MemoryRegions.add(address, capacity);
            return pool;
        } catch (Throwable e) {
            NativeMemory.unmap(address, capacity);
            throw e;
        }
    }

    static long mapAligned(long capacity) {
        long mapped = capacity + HUGE_PAGE_BYTES;
        int protection = NativeMemory.PROT_READ | NativeMemory.PROT_WRITE;
        int flags = NativeMemory.MAP_PRIVATE | NativeMemory.MAP_ANONYMOUS;
        long start = NativeMemory.map(mapped, protection, flags, -1, 0);
        if (start < 0) {
            throw new InsufficientMemoryException(
                    "the system grants no mapping of " + capacity + " bytes: " + Errno.name((int) -start));
        }
        if (start + mapped > ADDRESS_END) {
            NativeMemory.unmap(start, mapped);
            throw new InsufficientMemoryException("the system maps memory beyond 2^48 bytes only");
        }
        long aligned = start + HUGE_PAGE_BYTES - 1 & -HUGE_PAGE_BYTES;
        if (aligned > start) {
            NativeMemory.unmap(start, aligned - start);
        }
        long tail = start + mapped - (aligned + capacity);
        if (tail > 0) {
            NativeMemory.unmap(aligned + capacity, tail);
        }
        return aligned;
    }

    /** The bytes that can be given out. */
    public long capacity() {
        return capacity;
    }

    /** Whether an address lies in the pool. */
    public boolean contains(long place) {
        return place >= address && place < address + capacity;
    }

    /** The bytes given out, each block at its power-of-two size. */
    public long allocated() {
        KeptBlocks known = kept;
        // What is kept meanwhile may be more than what was allocated when that was looked at.
        return known == null ? allocated : Math.max(0, allocated - (long) known.units() * BLOCK_BYTES_MIN);
    }

    /** Whether more than half is given out, some small blocks that were given back included. */
    public boolean isMostlyAllocated() {
        return allocated > capacity / 2;
    }

    /** From now on keeps some small blocks that are given back for whoever wants such next, without locking. For pools of many threads. */
    public void keepSmallBlocks() {
        kept = new KeptBlocks();
    }

    /** The size of the block that {@link #allocate} takes for {@code bytes}. */
    public static long blockBytes(long bytes) {
        return bytes <= BLOCK_BYTES_MIN ? BLOCK_BYTES_MIN : Long.highestOneBit(bytes - 1) << 1;
    }

    /**
     * A block of at least {@code bytes}, aligned to the smaller of its size and 2 MiB; 0 when none is left. Its
     * contents are undefined.
     */
    public long allocate(long bytes) {
        long block = allocateOrReclaim(bytes);
        Shortage known = shortage;
        if (block == 0 || known.bytesLeftMin > 0 && capacity - allocated() < known.bytesLeftMin) {
            try {
                known.action.onShortage(block == 0);
            } catch (Throwable e) {
                if (block != 0) {
                    free(block, bytes);
                }
                throw e;
            }
        }
        return block;
    }

    private long allocateOrReclaim(long bytes) {
        long block = allocateSpare(bytes);
        // Once more when nothing was left, which somebody else may have given back just before; or lent, which is then found by asking again.
        boolean wasNothing = false;
        while (block == 0 && blockBytes(bytes) <= capacity) {
            boolean isNothing = !borrower.getAsBoolean();
            if (isNothing && wasNothing) {
                return 0;
            }
            wasNothing = isNothing;
            block = allocateSpare(bytes);
        }
        return block;
    }

    /** As {@link #allocate}, for who can do without: nobody is told that there is little left, and nothing that was lent is asked back. */
    public long allocateSpare(long bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("a block of " + bytes + " bytes");
        }
        if (bytes > capacity) {
            return 0;
        }
        if (closed) {
            throw new IllegalStateException("the pool is closed");
        }
        int order = order(bytes);
        KeptBlocks known = kept;
        long block = known == null || order >= KeptBlocks.ORDERS ? 0 : known.take(order);
        return block != 0 ? block : allocateLocked(order);
    }

    private long allocateLocked(int order) {
        lock.lock();
        try {
            if (closed) {
                throw new IllegalStateException("the pool is closed");
            }
            int unit = blocks.allocate(order);
            if (unit < 0 && freeKept()) {
                unit = blocks.allocate(order);
            }
            if (unit < 0) {
                return 0;
            }
            allocated += (long) BLOCK_BYTES_MIN << order;
            return address + ((long) unit << BLOCK_SHIFT);
        } finally {
            lock.unlock();
        }
    }

    /** Makes free what is kept; under the lock. */
    private boolean freeKept() {
        long before = freed;
        KeptBlocks known = kept;
        for (int order = 0; known != null && order < KeptBlocks.ORDERS; order++) {
            int size = order;
            known.takeAll(order, block -> freeLocked(block, size));
        }
        return freed != before;
    }

    /**
     * Has {@code giveBack} called, and looks again, whenever {@link #allocate} found no block: it frees some of what was borrowed, at once, and says
     * whether there was any.
     */
    public void whenWanted(BooleanSupplier giveBack) {
        borrower = giveBack;
    }

    /** Has {@code action} called whenever {@link #allocate} found no block, or left less than {@code bytesLeftMin}. */
    public void whenShort(long bytesLeftMin, WhenShort action) {
        shortage = new Shortage(bytesLeftMin, action);
    }

    /**
     * As {@link #allocate}, waiting while others give memory back; 0 when there is no such block and nothing was given back for
     * {@value #IDLE_POLLS_MAX} tenths of a millisecond.
     */
    public long allocatePatiently(long bytes) {
        long block = allocate(bytes);
        long seen = freed;
        for (int idle = 0; block == 0 && blockBytes(bytes) <= capacity && idle < IDLE_POLLS_MAX; idle++) {
            Clock.SYSTEM.parkNanos(POLL_NANOS);
            block = allocate(bytes);
            if (freed != seen) {
                seen = freed;
                idle = 0;
            }
        }
        return block;
    }

    /**
     * Gives back the block that {@link #allocate} returned for the same number of bytes. Does nothing once the pool is
     * closed.
     *
     * @throws IllegalStateException when there is no such block
     */
    public void free(long block, long bytes) {
        int order = order(bytes);
        long offset = block - address;
        if (offset < 0 || offset >= capacity || (offset & BLOCK_BYTES_MIN - 1) != 0) {
            throw new IllegalStateException("0x" + Long.toHexString(block) + " is no block of this pool");
        }
        KeptBlocks known = kept;
        if (known == null || order >= KeptBlocks.ORDERS || closed) {
            freeNow(block, order);
            return;
        }
        assert poisonFreed(known, block, order);
        if (!known.keep(block, order)) {
            requireNotKept(known, block, order);
            freeNow(block, order);
        }
    }

    private boolean poisonFreed(KeptBlocks known, long block, int order) {
        requireNotKept(known, block, order);
        lock.lock();
        try {
            blocks.requireAllocated(unit(block), order);
            return closed || poison(block, (long) BLOCK_BYTES_MIN << order);
        } finally {
            lock.unlock();
        }
    }

    private static void requireNotKept(KeptBlocks known, long block, int order) {
        if (known.contains(block, order)) {
            throw new IllegalStateException("0x" + Long.toHexString(block) + " was given back before");
        }
    }

    private void freeNow(long block, int order) {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            assert poison(block, Math.min((long) BLOCK_BYTES_MIN << order, POISON_BYTES_MAX));
            freeLocked(block, order);
        } finally {
            lock.unlock();
        }
    }

    private void freeLocked(long block, int order) {
        blocks.free(unit(block), order);
        allocated -= (long) BLOCK_BYTES_MIN << order;
        freed++;
    }

    /** Unmaps the memory, also what is still allocated: nobody may use it any more. Where the Java heap is full, it may be unmapped later. Idempotent. */
    @Override
    public void close() {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
        } finally {
            lock.unlock();
        }
        MemoryRegions.remove(address);
        LeftMappings.unmap(mapping);
    }

    private int unit(long block) {
        return (int) (block - address >>> BLOCK_SHIFT);
    }

    private static int order(long bytes) {
        return Long.numberOfTrailingZeros(blockBytes(bytes)) - BLOCK_SHIFT;
    }

    private static boolean poison(long block, long length) {
        Memory.fill(block, length, POISON);
        return true;
    }
}
