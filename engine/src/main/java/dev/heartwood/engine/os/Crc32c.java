package dev.heartwood.engine.os;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** The checksum CRC-32C (Castagnoli) of native memory. Thread-safe; allocates nothing once compiled. */
public final class Crc32c {
    /*
     * The JDK's CRC32C over a direct buffer is compiled to the processor's instructions. Each thread keeps a checksum object and
     * buffers that begin at multiples of a gibibyte and reach over two, so that any address lies in one of a few, and moves
     * their bounds; they are used only where the engine has memory.
     *
     * The JDK's object always starts in state ~0. A checksum is continued from state s by flipping, in the first four
     * bytes of the data, the bits in which s differs from ~0: the state and the next four bytes of input enter the
     * division only as their exclusive or.
     */
    private static final int POLYNOMIAL_REFLECTED = 0x82F63B78;
    private static final int[] TABLE = new int[256];

    static {
        for (int i = 0; i < TABLE.length; i++) {
            int remainder = i;
            for (int bit = 0; bit < 8; bit++) {
                remainder = remainder >>> 1 ^ (POLYNOMIAL_REFLECTED & -(remainder & 1));
            }
            TABLE[i] = remainder;
        }
    }

    /** What bytes followed by 2^n others have their remainder multiplied with: x to the power of 8 * 2^n, x^31 in the lowest bit. */
    private static final int[] POWERS = new int[40];

    static {
        int power = 1 << 30;
        for (int squared = 0; squared < 3; squared++) {
            power = product(power, power);
        }
        for (int n = 0; n < POWERS.length; n++) {
            POWERS[n] = power;
            power = product(power, power);
        }
    }

    private static final int WINDOW_SHIFT = 30;
    /** The longest buffer there is over a segment, and what surely fits behind any start in the first gibibyte. */
    private static final int WINDOW_BYTES = Integer.MAX_VALUE - 8;

    private static final int PART_BYTES_MAX = WINDOW_BYTES - (1 << WINDOW_SHIFT);
    /** Of each thread, as many as the addresses that it is given need. */
    private static final int WINDOWS_MIN = 16;

    private static final int WINDOWS_MAX = 4096;
    private static final ThreadLocal<Summer> SUMMERS = ThreadLocal.withInitial(Summer::new);

    private Crc32c() {}

    /** The checksum of {@code length} bytes at {@code address}; of no bytes it is 0. */
    public static int of(long address, long length) {
        Summer summer = SUMMERS.get();
        summer.crc.reset();
        return summer.sum(address, length);
    }

    /**
     * The checksum of some bytes followed by {@code length} bytes at {@code address}, where {@code crc} is the
     * checksum of the former; 0 when there are none.
     */
    public static int update(int crc, long address, long length) {
        if (crc == 0) {
            return of(address, length);
        }
        if (length < 4) {
            return updateFew(crc, address, (int) length);
        }
        int first = Memory.getInt(address) ^ crc;
        Summer summer = SUMMERS.get();
        summer.crc.reset();
        summer.crc.update(first);
        summer.crc.update(first >>> 8);
        summer.crc.update(first >>> 16);
        summer.crc.update(first >>> 24);
        return summer.sum(address + 4, length - 4);
    }

    /**
     * The checksum of some bytes followed by {@code length} others, where {@code first} and {@code second} are those of each; none of them is
     * looked at. Also that of the others alone, where {@code second} is the checksum of all.
     */
    public static int combine(int first, int second, long length) {
        int shifted = first;
        for (int n = 0; length >>> n != 0; n++) {
            if ((length >>> n & 1) != 0) {
                shifted = product(POWERS[n], shifted);
            }
        }
        return shifted ^ second;
    }

    /** The product of two remainders. */
    private static int product(int a, int b) {
        int product = 0;
        int factor = b;
        for (int bit = Integer.SIZE - 1; bit >= 0; bit--) {
            product ^= factor & -(a >>> bit & 1);
            factor = factor >>> 1 ^ (POLYNOMIAL_REFLECTED & -(factor & 1));
        }
        return product;
    }

    private static int updateFew(int crc, long address, int length) {
        int state = ~crc;
        for (int i = 0; i < length; i++) {
            state = state >>> 8 ^ TABLE[(state ^ Memory.getByte(address + i)) & 0xff];
        }
        return ~state;
    }

    /** What a thread keeps. */
    private static final class Summer {
        final CRC32C crc = new CRC32C();
        private ByteBuffer[] windows = new ByteBuffer[WINDOWS_MIN];
        private long[] bases = new long[WINDOWS_MIN];

        int sum(long address, long length) {
            assert length == 0 || MemoryRegions.contains(address, length);
            long at = address;
            for (long left = length; left > 0; ) {
                int part = (int) Math.min(left, PART_BYTES_MAX);
                long base = at >>> WINDOW_SHIFT << WINDOW_SHIFT;
                int from = (int) (at - base);
                crc.update(window(base).limit(from + part).position(from));
                at += part;
                left -= part;
            }
            return (int) crc.getValue();
        }

        private ByteBuffer window(long base) {
            int slot = slot(base);
            while (windows[slot] != null && bases[slot] != base && windows.length < WINDOWS_MAX) {
                makeRoom();
                slot = slot(base);
            }
            if (bases[slot] != base || windows[slot] == null) {
                windows[slot] = open(base);
                bases[slot] = base;
            }
            return windows[slot];
        }

        private int slot(long base) {
            return (int) (base >>> WINDOW_SHIFT) & windows.length - 1;
        }

        /** Twice the slots: two that had different ones before have so again. */
        private void makeRoom() {
            ByteBuffer[] oldWindows = windows;
            long[] oldBases = bases;
            long[] moreBases = new long[2 * oldBases.length];
            windows = new ByteBuffer[moreBases.length];
            bases = moreBases;
            for (int old = 0; old < oldWindows.length; old++) {
                if (oldWindows[old] != null) {
                    int slot = slot(oldBases[old]);
                    windows[slot] = oldWindows[old];
                    bases[slot] = oldBases[old];
                }
            }
        }

        @SuppressWarnings("restricted")
        private static ByteBuffer open(long base) {
            return MemorySegment.ofAddress(base).reinterpret(WINDOW_BYTES).asByteBuffer();
        }
    }
}
