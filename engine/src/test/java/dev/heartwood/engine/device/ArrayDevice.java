package dev.heartwood.engine.device;

import dev.heartwood.CorruptionException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.os.Memory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A device of blocks in arrays, which can be looked at and damaged, and whose operations fail on demand. Thread-safe. */
public final class ArrayDevice implements BlockDevice {
    private final Map<Long, byte[]> blocks = new HashMap<>();
    private final long sizeMax;
    private long writesLeft = Long.MAX_VALUE;
    private long size;
    private long bytesRead;
    private long bytesWritten;
    private long reads;

    /** Pages read one by one or by the extent, in the order of the reads. */
    public final List<Long> pagesRead = new ArrayList<>();

    /** Called within each write. */
    public Runnable whileWriting = () -> {};

    /** Which read from now on fails, once; 0 for none. */
    public int failingRead;

    /** Pages that cannot be read. */
    public final Set<Long> unreadable = new HashSet<>();

    /** How often such a page was to be read. */
    public int unreadableMet;

    /** A device that grows as it is asked to. */
    public ArrayDevice() {
        this(Long.MAX_VALUE);
    }

    /** A device that grows to {@code sizeMax} bytes. */
    public ArrayDevice(long sizeMax) {
        this.sizeMax = sizeMax;
    }

    /** Makes every write fail after the next {@code count}. */
    public synchronized void failWritesAfter(long count) {
        writesLeft = count;
    }

    /** Flips one bit of the file. */
    public synchronized void flip(long bit) {
        block(bit / (8L * ALIGNMENT))[(int) (bit / 8 % ALIGNMENT)] ^= (byte) (1 << bit % 8);
    }

    /** The bytes of a page, to be changed in place; null when it was never written. */
    public synchronized byte[] block(long page) {
        return blocks.get(page);
    }

    @Override
    public String name() {
        return "array";
    }

    @Override
    public synchronized long size() {
        return size;
    }

    @Override
    public synchronized void read(long position, long address, int length) {
        if (failingRead > 0 && --failingRead == 0) {
            throw new CorruptionException(name(), position / ALIGNMENT, "page", "a page", "a failing read");
        }
        for (int at = 0; at < length; at += ALIGNMENT) {
            if (unreadable.contains((position + at) / ALIGNMENT)) {
                unreadableMet++;
                throw new ReadFailedException(5, "EIO", "read", name(), position + at);
            }
            byte[] block = blocks.getOrDefault((position + at) / ALIGNMENT, new byte[ALIGNMENT]);
            Memory.copyFrom(block, 0, address + at, ALIGNMENT);
            pagesRead.add((position + at) / ALIGNMENT);
        }
        bytesRead += length;
        reads++;
    }

    /** Reads so far, of a page or of several. */
    public synchronized long reads() {
        return reads;
    }

    @Override
    public synchronized void write(long position, long address, int length) {
        if (writesLeft-- <= 0) {
            throw new StoreIoException(5, "EIO", "write", name(), position);
        }
        whileWriting.run();
        for (int at = 0; at < length; at += ALIGNMENT) {
            blocks.put((position + at) / ALIGNMENT, Memory.bytes(address + at, ALIGNMENT));
        }
        bytesWritten += length;
    }

    @Override
    public void writePages(long position, long[] addresses, int count) {
        for (int i = 0; i < count; i++) {
            write(position + (long) i * ALIGNMENT, addresses[i], ALIGNMENT);
        }
    }

    @Override
    public void sync() {}

    @Override
    public synchronized void allocate(long newSize) {
        if (newSize > sizeMax) {
            throw new NoSpaceException("the array is full");
        }
        size = Math.max(size, newSize);
    }

    @Override
    public synchronized long available() {
        return sizeMax - size;
    }

    @Override
    public synchronized void discard(long position, long length) {
        for (long page = position / ALIGNMENT; page < (position + length) / ALIGNMENT; page++) {
            blocks.remove(page);
        }
    }

    @Override
    public IoQueue newQueue(int depth) {
        return new Queue(depth);
    }

    @Override
    public synchronized long bytesRead() {
        return bytesRead;
    }

    @Override
    public synchronized long bytesWritten() {
        return bytesWritten;
    }

    @Override
    public void close() {}

    /** Does each operation when it is queued. */
    private final class Queue implements IoQueue {
        private final int depth;
        private final ArrayDeque<Long> done = new ArrayDeque<>();

        Queue(int depth) {
            this.depth = depth;
        }

        @Override
        public int depth() {
            return depth;
        }

        @Override
        public int pending() {
            return done.size();
        }

        @Override
        public void read(long position, long address, int length, long tag) {
            ArrayDevice.this.read(position, address, length);
            done.add(tag);
        }

        @Override
        public void write(long position, long address, int length, long tag) {
            ArrayDevice.this.write(position, address, length);
            done.add(tag);
        }

        @Override
        public void submit() {}

        @Override
        public long await() {
            return done.remove();
        }

        @Override
        public long failedTag() {
            throw new IllegalStateException("nothing failed");
        }

        @Override
        public void close() {
            done.clear();
        }
    }
}
