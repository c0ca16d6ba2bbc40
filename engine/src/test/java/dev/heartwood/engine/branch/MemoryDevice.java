package dev.heartwood.engine.branch;

import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.IoQueue;
import dev.heartwood.engine.os.Memory;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/** A device in heap memory whose blocks can be looked at and damaged. */
final class MemoryDevice implements BlockDevice {
    private final Map<Long, byte[]> blocks = new HashMap<>();
    private long size;
    private long bytesRead;
    private long bytesWritten;

    /** Pages read one by one or by the extent, in the order of the reads. */
    final java.util.List<Long> pagesRead = new java.util.ArrayList<>();

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public synchronized long size() {
        return size;
    }

    @Override
    public synchronized void read(long position, long address, int length) {
        for (int at = 0; at < length; at += ALIGNMENT) {
            byte[] block = blocks.getOrDefault((position + at) / ALIGNMENT, new byte[ALIGNMENT]);
            Memory.copyFrom(block, 0, address + at, ALIGNMENT);
            pagesRead.add((position + at) / ALIGNMENT);
        }
        bytesRead += length;
    }

    @Override
    public synchronized void write(long position, long address, int length) {
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

    /** The bytes of a page, to be changed in place. */
    synchronized byte[] block(long page) {
        return blocks.get(page);
    }

    @Override
    public void sync() {}

    @Override
    public synchronized void allocate(long newSize) {
        size = Math.max(size, newSize);
    }

    @Override
    public void discard(long position, long length) {}

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
            MemoryDevice.this.read(position, address, length);
            done.add(tag);
        }

        @Override
        public void write(long position, long address, int length, long tag) {
            MemoryDevice.this.write(position, address, length);
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
            return 0;
        }

        @Override
        public void close() {
            done.clear();
        }
    }
}
