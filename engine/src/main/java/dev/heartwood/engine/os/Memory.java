package dev.heartwood.engine.os;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Reads and writes native memory by address. All methods are static, thread-safe in the sense of plain memory, and
 * unchecked except under {@code assert}: callers pass addresses that the engine itself allocated.
 */
public final class Memory {
    /*
     * One segment over the whole address space, in a static final field, is what the compiler turns into plain loads and
     * stores; slices and segments in instance fields cost several times that.
     */
    @SuppressWarnings("restricted")
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    private static final int CACHE_LINE_BYTES = 64;
    private static final int TOUCHED_MAX = 4 * CACHE_LINE_BYTES;

    /** As much as a page has. */
    private static final MemorySegment ZEROES = MemorySegment.ofArray(new byte[4096]).asReadOnly();

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT_BIG = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG_BIG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private static final VarHandle HEAP_LONG_BIG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle BYTE_ATOMIC = BYTE.varHandle();
    private static final VarHandle INT_ATOMIC =
            ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
    private static final VarHandle LONG_ATOMIC =
            ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    private Memory() {}

    public static byte getByte(long address) {
        assert MemoryRegions.contains(address, 1);
        return ALL.get(BYTE, address);
    }

    public static int getUnsignedByte(long address) {
        return getByte(address) & 0xff;
    }

    public static void putByte(long address, int value) {
        assert MemoryRegions.contains(address, 1);
        ALL.set(BYTE, address, (byte) value);
    }

    public static int getUnsignedShort(long address) {
        assert MemoryRegions.contains(address, 2);
        return ALL.get(SHORT, address) & 0xffff;
    }

    public static void putShort(long address, int value) {
        assert MemoryRegions.contains(address, 2);
        ALL.set(SHORT, address, (short) value);
    }

    public static int getInt(long address) {
        assert MemoryRegions.contains(address, 4);
        return ALL.get(INT, address);
    }

    public static void putInt(long address, int value) {
        assert MemoryRegions.contains(address, 4);
        ALL.set(INT, address, value);
    }

    public static long getLong(long address) {
        assert MemoryRegions.contains(address, 8);
        return ALL.get(LONG, address);
    }

    public static void putLong(long address, long value) {
        assert MemoryRegions.contains(address, 8);
        ALL.set(LONG, address, value);
    }

    /** Four bytes as a big-endian number: compared as unsigned, it orders as the bytes do. */
    public static int getIntBigEndian(long address) {
        assert MemoryRegions.contains(address, 4);
        return ALL.get(INT_BIG, address);
    }

    public static void putIntBigEndian(long address, int value) {
        assert MemoryRegions.contains(address, 4);
        ALL.set(INT_BIG, address, value);
    }

    /** Eight bytes as a big-endian number: compared as unsigned, it orders as the bytes do. */
    public static long getLongBigEndian(long address) {
        assert MemoryRegions.contains(address, 8);
        return ALL.get(LONG_BIG, address);
    }

    public static void putLongBigEndian(long address, long value) {
        assert MemoryRegions.contains(address, 8);
        ALL.set(LONG_BIG, address, value);
    }

    public static byte getByteAcquire(long address) {
        assert MemoryRegions.contains(address, 1);
        return (byte) BYTE_ATOMIC.getAcquire(ALL, address);
    }

    public static void putByteRelease(long address, int value) {
        assert MemoryRegions.contains(address, 1);
        BYTE_ATOMIC.setRelease(ALL, address, (byte) value);
    }

    /** The address of this and the following 4-byte atomic accesses is a multiple of 4. */
    public static int getIntAcquire(long address) {
        assert MemoryRegions.contains(address, 4);
        return (int) INT_ATOMIC.getAcquire(ALL, address);
    }

    public static int getIntVolatile(long address) {
        assert MemoryRegions.contains(address, 4);
        return (int) INT_ATOMIC.getVolatile(ALL, address);
    }

    public static int getIntOpaque(long address) {
        assert MemoryRegions.contains(address, 4);
        return (int) INT_ATOMIC.getOpaque(ALL, address);
    }

    public static void putIntRelease(long address, int value) {
        assert MemoryRegions.contains(address, 4);
        INT_ATOMIC.setRelease(ALL, address, value);
    }

    public static void putIntVolatile(long address, int value) {
        assert MemoryRegions.contains(address, 4);
        INT_ATOMIC.setVolatile(ALL, address, value);
    }

    public static boolean compareAndSetInt(long address, int expected, int value) {
        assert MemoryRegions.contains(address, 4);
        return INT_ATOMIC.compareAndSet(ALL, address, expected, value);
    }

    public static int getAndAddInt(long address, int delta) {
        assert MemoryRegions.contains(address, 4);
        return (int) INT_ATOMIC.getAndAdd(ALL, address, delta);
    }

    /** The address of this and the following 8-byte atomic accesses is a multiple of 8. */
    public static long getLongAcquire(long address) {
        assert MemoryRegions.contains(address, 8);
        return (long) LONG_ATOMIC.getAcquire(ALL, address);
    }

    public static long getLongVolatile(long address) {
        assert MemoryRegions.contains(address, 8);
        return (long) LONG_ATOMIC.getVolatile(ALL, address);
    }

    public static void putLongRelease(long address, long value) {
        assert MemoryRegions.contains(address, 8);
        LONG_ATOMIC.setRelease(ALL, address, value);
    }

    public static void putLongVolatile(long address, long value) {
        assert MemoryRegions.contains(address, 8);
        LONG_ATOMIC.setVolatile(ALL, address, value);
    }

