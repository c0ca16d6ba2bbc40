package dev.heartwood.bench.workload;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The keys of a run: "user" and the digits of a record number, hashed or in order, all of one length. Immutable.
 *
 * <p>The hash is a Feistel network of four rounds over the upper and the lower half of the digits: each round
 * adds to one half, modulo its range, a mixed function of the other. Every round can be undone, so distinct
 * numbers have distinct keys.
 */
public final class KeySpace {
    /** The shortest key there can be. */
    public static final int KEY_BYTES_MIN = 8;

    private static final byte[] PREFIX = "user".getBytes(StandardCharsets.US_ASCII);
    private static final int DIGITS_MAX = 20;
    private static final int ROUND_PAIRS = 2;
    private static final ValueLayout.OfLong EIGHT_DIGITS = JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final int keyBytes;
    private final int highDigits;
    private final int lowDigits;
    private final long highRange;
    private final long lowRange;
    private final long capacity;

    /**
     * Keys of {@code keyBytes} bytes.
     *
     * @throws IllegalArgumentException when that is too short for any key
     */
    public KeySpace(int keyBytes) {
        if (keyBytes < KEY_BYTES_MIN) {
            throw new IllegalArgumentException(
                    "a key of " + keyBytes + " bytes is below the least of " + KEY_BYTES_MIN);
        }
        this.keyBytes = keyBytes;
        int digits = Math.min(DIGITS_MAX, keyBytes - PREFIX.length);
        highDigits = digits / 2;
        lowDigits = digits - highDigits;
        highRange = powerOfTen(highDigits);
        lowRange = powerOfTen(lowDigits);
        capacity = digits > 18 ? Long.MAX_VALUE : powerOfTen(digits);
    }

    /** In so many bytes at their end the keys differ. */
    public int digits() {
        return highDigits + lowDigits;
    }

    private static long powerOfTen(int exponent) {
        long power = 1;
        for (int i = 0; i < exponent; i++) {
            power *= 10;
        }
        return power;
    }

    /** The length of every key. */
    public int keyBytes() {
        return keyBytes;
    }

    /** The most records: the lower half of the numbers; the upper half stays absent. */
    public long recordsMax() {
        return capacity / 2;
    }

    /** A number that is never loaded. */
    public long absentNumber(SeededRandom random) {
        return capacity - 1 - random.below(capacity - recordsMax());
    }

    /** Writes the hashed key of a record number. */
    public void write(long number, MemorySegment key) {
        long high = number / lowRange;
        long low = number % lowRange;
        for (int pair = 0; pair < ROUND_PAIRS; pair++) {
            high = addModulo(high, low + pair, highRange);
            low = addModulo(low, ~high - pair, lowRange);
        }
        writeDigits(high, low, key);
    }

    /** Writes the key whose place in key order is {@code number}. */
    public void writeOrdered(long number, MemorySegment key) {
        writeDigits(number / lowRange, number % lowRange, key);
    }

    private static long addModulo(long half, long other, long range) {
        long sum = half + Math.unsignedMultiplyHigh(SeededRandom.mix(other), range);
        return sum < range ? sum : sum - range;
    }

    private void writeDigits(long high, long low, MemorySegment key) {
        for (int i = 0; i < PREFIX.length; i++) {
            key.set(JAVA_BYTE, i, PREFIX[i]);
        }
        int padding = keyBytes - highDigits - lowDigits;
        for (int i = PREFIX.length; i < padding; i++) {
            key.set(JAVA_BYTE, i, (byte) '0');
        }
        digits(high, key, padding, highDigits);
        digits(low, key, padding + highDigits, lowDigits);
    }

    private static void digits(long number, MemorySegment key, int offset, int count) {
        long rest = number;
        int end = offset + count;
        for (; end - offset >= Long.BYTES; end -= Long.BYTES) {
            long quotient = rest / 100_000_000;
            key.set(EIGHT_DIGITS, end - Long.BYTES, eightDigits(rest - 100_000_000 * quotient));
            rest = quotient;
        }
        while (end > offset) {
            long quotient = rest / 10;
            key.set(JAVA_BYTE, --end, (byte) ('0' + (rest - 10 * quotient)));
            rest = quotient;
        }
    }

    /** The digits of a number below 10^8, the first in the highest byte: halves, quarters and eighths of it are parted at once. */
    private static long eightDigits(long number) {
        long fours = (number / 10_000 << 32) + number % 10_000;
        // A multiplication and a shift divide each lane: by 100 below 10^4, by 10 below 100.
        long hundreds = fours * 5243 >>> 19 & 0x0000_007F_0000_007FL;
        long twos = (hundreds << 16) + (fours - 100 * hundreds);
        long tens = twos * 103 >>> 10 & 0x000F_000F_000F_000FL;
        long ones = (tens << 8) + (twos - 10 * tens);
        return ones + 0x3030_3030_3030_3030L;
    }
}
