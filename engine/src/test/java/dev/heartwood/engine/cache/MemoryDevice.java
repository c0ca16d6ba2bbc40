package dev.heartwood.engine.cache;

import dev.heartwood.NoSpaceException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.IoQueue;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A device in memory that fails on demand, completes queued operations in random order, and refuses a write that overlaps other
 * I/O under way on the same page: exactly what a discard must prevent.
 */
public final class MemoryDevice implements BlockDevice {
    private static final int WRITING = 1 << 16;

    private final MemoryPool memory;
    private final long origin;
    private final AtomicIntegerArray underWay;
    private final AtomicLong bytesRead = new AtomicLong();
    private final AtomicLong bytesWritten = new AtomicLong();
    private volatile long size;
    private volatile long sizeMax;

    /** Calls of {@link #read} and queued reads. */
    public final AtomicInteger reads = new AtomicInteger();

    /** Calls of {@link #write} and {@link #writePages} and queued writes. */
    public final AtomicInteger writes = new AtomicInteger();

    /** Where holes got their blocks again. */
    public final List<Long> restored = new ArrayList<>();

    /** Whether they can. */
    public boolean hasRoom = true;

    /** Extents that cannot, whatever others can. */
    public final BitSet holes = new BitSet();

    /** Whether any range may be without blocks. */
    public boolean mayHaveHoles = true;

    /** Called before a range is given back. */
    public Runnable discarding = () -> {};

    /** The read, counted from now, that fails: 1 is the next; below 1, none. */
    public final AtomicInteger failingRead = new AtomicInteger();

    /** The write, counted from now, that fails. */
    public final AtomicInteger failingWrite = new AtomicInteger();

    /** Whether queues fail as a whole: nothing under way in them ends. */
    public volatile boolean queuesFail;

    /** Called in the middle of every operation: a place to wait or to yield. */
    public volatile Runnable during = () -> {};

    /** A device of {@code pages} pages, all allocated. */
    public MemoryDevice(int pages) {
        this(pages, (long) pages << PageLayout.PAGE_SHIFT);
    }

    /** A device that can grow to {@code pages} pages and now has {@code size} bytes. */
    public MemoryDevice(int pages, long size) {
        long bytes = MemoryPool.blockBytes((long) pages << PageLayout.PAGE_SHIFT);
        this.memory = MemoryPool.open(bytes);
        this.origin = memory.allocate(bytes);
        Memory.fill(origin, bytes, 0);
        this.underWay = new AtomicIntegerArray(pages);
        this.size = size;
        this.sizeMax = (long) pages << PageLayout.PAGE_SHIFT;
    }

    /** Lets the device grow to this many bytes, not beyond. */
    public void limit(long bytes) {
        sizeMax = bytes;
    }

    /** The address of a page's bytes on the device. */
    public long contents(long pageNumber) {
        return origin + (pageNumber << PageLayout.PAGE_SHIFT);
    }

    /** Changes one bit of a page on the device. */
    public void flip(long pageNumber, int bit) {
        long address = contents(pageNumber) + (bit >>> 3);
        Memory.putByte(address, Memory.getByte(address) ^ 1 << (bit & 7));
    }

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public void read(long position, long address, int length) {
        begin(position, length, 1);
        try {
            transferRead(position, address, length);
        } finally {
            end(position, length, 1);
        }
    }

    @Override
    public void write(long position, long address, int length) {
        begin(position, length, WRITING);
        try {
            transferWrite(position, address, length);
        } finally {
            end(position, length, WRITING);
        }
    }

    @Override
    public void writePages(long position, long[] addresses, int count) {
        int length = count << PageLayout.PAGE_SHIFT;
        begin(position, length, WRITING);
        try {
            requireWrite(position);
            for (int i = 0; i < count; i++) {
                long to = origin + position + ((long) i << PageLayout.PAGE_SHIFT);
                Memory.copy(addresses[i], to, PageLayout.PAGE_BYTES);
            }
            bytesWritten.addAndGet(length);
        } finally {
            end(position, length, WRITING);
        }
    }

    private void transferRead(long position, long address, int length) {
        reads.incrementAndGet();
        during.run();
        if (failingRead.get() > 0 && failingRead.decrementAndGet() == 0) {
            throw new ReadFailedException(5, "EIO", "pread", name(), position);
        }
        Memory.copy(origin + position, address, length);
        bytesRead.addAndGet(length);
    }

