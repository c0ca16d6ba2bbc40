package dev.heartwood.engine.os;

import dev.heartwood.engine.base.KeyHash;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The stored form of a key in a store that orders keys by their hash: as long as the key, and beginning with 64 bits that
 * depend on all of it. Stateless. Stored data depends on it: a change needs a new format version.
 */
public final class HashedKeys {
    /*
     * A key of eight bytes or more is its first word w and a rest. The stored form is the word h, big-endian, and the same rest,
     *
     *     h = end(w ^ end(mix(... begin(length) ..., words of the rest)))
     *
     * where end() can be undone, so that w comes back from h and the rest: the hash takes no space beside the key, and no two keys
     * have one form. Ordered by bytes, stored keys are ordered by h, which is as even as a random number; of equal h the rest
     * decides.
     *
     * A shorter key of n bytes is a number of 8n bits, put through steps that can be undone within so many bits. Few bytes make few
     * different hashes; nothing else could be told from them.
     */
    private static final long SHORT_MULTIPLIER = 0x9E3779B97F4A7C15L;
    private static final long SHORT_INVERSE = inverse(SHORT_MULTIPLIER);
    private static final VarHandle LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG_BIG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private HashedKeys() {}

    /** Turns the key of {@code length} bytes at {@code address} into its stored form, in place. */
    public static void store(long address, int length) {
        if (length >= Long.BYTES) {
            long word = Memory.getLong(address);
            Memory.putLongBigEndian(address, KeyHash.end(word ^ hashOfRest(address, length)));
            return;
        }
        long number = 0;
        for (int i = 0; i < length; i++) {
            number = number << Byte.SIZE | Memory.getUnsignedByte(address + i);
        }
        number = mixShort(number, length);
        for (int i = length - 1; i >= 0; i--, number >>>= Byte.SIZE) {
            Memory.putByte(address + i, (int) number);
        }
    }

    /** Turns the stored form of a key, the first {@code length} bytes of {@code stored}, back into the key, in place. */
    public static void restore(byte[] stored, int length) {
        if (length >= Long.BYTES) {
            long hash = (long) LONG_BIG.get(stored, 0);
            LONG.set(stored, 0, KeyHash.beforeEnd(hash) ^ hashOfRest(stored, length));
            return;
        }
        long number = 0;
        for (int i = 0; i < length; i++) {
            number = number << Byte.SIZE | stored[i] & 0xff;
        }
        number = unmixShort(number, length);
        for (int i = length - 1; i >= 0; i--, number >>>= Byte.SIZE) {
            stored[i] = (byte) number;
        }
    }

    private static long hashOfRest(long address, int length) {
        long state = KeyHash.begin(length);
        int i = Long.BYTES;
        for (; i + Long.BYTES <= length; i += Long.BYTES) {
            state = KeyHash.mix(state, Memory.getLong(address + i));
        }
        if (i < length) {
            long word = 0;
            for (int shift = 0; i < length; i++, shift += Byte.SIZE) {
                word |= (long) Memory.getUnsignedByte(address + i) << shift;
            }
            state = KeyHash.mix(state, word);
        }
        return KeyHash.end(state);
    }

    private static long hashOfRest(byte[] key, int length) {
        long state = KeyHash.begin(length);
        int i = Long.BYTES;
        for (; i + Long.BYTES <= length; i += Long.BYTES) {
            state = KeyHash.mix(state, (long) LONG.get(key, i));
        }
        if (i < length) {
            long word = 0;
            for (int shift = 0; i < length; i++, shift += Byte.SIZE) {
                word |= (key[i] & 0xffL) << shift;
            }
            state = KeyHash.mix(state, word);
        }
        return KeyHash.end(state);
    }

    private static long mixShort(long number, int length) {
        long mask = mask(length);
        int half = Byte.SIZE * length / 2;
        long mixed = number ^ number >>> half;
        mixed = mixed * SHORT_MULTIPLIER & mask;
        mixed ^= mixed >>> half;
        mixed = mixed * SHORT_MULTIPLIER & mask;
        return mixed ^ mixed >>> half;
    }

    private static long unmixShort(long mixed, int length) {
        long mask = mask(length);
        int half = Byte.SIZE * length / 2;
        // A shift by half of the bits and an exclusive or undo themselves.
        long number = mixed ^ mixed >>> half;
        number = number * SHORT_INVERSE & mask;
        number ^= number >>> half;
        number = number * SHORT_INVERSE & mask;
        return number ^ number >>> half;
    }

    private static long mask(int length) {
        return (1L << Byte.SIZE * length) - 1;
    }

    /** The number that an odd one has to be multiplied with to give 1, by Newton's iteration. */
    private static long inverse(long odd) {
        long inverse = odd;
        for (int correctBits = 3; correctBits < Long.SIZE; correctBits *= 2) {
            inverse *= 2 - odd * inverse;
        }
        return inverse;
    }
}
