package dev.heartwood.engine.os;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * An array of {@code struct iovec} for {@link FileCalls#pwritev}: pieces of memory that are written one after another.
 * Neighbours in memory are joined. One per thread, reused.
 */
public final class IoVector {
    /** The most pieces in one call, as the kernel defines it. */
    public static final int PIECES_MAX = 1024;

    private static final int PIECE_BYTES = 16;
    private static final ThreadLocal<IoVector> CURRENT = ThreadLocal.withInitial(IoVector::new);

    private final MemorySegment pieces = Arena.ofAuto().allocate((long) PIECES_MAX * PIECE_BYTES, 8);
    private int count;
    private long end;
    private long bytes;

    private IoVector() {}

    /** Initializes this class. A class that finds the Java heap full when it is first used is unusable ever after. */
    public static void initialize() {
        Objects.requireNonNull(CURRENT);
    }

    /** The calling thread's vector, emptied. */
    public static IoVector current() {
        IoVector vector = CURRENT.get();
        vector.count = 0;
        vector.end = 0;
        vector.bytes = 0;
        return vector;
    }

    /** Appends a piece; false, and nothing has changed, when the vector is full. */
    public boolean add(long address, long length) {
        assert MemoryRegions.contains(address, length);
        if (count > 0 && address == end) {
            long lengthAt = (count - 1L) * PIECE_BYTES + 8;
            pieces.set(NativeLinker.LONG, lengthAt, pieces.get(NativeLinker.LONG, lengthAt) + length);
        } else if (count < PIECES_MAX) {
            pieces.set(NativeLinker.LONG, (long) count * PIECE_BYTES, address);
            pieces.set(NativeLinker.LONG, (long) count * PIECE_BYTES + 8, length);
            count++;
        } else {
            return false;
        }
        end = address + length;
        bytes += length;
        return true;
    }

    /** The address of the array. */
    public long address() {
        return pieces.address();
    }

    /** The pieces after joining. */
    public int count() {
        return count;
    }

    /** The bytes of all pieces. */
    public long bytes() {
        return bytes;
    }
}
