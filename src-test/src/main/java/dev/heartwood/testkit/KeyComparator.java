package dev.heartwood.testkit;

import dev.heartwood.KeyOrder;
import dev.heartwood.engine.base.KeyHash;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Comparator;
import java.util.TreeMap;

/** The order in which a store's cursors have to walk, written down a second time for comparison. */
final class KeyComparator {
    private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;

    private KeyComparator() {}

    /** The order of a store's keys. */
    static Comparator<byte[]> of(KeyOrder order) {
        return switch (order) {
            case SORTED -> Arrays::compareUnsigned;
            case HASHED -> (a, b) -> Arrays.compareUnsigned(stored(a), stored(b));
        };
    }

    /** A map in the order of a store's keys. */
    static <V> TreeMap<byte[], V> newMap(KeyOrder order) {
        return new TreeMap<>(of(order));
    }

    /** The key with its first word replaced by the hash of all of it; a shorter one with its bits mixed. */
    private static byte[] stored(byte[] key) {
        byte[] stored = key.clone();
        if (key.length >= Long.BYTES) {
            ByteBuffer words = ByteBuffer.wrap(Arrays.copyOf(key, key.length + Long.BYTES)).order(ByteOrder.LITTLE_ENDIAN);
            long state = KeyHash.begin(key.length);
            for (int i = Long.BYTES; i < key.length; i += Long.BYTES) {
                state = KeyHash.mix(state, words.getLong(i));
            }
            ByteBuffer.wrap(stored).putLong(KeyHash.end(words.getLong(0) ^ KeyHash.end(state)));
            return stored;
        }
        int bits = Byte.SIZE * key.length;
        long number = 0;
        for (byte b : key) {
            number = number << Byte.SIZE | b & 0xff;
        }
        for (int round = 0; round < 2; round++) {
            number ^= number >>> bits / 2;
            number = number * MULTIPLIER & (1L << bits) - 1;
        }
        number ^= number >>> bits / 2;
        for (int i = 0; i < stored.length; i++) {
            stored[i] = (byte) (number >>> bits - Byte.SIZE * (i + 1));
        }
        return stored;
    }
}