    private void transferWrite(long position, long address, int length) {
        requireWrite(position);
        Memory.copy(address, origin + position, length);
        bytesWritten.addAndGet(length);
    }

    private void requireWrite(long position) {
        writes.incrementAndGet();
        during.run();
        if (failingWrite.get() > 0 && failingWrite.decrementAndGet() == 0) {
            throw new StoreIoException(5, "EIO", "pwrite", name(), position);
        }
    }

    private void begin(long position, int length, int kind) {
        if ((position & ALIGNMENT - 1) != 0 || (length & ALIGNMENT - 1) != 0 || position + length > size) {
            throw new AssertionError("I/O of " + length + " bytes at " + position + " of " + size);
        }
        for (int i = 0; i < length >>> PageLayout.PAGE_SHIFT; i++) {
            int page = (int) (position >>> PageLayout.PAGE_SHIFT) + i;
            int before = underWay.getAndAdd(page, kind);
            if (kind == WRITING ? before != 0 : before >= WRITING) {
                throw new AssertionError("overlapping I/O on page " + page);
            }
        }
    }

    private void end(long position, int length, int kind) {
        for (int i = 0; i < length >>> PageLayout.PAGE_SHIFT; i++) {
            underWay.getAndAdd((int) (position >>> PageLayout.PAGE_SHIFT) + i, -kind);
        }
    }

    @Override
    public void sync() {}

    @Override
    public void allocate(long bytes) {
        if (bytes > sizeMax) {
            throw new NoSpaceException("memory device of " + sizeMax + " bytes");
        }
        size = Math.max(size, bytes);
    }

    @Override
    public long available() {
        return hasRoom ? sizeMax - size : 0;
    }

    @Override
    public boolean mayHaveHoles() {
        return mayHaveHoles;
    }

    @Override
    public void discard(long position, long length) {
        discarding.run();
        Memory.fill(origin + position, length, 0);
    }

    @Override
    public void restore(long position, long length) {
        int hole = holes.nextSetBit((int) (position / PageLayout.EXTENT_BYTES));
        if (!hasRoom || hole >= 0 && (long) hole * PageLayout.EXTENT_BYTES < position + length) {
            throw new NoSpaceException("no room for a hole");
        }
        restored.add(position);
    }

    @Override
    public IoQueue newQueue(int depth) {
        return new Queue(depth);
    }

    @Override
    public long bytesRead() {
        return bytesRead.get();
    }

    @Override
    public long bytesWritten() {
        return bytesWritten.get();
    }

    @Override
    public void close() {
        memory.close();
    }

    private record Operation(long position, long address, int length, long tag, int kind) {}

    private final class Queue implements IoQueue {
        private final int depth;
        private final ArrayList<Operation> pending = new ArrayList<>();
        private final Random order = new Random(7);
        private long failedTag;

        private Queue(int depth) {
            this.depth = depth;
        }

        @Override
        public int depth() {
            return depth;
        }

        @Override
        public int pending() {
            return pending.size();
        }

        @Override
        public void read(long position, long address, int length, long tag) {
            queue(new Operation(position, address, length, tag, 1));
        }

        @Override
        public void write(long position, long address, int length, long tag) {
            queue(new Operation(position, address, length, tag, WRITING));
        }

        private void queue(Operation operation) {
            if (pending.size() == depth) {
                throw new IllegalStateException("the queue is full");
            }
            begin(operation.position, operation.length, operation.kind);
            pending.add(operation);
        }

        @Override
        public void submit() {}

        @Override
        public long await() {
            if (pending.isEmpty()) {
                throw new IllegalStateException("nothing is pending");
            }
            if (queuesFail) {
                throw new StoreIoException(5, "EIO", "io_uring_enter", name(), -1);
            }
            Operation operation = pending.remove(order.nextInt(pending.size()));
            try {
                if (operation.kind == WRITING) {
                    transferWrite(operation.position, operation.address, operation.length);
                } else {
                    transferRead(operation.position, operation.address, operation.length);
                }
                return operation.tag;
            } catch (StoreException | Error e) {
                failedTag = operation.tag;
                throw e;
            } finally {
                end(operation.position, operation.length, operation.kind);
            }
        }

        @Override
        public long failedTag() {
            return failedTag;
        }

        @Override
        public void close() {
            while (!pending.isEmpty()) {
                try {
                    await();
                } catch (StoreException e) {
                    continue;
                }
            }
        }
    }
}
