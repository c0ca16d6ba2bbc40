package dev.heartwood.testkit;

import dev.heartwood.ClosedException;
import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryRegions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A mapped file in native memory. What was stored is compared with the file when it matters: at a sync, a crash, a close. */
final class SimulatedMapping implements MappedFile {
    private static final long ALIGNMENT = 4096;

    private final SimulatedMachine machine;
    private final SimulatedFile file;
    private final String name;
    private final Arena arena = Arena.ofShared();
    private final long address;
    private final long length;
    private long windowBegin;
    private long windowEnd;
    private boolean isAtRest;
    private boolean closed;

    private SimulatedMapping(SimulatedMachine machine, SimulatedFile file, String name, long length, long address) {
        this.machine = machine;
        this.file = file;
        this.name = name;
        this.length = length;
        this.address = address;
        file.opened(this);
    }

    /** A mapping of a file that has nothing in memory. */
    static SimulatedMapping atRest(SimulatedMachine machine, SimulatedFile file, String name) {
        SimulatedMapping mapping = new SimulatedMapping(machine, file, name, lengthOf(file), 0);
        mapping.isAtRest = true;
        return mapping;
    }

    private static long lengthOf(SimulatedFile file) {
        return file.size() + ALIGNMENT - 1 & -ALIGNMENT;
    }

    /** A mapping of a file of which up to {@code window} bytes may be touched at first. */
    SimulatedMapping(SimulatedMachine machine, SimulatedFile file, String name, long window) {
        this.machine = machine;
        this.file = file;
        this.name = name;
        file.opened(this);
        length = lengthOf(file);
        windowEnd = Math.min(window, length);
        if (length == 0) {
            address = 0;
            return;
        }
        MemorySegment memory = arena.allocate(length, ALIGNMENT);
        address = memory.address();
        MemoryRegions.add(address, length);
        for (long s = 0; s * SimulatedFile.SECTOR_BYTES < length; s++) {
            Memory.copyFrom(file.sector(s), 0, address + s * SimulatedFile.SECTOR_BYTES, SimulatedFile.SECTOR_BYTES);
        }
        file.mapped(this);
    }

    void copySector(long sector, byte[] to) {
        Memory.copyTo(address + sector * SimulatedFile.SECTOR_BYTES, to, 0, to.length);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public long address() {
        return address;
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public long windowEnd() {
        return windowEnd;
    }

    @Override
    public void slide(long begin, long end) {
        machine.locked(() -> {
            if (closed) {
                throw new ClosedException(name);
            }
            if (isAtRest) {
                throw new IllegalStateException(name + " is at rest");
            }
            if (begin < windowBegin || end < windowEnd || begin > end || end > length || (begin | end) % ALIGNMENT != 0) {
                throw new IllegalArgumentException("a window from " + begin + " to " + end);
            }
            Errno errno = machine.faults().begin(OperationKind.SLIDE, name);
            if (errno != null) {
                throw errno.exception(OperationKind.SLIDE, name, windowEnd);
            }
            windowBegin = begin;
            windowEnd = end;
            return null;
        });
    }

    /** Whoever touches it from now on touches no memory. */
    @Override
    public void rest() {
        machine.locked(() -> {
            if (!isAtRest && !closed) {
                isAtRest = true;
                unmap();
            }
            return null;
        });
    }

    private void unmap() {
        if (length > 0) {
            file.unmapped(this);
            MemoryRegions.remove(address);
        }
        arena.close();
    }

    @Override
    public void sync(long offset, long syncLength) {
        machine.locked(() -> {
            if (closed) {
                throw new ClosedException(name);
            }
            Errno errno = machine.faults().begin(OperationKind.SYNC_MAPPED, name);
            if (errno != null) {
                file.failSync(machine.random());
                throw errno.exception(OperationKind.SYNC_MAPPED, name, offset);
            }
            if (file.tellFailedWriteBack(this)) {
                throw Errno.EIO.exception(OperationKind.SYNC_MAPPED, name, offset);
            }
            if (syncLength > 0) {
                file.syncRange(offset, syncLength);
            }
            return null;
        });
    }

    @Override
    public void close() {
        machine.locked(() -> {
            if (!closed) {
                closed = true;
                file.closed(this);
                if (!isAtRest) {
                    unmap();
                }
            }
            return null;
        });
    }
}
