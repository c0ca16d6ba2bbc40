package dev.heartwood.engine.base;

import dev.heartwood.ByteSize;
import dev.heartwood.InsufficientMemoryException;
import java.lang.ref.Reference;

/** Arrays of the Java heap for values of any length, which it may have no room for. Thread-safe. */
public final class HeapArrays {
    /** From this length on an array must leave room for what others need meanwhile, whom a full heap would stop. */
    private static final int LARGE = 4 << 20;

    private static final int LEFT_BYTES_MAX = 64 << 20;

    private HeapArrays() {}

    /**
     * An array of zeros.
     *
     * @throws InsufficientMemoryException when the heap has no room for it, or next to nothing would be left
     */
    public static byte[] make(int length) {
        long heap = Runtime.getRuntime().maxMemory();
        try {
            byte[] array = new byte[length];
            byte[] left = new byte[length < LARGE ? 0 : (int) Math.min(LEFT_BYTES_MAX, heap / 8)];
            Reference.reachabilityFence(left);
            return array;
        } catch (OutOfMemoryError full) {
            throw new InsufficientMemoryException("the Java heap, of at most " + new ByteSize(heap) + ", has no room for "
                    + length + " bytes; with a larger one (-Xmx, for bin/heartwood by HEARTWOOD_JAVA_OPTS) they can be copied");
        }
    }
}