    public static boolean compareAndSetLong(long address, long expected, long value) {
        assert MemoryRegions.contains(address, 8);
        return LONG_ATOMIC.compareAndSet(ALL, address, expected, value);
    }

    public static long getAndAddLong(long address, long delta) {
        assert MemoryRegions.contains(address, 8);
        return (long) LONG_ATOMIC.getAndAdd(ALL, address, delta);
    }

    /** Copies within native memory; the ranges may overlap. */
    public static void copy(long from, long to, long length) {
        assert length == 0 || MemoryRegions.contains(from, length) && MemoryRegions.contains(to, length);
        MemorySegment.copy(ALL, from, ALL, to, length);
    }

    /** Copies out of a segment, on or off the heap. */
    public static void copyFrom(MemorySegment from, long offset, long to, long length) {
        assert length == 0 || MemoryRegions.contains(to, length);
        MemorySegment.copy(from, offset, ALL, to, length);
    }

    /** Copies into a segment, on or off the heap. */
    public static void copyTo(long from, MemorySegment to, long offset, long length) {
        assert length == 0 || MemoryRegions.contains(from, length);
        MemorySegment.copy(ALL, from, to, offset, length);
    }

    public static void copyFrom(byte[] from, int offset, long to, int length) {
        assert length == 0 || MemoryRegions.contains(to, length);
        MemorySegment.copy(from, offset, ALL, BYTE, to, length);
    }

    public static void copyTo(long from, byte[] to, int offset, int length) {
        assert length == 0 || MemoryRegions.contains(from, length);
        MemorySegment.copy(ALL, BYTE, from, to, offset, length);
    }

    /** A new array with the bytes at {@code address}. */
    public static byte[] bytes(long address, int length) {
        byte[] bytes = new byte[length];
        copyTo(address, bytes, 0, length);
        return bytes;
    }

    public static void fill(long address, long length, int value) {
        assert length == 0 || MemoryRegions.contains(address, length);
        ALL.asSlice(address, length).fill((byte) value);
    }

    /**
     * A read-only segment over native memory that lives as long as {@code arena}. What is handed to users must be such a
     * segment, of an arena that is closed before the memory is used for something else.
     */
    @SuppressWarnings("restricted")
    public static MemorySegment view(long address, long length, java.lang.foreign.Arena arena) {
        assert length == 0 || MemoryRegions.contains(address, length);
        return MemorySegment.ofAddress(address)
                .reinterpret(length, arena, null)
                .asReadOnly();
    }

    /** Whether every byte of a range, of 4,096 at most, is 0. */
    public static boolean isZero(long address, int length) {
        assert MemoryRegions.contains(address, length);
        return MemorySegment.mismatch(ALL, address, address + length, ZEROES, 0, length) < 0;
    }

    /** The number of leading bytes that two ranges share. */
    public static int commonPrefix(long a, long b, int lengthMax) {
        int i = 0;
        while (i + 8 <= lengthMax) {
            long difference = getLong(a + i) ^ getLong(b + i);
            if (difference != 0) {
                return i + (Long.numberOfTrailingZeros(difference) >>> 3);
            }
            i += 8;
        }
        while (i < lengthMax && getByte(a + i) == getByte(b + i)) {
            i++;
        }
        return i;
    }

    /**
     * Reads from each cache line of a range, of the first few at most, so that the processor loads all of them at once. Whoever keeps the
     * result, which means nothing, has the compiler leave no read out.
     */
    public static long touchLines(long address, long length) {
        assert MemoryRegions.contains(address, length);
        long end = address + Math.min(length, TOUCHED_MAX);
        long touched = length == 0 ? 0 : getByte(address);
        for (long line = (address & -CACHE_LINE_BYTES) + CACHE_LINE_BYTES; line < end; line += CACHE_LINE_BYTES) {
            touched += getByte(line);
        }
        return touched;
    }

    /** Compares two ranges as unsigned bytes; a prefix of the other comes first. */
    public static int compare(long a, int aLength, long b, int bLength) {
        int shared = Math.min(aLength, bLength);
        int i = 0;
        while (i + 8 <= shared) {
            long x = getLongBigEndian(a + i);
            long y = getLongBigEndian(b + i);
            if (x != y) {
                return Long.compareUnsigned(x, y);
            }
            i += 8;
        }
        while (i < shared) {
            int difference = getUnsignedByte(a + i) - getUnsignedByte(b + i);
            if (difference != 0) {
                return difference;
            }
            i++;
        }
        return aLength - bLength;
    }

    /** As {@link #compare(long, int, long, int)} with the second range on the heap. */
    public static int compare(long a, int aLength, byte[] b) {
        return compare(a, aLength, b, b.length);
    }

    /** As {@link #compare(long, int, byte[])} with the first {@code bLength} bytes of {@code b}. */
    public static int compare(long a, int aLength, byte[] b, int bLength) {
        int shared = Math.min(aLength, bLength);
        int i = 0;
        while (i + 8 <= shared) {
            long x = getLongBigEndian(a + i);
            long y = (long) HEAP_LONG_BIG.get(b, i);
            if (x != y) {
                return Long.compareUnsigned(x, y);
            }
            i += 8;
        }
        while (i < shared) {
            int difference = getUnsignedByte(a + i) - (b[i] & 0xff);
            if (difference != 0) {
                return difference;
            }
            i++;
        }
        return aLength - bLength;
    }
}
