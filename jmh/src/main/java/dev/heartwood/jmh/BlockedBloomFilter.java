package dev.heartwood.jmh;

import dev.heartwood.engine.os.Memory;

/**
 * The filter that maplets are measured against: a Bloom filter in which the bits of a key lie in one cache line, one bit in each
 * of the line's eight words.
 */
final class BlockedBloomFilter {
    private static final int LINE_BYTES = 64;
    private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;

    private final long address;
    private final long lines;

    BlockedBloomFilter(long address, long lines) {
        this.address = address;
        this.lines = lines;
        Memory.fill(address, bytes(lines), 0);
    }

    static long lines(long keys, int bitsPerKey) {
        return keys * bitsPerKey / (LINE_BYTES * 8) + 1;
    }

    static long bytes(long lines) {
        return lines * LINE_BYTES;
    }

    void add(long hash) {
        long line = line(hash);
        long bits = hash * MULTIPLIER;
        for (int word = 0; word < 8; word++) {
            long place = line + word * 8L;
            Memory.putLong(place, Memory.getLong(place) | 1L << (bits >>> 6 * word + 16));
        }
    }

    boolean mayContain(long hash) {
        long line = line(hash);
        long bits = hash * MULTIPLIER;
        long all = 1;
        for (int word = 0; word < 8; word++) {
            all &= Memory.getLong(line + word * 8L) >>> (bits >>> 6 * word + 16);
        }
        return all != 0;
    }

    private long line(long hash) {
        return address + Math.unsignedMultiplyHigh(hash, lines) * LINE_BYTES;
    }
}
