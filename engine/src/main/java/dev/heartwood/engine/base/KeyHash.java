package dev.heartwood.engine.base;

/**
 * The mixing steps of the 64-bit key hash that memtables and filters share. The loop over a key's bytes is in {@code
 * os.KeyHasher}, beside the memory it reads. Stored filters, and the stored keys of unordered stores, depend on it: a change needs a
 * new format version.
 */
public final class KeyHash {
    private static final long MULTIPLIER_A = 0x9E3779B97F4A7C15L;
    private static final long MULTIPLIER_B = 0xD6E8FEB86659FD93L;

    private static final long INVERSE_A = 0xF1DE83E19937733DL;
    private static final long INVERSE_B = 0xCFEE444D8B59A89BL;

    private KeyHash() {}

    /** The state before the first word of a key of {@code length} bytes. */
    public static long begin(int length) {
        return (length + 1L) * MULTIPLIER_B;
    }

    /** The state after one more word: both halves of a 128-bit product, folded. */
    public static long mix(long state, long word) {
        long a = state ^ word;
        return Math.unsignedMultiplyHigh(a, MULTIPLIER_A) ^ (a * MULTIPLIER_A) ^ Long.rotateLeft(word, 29);
    }

    /** The hash, every bit of which depends on every bit of the key. */
    public static long end(long state) {
        long h = state;
        h ^= h >>> 32;
        h *= MULTIPLIER_B;
        h ^= h >>> 29;
        h *= MULTIPLIER_A;
        h ^= h >>> 32;
        return h;
    }

    /** The state of which {@link #end} makes {@code hash}: every step of it can be undone. */
    public static long beforeEnd(long hash) {
        long h = hash;
        h ^= h >>> 32;
        h *= INVERSE_A;
        h ^= h >>> 29 ^ h >>> 58;
        h *= INVERSE_B;
        h ^= h >>> 32;
        return h;
    }
}
