package dev.heartwood.cost;

import dev.heartwood.KeyValueStore;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

/** Records as the benchmark makes them: keys of 24 bytes from hashed numbers, values that do not compress. */
final class Load {
    static final int KEY_BYTES = 24;
    static final int VALUE_BYTES = 100;
    static final int RECORD_BYTES = KEY_BYTES + VALUE_BYTES;

    private Load() {}

    /** The key of a number; different numbers have different keys, in an order of their own. */
    static byte[] key(long number) {
        return inOrder(hash(number) & Long.MAX_VALUE);
    }

    /** The key of a number, in the order of numbers. */
    static byte[] inOrder(long number) {
        return "user%020d".formatted(number).getBytes(StandardCharsets.US_ASCII);
    }

    /** An invertible mix, so that no two numbers share a key. */
    private static long hash(long number) {
        long mixed = number * 0x9E3779B97F4A7C15L >>> 1;
        mixed ^= mixed >>> 31;
        return mixed;
    }

    static byte[] value(long number) {
        byte[] value = new byte[VALUE_BYTES];
        new SplittableRandom(number).nextBytes(value);
        return ByteBuffer.wrap(value).putLong(0, number).array();
    }

    /** Puts the records of the numbers below {@code records}. */
    static void random(KeyValueStore store, int records) {
        for (int i = 0; i < records; i++) {
            store.put(key(i), value(i));
        }
    }
}
