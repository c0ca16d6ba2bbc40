package dev.heartwood.kafka;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.security.SecureRandom;

/**
 * Which keys have a way back to the last commit already, as far as its memory goes: what it knows spares the look for an undo record,
 * and what it has forgotten is looked for. For all tables of an instance together. Thread-safe.
 */
final class UndoneKeys {
    /*
     * A table of fingerprints in buckets of a cache line: one that finds its bucket full takes the place of another. A fingerprint is 64 bits of
     * a keyed hash [as Wang Yi's wyhash does it, by multiplying words and folding the product]. It stands for the key, so two keys with one
     * fingerprint would cost one its way back: of 2^64 writes one is expected to meet that, and the key of the hash is drawn when the
     * table of a store opens, so that nobody can choose such keys.
     *
     * Entries are read and written as whole numbers, in any order: each says of itself that its undo record has been written, which was
     * so before the entry was. A write that another thread overwrites is forgotten.
     */
    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final long BYTES_MAX = 8 << 20;
    private static final int BUCKET_SLOTS = 8;
    private static final long MULTIPLIER = 0x9e3779b97f4a7c15L;

    private final long[] slots;

    /** Takes {@code bytes} of the Java heap or a little less, {@value #BYTES_MAX} at most. */
    UndoneKeys(long bytes) {
        long buckets = Math.clamp(bytes, BUCKET_SLOTS * Long.BYTES, BYTES_MAX) / (BUCKET_SLOTS * Long.BYTES);
        slots = new long[(int) buckets * BUCKET_SLOTS];
    }

    /** The key of a table's fingerprints, which another table does not have. */
    static long newSeed() {
        return RANDOM.nextLong();
    }

    /** The fingerprint of a key under a seed; never 0. */
    static long fingerprint(long seed, long epoch, byte[] key) {
        long state = fold(seed ^ key.length, MULTIPLIER + 2 * epoch);
        int i = 0;
        for (; i + Long.BYTES <= key.length; i += Long.BYTES) {
            state = fold(state ^ (long) WORD.get(key, i), seed | 1);
        }
        long rest = 0;
        for (int shift = 0; i < key.length; i++, shift += Byte.SIZE) {
            rest |= (key[i] & 0xffL) << shift;
        }
        state = fold(fold(state ^ rest, seed | 1) ^ seed, MULTIPLIER);
        return state == 0 ? 1 : state;
    }

    private static long fold(long a, long b) {
        return a * b ^ Math.unsignedMultiplyHigh(a, b);
    }

    /** Whether the key with this fingerprint is known to have a way back. */
    boolean contains(long fingerprint) {
        return find(bucket(fingerprint), fingerprint) >= 0;
    }

    /** Notes that the undo record of the key has been written. */
    void add(long fingerprint) {
        int bucket = bucket(fingerprint);
        int free = find(bucket, 0);
        SLOT.setOpaque(slots, free >= 0 ? free : bucket + ((int) fingerprint & BUCKET_SLOTS - 1), fingerprint);
    }

    private int find(int bucket, long wanted) {
        for (int i = bucket; i < bucket + BUCKET_SLOTS; i++) {
            if ((long) SLOT.getOpaque(slots, i) == wanted) {
                return i;
            }
        }
        return -1;
    }

    private int bucket(long fingerprint) {
        return (int) Math.unsignedMultiplyHigh(fingerprint, slots.length / BUCKET_SLOTS) * BUCKET_SLOTS;
    }
}
