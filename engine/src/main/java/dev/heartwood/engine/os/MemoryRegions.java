package dev.heartwood.engine.os;

import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The native memory that the engine owns. Asked only under {@code assert}, for every access; kept always, so that
 * assertions can be enabled per package. Thread-safe.
 */
public final class MemoryRegions {
    /*
     * A sorted array of region starts, and beside each its length, replaced as a whole when a region comes or goes, so that asking
     * takes no lock and allocates nothing. Where an address that looks alike was found last is looked at first. A region that goes while
     * the Java heap is full stays in the array with a length that says so, until the next one comes.
     *
     * Shared field   read       written    guarded by
     * regions        volatile   volatile   CHANGE
     * HINTS          plain      plain      what they name is looked at before it is believed
     */
    private record Regions(long[] starts, long[] lengths) {
        boolean isWithin(int at, long address, long length) {
            long offset = address - starts[at];
            return offset >= 0 && length >= 0 && length <= lengths[at] - offset;
        }
    }

    private static final long GONE = -1;
    private static final int HINT_SHIFT = 16;
    private static final int[] HINTS = new int[512];

    private static final ReentrantLock CHANGE = new ReentrantLock();
    private static volatile Regions regions = new Regions(new long[0], new long[0]);

    private MemoryRegions() {}

    /** Announces a region before its first use; no known one overlaps it. */
    public static void add(long address, long length) {
        CHANGE.lock();
        try {
            assert isUnknown(address, length);
            Regions old = withoutGone(regions);
            int at = -Arrays.binarySearch(old.starts, address) - 1;
            regions = new Regions(inserted(old.starts, at, address), inserted(old.lengths, at, length));
        } finally {
            CHANGE.unlock();
        }
    }

    /** As {@link #add}, for a mapping that nobody else knows yet: where the Java heap is too full for it, that is unmapped. */
    public static void addMapping(long address, long length) {
        try {
            add(address, length);
        } catch (Throwable e) {
            NativeMemory.unmap(address, length);
            throw e;
        }
    }

    /**
     * True when no region that is known begins in a range or reaches into it; else an {@link AssertionError} that names one. For use
     * with {@code assert}.
     */
    static boolean isUnknown(long address, long length) {
        CHANGE.lock();
        try {
            Regions now = regions;
            for (int at = 0; at < now.starts.length; at++) {
                long start = now.starts[at];
                boolean overlaps = start == address || start < address + length && address < start + now.lengths[at];
                if (overlaps && now.lengths[at] != GONE) {
                    throw new AssertionError("native memory at " + text(address, length) + " is known as " + text(start, now.lengths[at]));
                }
            }
            return true;
        } finally {
            CHANGE.unlock();
        }
    }

    /**
     * Moves the bounds of the region at an address, which nobody else uses meanwhile; no other begins between its old start and its new
     * one.
     */
    public static void move(long address, long newAddress, long newLength) {
        CHANGE.lock();
        try {
            // In place: the array stays sorted, and who asks about another region finds that one whatever is read of this one.
            Regions now = regions;
            int at = Arrays.binarySearch(now.starts, address);
            now.starts[at] = newAddress;
            now.lengths[at] = newLength;
        } finally {
            CHANGE.unlock();
        }
    }

    /** Withdraws the region at an address before it is unmapped; whatever the state of the Java heap. */
    public static void remove(long address) {
        CHANGE.lock();
        try {
            Regions old = regions;
            int at = Arrays.binarySearch(old.starts, address);
            assert at >= 0 : "no native memory begins at 0x" + Long.toHexString(address);
            if (at >= 0) {
                old.lengths[at] = GONE;
                regions = withoutGone(old);
            }
        } catch (OutOfMemoryError full) {
            return; // it owns nothing any more
        } finally {
            CHANGE.unlock();
        }
    }

    /**
     * True when the engine owns the whole range; else an {@link AssertionError} that names it. For use with {@code
     * assert}.
     */
    public static boolean contains(long address, long length) {
        Regions now = regions;
        int hint = (int) (address >>> HINT_SHIFT) & HINTS.length - 1;
        int at = HINTS[hint];
        return at < now.starts.length && now.isWithin(at, address, length) || contains(now, address, length, hint);
    }

    private static boolean contains(Regions now, long address, long length, int hint) {
        int found = Arrays.binarySearch(now.starts, address);
        int at = found >= 0 ? found : -found - 2;
        if (at < 0 || !now.isWithin(at, address, length)) {
            throw new AssertionError("no native memory at " + text(address, length));
        }
        HINTS[hint] = at;
        return true;
    }

    /** How many regions are announced; the same before something was opened and after it was closed, or memory is lost. */
    public static int count() {
        return (int) Arrays.stream(regions.lengths).filter(length -> length != GONE).count();
    }

    private static Regions withoutGone(Regions old) {
        Regions now = old;
        for (int at = old.lengths.length - 1; at >= 0; at--) {
            if (old.lengths[at] == GONE) {
                now = new Regions(removed(now.starts, at), removed(now.lengths, at));
            }
        }
        return now;
    }

    private static String text(long address, long length) {
        return "0x" + Long.toHexString(address) + ", length " + length;
    }

    private static long[] inserted(long[] values, int at, long value) {
        long[] longer = new long[values.length + 1];
        System.arraycopy(values, 0, longer, 0, at);
        longer[at] = value;
        System.arraycopy(values, at, longer, at + 1, values.length - at);
        return longer;
    }

    private static long[] removed(long[] values, int at) {
        long[] shorter = new long[values.length - 1];
        System.arraycopy(values, 0, shorter, 0, at);
        System.arraycopy(values, at + 1, shorter, at, shorter.length - at);
        return shorter;
    }
}
