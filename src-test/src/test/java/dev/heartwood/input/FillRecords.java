package dev.heartwood.input;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/** The records that stores are filled with until they refuse one: by number, in no order of their keys. */
final class FillRecords {
    private FillRecords() {}

    static byte[] key(int number) {
        return ByteBuffer.allocate(8).putLong(number * 0x9E3779B97F4A7C15L).array();
    }

    /** What nothing makes smaller. */
    static byte[] value(long number, int bytes) {
        byte[] value = new byte[bytes];
        new SplittableRandom(number).nextBytes(value);
        return value;
    }
}
