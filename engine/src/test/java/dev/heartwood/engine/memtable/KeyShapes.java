package dev.heartwood.engine.memtable;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.IntFunction;

/** Random keys of shapes that heads and prefixes might get wrong. */
final class KeyShapes {
    private final SplittableRandom random;

    KeyShapes(SplittableRandom random) {
        this.random = random;
    }

    byte[] bytes(int length, int alphabet) {
        byte[] made = new byte[length];
        for (int i = 0; i < length; i++) {
            made[i] = (byte) random.nextInt(alphabet);
        }
        return made;
    }

    static byte[] number(long value) {
        return ByteBuffer.allocate(8).putLong(value).array();
    }

    static byte[] join(byte[] first, byte[] second) {
        byte[] joined = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, joined, first.length, second.length);
        return joined;
    }

    /** A way to make heads that suits some of the records, few of them, or none. */
    KeyHeads making(long[] records) {
        long[] some = new long[random.nextInt(1, 20)];
        for (int i = 0; i < some.length; i++) {
            some[i] = records[random.nextInt(records.length)];
        }
        return switch (random.nextInt(4)) {
            case 0 -> KeyHeads.WHOLE;
            case 1 -> KeyHeads.behind(some[0], random.nextInt(LaneFixture.key(some[0]).length + 1));
            default -> KeyHeads.choose(some, some.length);
        };
    }

    /** Keys of a few common beginnings. */
    IntFunction<byte[]> stems() {
        byte[][] stems = {bytes(100, 2), bytes(100, 2), bytes(37, 2)};
        return i -> join(stems[random.nextInt(stems.length)], bytes(random.nextInt(0, 20), 3));
    }

    /**
     * Most keys have one prefix; the others lie close to it: beginnings of it, what differs in one byte, and what goes on with the
     * least and the greatest bytes there are.
     */
    IntFunction<byte[]> aroundOnePrefix() {
        byte[] prefix = bytes(random.nextInt(1, 20), 256);
        return i -> {
            byte[] tail = bytes(random.nextInt(0, 20), 256);
            switch (random.nextInt(16)) {
                case 0 -> {
                    return Arrays.copyOf(prefix, random.nextInt(prefix.length + 1));
                }
                case 1 -> {
                    byte[] other = join(prefix, tail);
                    other[random.nextInt(prefix.length)] += random.nextBoolean() ? 1 : -1;
                    return other;
                }
                case 2 -> {
                    byte[] extreme = new byte[random.nextInt(0, 12)];
                    Arrays.fill(extreme, (byte) (random.nextBoolean() ? 0 : -1));
                    return join(join(prefix, extreme), bytes(random.nextInt(0, 3), 2));
                }
                default -> {
                    return join(prefix, tail);
                }
            }
        };
    }
}
