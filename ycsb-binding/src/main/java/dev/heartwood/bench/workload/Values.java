package dev.heartwood.bench.workload;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/**
 * Makes and checks values: 8 bytes of version, then a stream seeded by key and version. Values under 16 bytes
 * have no version. Incompressible. Stateless.
 */
public final class Values {
    private static final int VERSIONED_BYTES_MIN = 16;
    private static final long STEP = 0x9e3779b97f4a7c15L;

    private Values() {}

    /** Fills all of {@code value} for {@code key}. */
    public static void fill(MemorySegment key, MemorySegment value, long version) {
        long length = value.byteSize();
        boolean versioned = length >= VERSIONED_BYTES_MIN;
        long state = seed(key, versioned ? version : 0);
        long offset = 0;
        if (versioned) {
            value.set(JAVA_LONG_UNALIGNED, 0, version);
            offset = Long.BYTES;
        }
        for (; offset <= length - Long.BYTES; offset += Long.BYTES) {
            state += STEP;
            value.set(JAVA_LONG_UNALIGNED, offset, SeededRandom.mix(state));
        }
        long tail = SeededRandom.mix(state + STEP);
        for (; offset < length; offset++, tail >>>= 8) {
            value.set(JAVA_BYTE, offset, (byte) tail);
        }
    }

    /**
     * Whether the first {@code length} bytes of {@code value} are what {@link #fill} makes for {@code key} and
     * some version.
     */
    public static boolean matches(MemorySegment key, MemorySegment value, long length) {
        boolean versioned = length >= VERSIONED_BYTES_MIN;
        long state = seed(key, versioned ? value.get(JAVA_LONG_UNALIGNED, 0) : 0);
        long offset = versioned ? Long.BYTES : 0;
        long difference = 0;
        for (; offset <= length - Long.BYTES; offset += Long.BYTES) {
            state += STEP;
            difference |= value.get(JAVA_LONG_UNALIGNED, offset) ^ SeededRandom.mix(state);
        }
        long tail = SeededRandom.mix(state + STEP);
        for (; offset < length; offset++, tail >>>= 8) {
            difference |= value.get(JAVA_BYTE, offset) ^ (byte) tail;
        }
        return difference == 0;
    }

    private static long seed(MemorySegment key, long version) {
        long hash = SeededRandom.mix(version + STEP) ^ key.byteSize();
        long offset = 0;
        for (; offset <= key.byteSize() - Long.BYTES; offset += Long.BYTES) {
            hash = SeededRandom.mix(hash ^ key.get(JAVA_LONG_UNALIGNED, offset));
        }
        for (; offset < key.byteSize(); offset++) {
            hash = SeededRandom.mix(hash ^ key.get(JAVA_BYTE, offset));
        }
        return hash;
    }
}
