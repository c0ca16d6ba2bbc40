package dev.heartwood.testkit;

import dev.heartwood.ClosedException;
import dev.heartwood.CorruptionException;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.IoQueue;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.testkit.FaultPlan.Lie;

/** The data file of a simulated storage. Refuses what O_DIRECT refuses: anything that is not aligned. Thread-safe. */
final class SimulatedDevice implements BlockDevice {
    private static final int SECTOR_BYTES = SimulatedFile.SECTOR_BYTES;

    private final SimulatedMachine machine;
    private final SimulatedFile file;
    private final String name;
    private long bytesRead;
    private long bytesWritten;
    private boolean closed;

    SimulatedDevice(SimulatedMachine machine, SimulatedFile file, String name) {
        this.machine = machine;
        this.file = file;
        this.name = name;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public long size() {
        return machine.locked(file::size);
    }

    @Override
    public void read(long position, long address, int length) {
        machine.faults().delay();
        machine.locked(() -> {
            requireAligned(position, address, length);
            begin(OperationKind.READ, position);
            if (position + length > file.size()) {
                throw new CorruptionException(
                        name,
                        position / ALIGNMENT,
                        "any",
                        "a file of at least " + (position + length) + " bytes",
                        file.size() + " bytes");
            }
            if (!file.isReadable(position, length)) {
                throw Errno.EIO.exception(OperationKind.READ, name, position);
            }
            Lie lie = machine.faults().lie();
            long from = lie == Lie.MISDIRECTED ? elsewhere(position, length) : position;
            for (int i = 0; i < length; i += SECTOR_BYTES) {
                Memory.copyFrom(file.sector((from + i) / SECTOR_BYTES), 0, address + i, SECTOR_BYTES);
            }
            if (lie == Lie.FLIPPED) {
                long at = address + machine.random().nextInt(length);
                Memory.putByte(at, (byte) (Memory.getByte(at) ^ 1 << machine.random().nextInt(8)));
            }
            bytesRead += length;
            file.read(position, length);
            return null;
        });
    }

    @Override
    public void write(long position, long address, int length) {
        machine.faults().delay();
        machine.locked(() -> {
            requireAligned(position, address, length);
            Errno errno = machine.faults().begin(OperationKind.WRITE, name);
            if (errno != null) {
                // The part that was transferred before the error is there.
                int sectors = machine.random().nextInt(length / SECTOR_BYTES);
                copy(position, address, Math.min(sectors * SECTOR_BYTES, Math.max(0, file.size() - position)));
                throw errno.exception(OperationKind.WRITE, name, position);
            }
            machine.reserve(position + length - file.size(), name);
            if (position + length > file.size()) {
                file.resize(position + length);
            }
            Lie lie = machine.faults().lie();
            if (lie != Lie.LOST) {
                copy(lie == Lie.MISDIRECTED ? elsewhere(position, length) : position, address, length);
            }
            bytesWritten += length;
            return null;
        });
    }

    @Override
    public void writePages(long position, long[] addresses, int count) {
        machine.locked(() -> {
            for (int i = 0; i < count; i++) {
                write(position + (long) i * ALIGNMENT, addresses[i], ALIGNMENT);
            }
            return null;
        });
    }

    /**
     * Another place of the same length within the file, the same one when there is no other: the first one from a random one on that holds
     * something, since a page that was never written is told from any other by its checksum alone.
     */
    private long elsewhere(long position, int length) {
        long places = (file.size() - length) / ALIGNMENT + 1;
        if (places == 1) {
            return position;
        }
        long own = position / ALIGNMENT;
        long first = machine.random().nextLong(1, places);
        for (long i = 0; i < places; i++) {
            long place = (own + first + i) % places;
            if (place != own && file.isWritten(place * ALIGNMENT)) {
                return place * ALIGNMENT;
            }
        }
        return (own + first) % places * ALIGNMENT;
    }

    private void copy(long position, long address, long length) {
        for (long i = 0; i < length; i += SECTOR_BYTES) {
            file.put((position + i) / SECTOR_BYTES, Memory.bytes(address + i, SECTOR_BYTES), false);
        }
    }

    @Override
    public void sync() {
        machine.faults().delay();
        machine.locked(() -> {
            requireOpen();
            Errno errno = machine.faults().begin(OperationKind.SYNC, name);
            if (errno != null) {
                file.failSync(machine.random());
                throw errno.exception(OperationKind.SYNC, name, -1);
            }
            file.syncAll();
            return null;
        });
    }

    @Override
    public void allocate(long size) {
        machine.locked(() -> {
            requireOpen();
            begin(OperationKind.ALLOCATE, size);
            machine.reserve(size - file.size(), name);
            if (size > file.size()) {
                file.resize(size);
            }
            return null;
        });
    }

    @Override
    public long available() {
        return machine.availableBytes();
    }

    @Override
    public void discard(long position, long length) {
        machine.locked(() -> {
            requireAligned(position, 0, length);
            begin(OperationKind.DISCARD, position);
            file.zero(position, length);
            return null;
        });
    }

    @Override
    public IoQueue newQueue(int depth) {
        return new SimulatedQueue(machine, this, depth);
    }

    @Override
    public long bytesRead() {
        return machine.locked(() -> bytesRead);
    }

    @Override
    public long bytesWritten() {
        return machine.locked(() -> bytesWritten);
    }

    @Override
    public void close() {
        machine.locked(() -> closed = true);
    }

    private void begin(OperationKind kind, long position) {
        Errno errno = machine.faults().begin(kind, name);
        if (errno != null) {
            throw errno.exception(kind, name, position);
        }
    }

    private void requireAligned(long position, long address, long length) {
        requireOpen();
        if ((position | address | length) % ALIGNMENT != 0 || position < 0 || length <= 0) {
            throw new IllegalArgumentException(
                    "not aligned: position " + position + ", address " + address + ", length " + length);
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new ClosedException(name);
        }
    }
}
