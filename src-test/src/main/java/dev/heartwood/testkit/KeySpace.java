package dev.heartwood.testkit;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/** The keys and values that a random run draws from: all shapes and sizes that have ever confused a tree. Immutable. */
final class KeySpace {
    private static final int[] VALUE_EDGES = {
        0, 1, 15, 127, 128, 700, 1023, 1024, 1100, 1279, 1280, 1281, 4063, 4064, 4095, 4096, 4097, 16384
    };

    private final byte[][] keys;
    private final int keyBytesMax;
    private final int valueBytesMax;

    KeySpace(long seed, int count, int keyBytesMax, int valueBytesMax) {
        SplittableRandom random = new SplittableRandom(seed);
        this.keyBytesMax = keyBytesMax;
        this.valueBytesMax = valueBytesMax;
        keys = new byte[count][];
        for (int i = 0; i < count; i++) {
            keys[i] = i == 0 ? new byte[0] : newKey(random, i);
        }
    }

    private byte[] newKey(RandomGenerator random, int known) {
        byte[] random16 = new byte[1 + random.nextInt(16)];
        random.nextBytes(random16);
        return switch (random.nextInt(12)) {
            case 0 -> random16;
            case 1 -> extended(keys[random.nextInt(known)], random16, keyBytesMax);
            case 2 -> extended(keys[random.nextInt(known)], new byte[] {0}, keyBytesMax);
            case 3 -> filled((byte) 0xff, random.nextInt(6));
            case 4 -> extended("a/long/prefix/that/many/keys/share/".getBytes(), random16, keyBytesMax);
            case 5 -> random.nextInt(4) > 0 ? random16 : extended(filled((byte) 'L', longLength(random)), random16, keyBytesMax);
            default -> String.format("user%010d", Math.abs(random.nextInt() % 100_000)).getBytes();
        };
    }

    private int longLength(RandomGenerator random) {
        return switch (random.nextInt(4)) {
            case 0 -> keyBytesMax;
            case 1 -> random.nextInt(keyBytesMax);
            default -> random.nextInt(Math.min(keyBytesMax, 3000));
        };
    }

    private static byte[] filled(byte value, int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, value);
        return bytes;
    }

    private static byte[] extended(byte[] prefix, byte[] rest, int lengthMax) {
        byte[] bytes = Arrays.copyOf(prefix, Math.min(lengthMax, prefix.length + rest.length));
        if (bytes.length > prefix.length) {
            System.arraycopy(rest, 0, bytes, prefix.length, bytes.length - prefix.length);
        }
        return bytes;
    }

    /** Mostly a known key, the first ones more often; now and then one that nobody has written. */
    byte[] key(RandomGenerator random) {
        if (random.nextInt(25) == 0) {
            byte[] fresh = new byte[1 + random.nextInt(12)];
            random.nextBytes(fresh);
            return fresh;
        }
        int i = random.nextInt(keys.length);
        return keys[random.nextInt(3) == 0 ? random.nextInt(i + 1) : i];
    }

    byte[] value(RandomGenerator random) {
        int fate = random.nextInt(100);
        int length;
        if (fate < 60) {
            length = random.nextInt(200);
        } else if (fate < 70) {
            length = random.nextInt(200, 1_300);
        } else if (fate < 85) {
            length = VALUE_EDGES[random.nextInt(VALUE_EDGES.length)];
        } else {
            length = fate < 98 ? random.nextInt(5_000) : random.nextInt(valueBytesMax + 1);
        }
        byte[] value = new byte[Math.min(length, valueBytesMax)];
        random.nextBytes(value);
        return value;
    }

    /** A short operand; one in eight ends with the byte that removes the value. */
    byte[] operand(RandomGenerator random) {
        byte[] operand = new byte[random.nextInt(12)];
        random.nextBytes(operand);
        for (int i = 0; i < operand.length; i++) {
            operand[i] &= 0x7f;
        }
        if (operand.length > 0 && random.nextInt(8) == 0) {
            operand[operand.length - 1] = (byte) 0xff;
        }
        return operand;
    }

    byte[] prefix(RandomGenerator random) {
        byte[] key = key(random);
        return Arrays.copyOf(key, random.nextInt(Math.min(key.length, 40) + 1));
    }
}
