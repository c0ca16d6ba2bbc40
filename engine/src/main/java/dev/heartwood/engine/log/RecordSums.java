package dev.heartwood.engine.log;

import dev.heartwood.engine.os.Crc32c;
import java.util.Arrays;

/**
 * Sums up parts of a mapped file, each for little, however long it is: what looks like a record may lie wherever one may begin, and reach to
 * the end of the file. One thread.
 */
final class RecordSums {
    private static final int BLOCK_SHIFT = 12;
    private static final long BLOCK_BYTES = 1L << BLOCK_SHIFT;
    /** Of fewer blocks the checksum is taken as it is. */
    private static final int BLOCKS_MIN = 4;

    private final long address;
    /** The checksums of what lies before each block, as far as they were wanted. */
    private int[] before = {0};

    private int known;

    /** For a file that is mapped at an address. */
    RecordSums(long address) {
        this.address = address;
    }

    /** The checksum of what lies between two addresses. */
    int sum(long fromAddress, long toAddress) {
        long from = fromAddress - address;
        long to = toAddress - address;
        int first = (int) (from + BLOCK_BYTES - 1 >>> BLOCK_SHIFT);
        int last = (int) (to >>> BLOCK_SHIFT);
        if (last - first < BLOCKS_MIN) {
            return Crc32c.of(address + from, to - from);
        }
        long begin = (long) first << BLOCK_SHIFT;
        long end = (long) last << BLOCK_SHIFT;
        int blocks = Crc32c.combine(before(first), before(last), end - begin);
        int sum = Crc32c.combine(Crc32c.of(address + from, begin - from), blocks, end - begin);
        return Crc32c.combine(sum, Crc32c.of(address + end, to - end), to - end);
    }

    private int before(int block) {
        if (block >= before.length) {
            before = Arrays.copyOf(before, Math.max(block + 1, 2 * before.length));
        }
        for (; known < block; known++) {
            before[known + 1] = Crc32c.update(before[known], address + ((long) known << BLOCK_SHIFT), BLOCK_BYTES);
        }
        return before[block];
    }
}
