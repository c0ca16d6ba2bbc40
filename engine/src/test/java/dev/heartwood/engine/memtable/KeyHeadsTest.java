package dev.heartwood.engine.memtable;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

/** Heads of random keys, and what they lie behind. Rerun one seed with {@code -Dmemtable.seed=N}. */
class KeyHeadsTest {
    private static final int KEYS = 400;
    private static final int MAKINGS = 40;
    private static final byte[] STEM = "a common beginning".getBytes();

    private final long seed = Long.getLong("memtable.seed", new SplittableRandom().nextLong() >>> 16);
    private final SplittableRandom random = new SplittableRandom(seed);
    private final KeyShapes shapes = new KeyShapes(random);

    @Test
    void headsAroundOnePrefix() {
        check(shapes.aroundOnePrefix());
    }

    @Test
    void headsOfShortKeys() {
        check(i -> shapes.bytes(random.nextInt(0, 10), 3));
    }

    @Test
    void headsOfStems() {
        check(shapes.stems());
    }

    /** Heads never order against keys, and keys with one head have in common what is said of it. */
    private void check(IntFunction<byte[]> shape) {
        try (LaneFixture lane = new LaneFixture()) {
            byte[][] keys = new byte[KEYS][];
            long[] records = new long[KEYS];
            for (int i = 0; i < KEYS; i++) {
                keys[i] = shape.apply(i);
            }
            Arrays.sort(keys, Arrays::compareUnsigned);
            for (int i = 0; i < KEYS; i++) {
                records[i] = lane.append(keys[i], i);
            }
            for (int m = 0; m < MAKINGS; m++) {
                KeyHeads making = shapes.making(records);
                for (int i = 0; i < KEYS; i++) {
                    long head = making.head(records[i]);
                    assertEquals(head, making.headOfKey(lane.load(keys[i]), keys[i].length));
                    long before = i == 0 ? 0 : making.head(records[i - 1]);
                    assertTrue(Long.compareUnsigned(before, head) <= 0, "at " + i);
                    int shared = making.sharedBytes(head);
                    if (i > 0 && before == head && shared > 0) {
                        assertTrue(Arrays.mismatch(Arrays.copyOf(keys[i - 1], shared), Arrays.copyOf(keys[i], shared)) < 0);
                        assertTrue(Math.min(keys[i - 1].length, keys[i].length) >= shared);
                    }
                }
            }
        } catch (Throwable e) {
            throw new AssertionError("rerun with -Dtest=KeyHeadsTest -Dmemtable.seed=" + seed, e);
        }
    }

    /** A few other keys, or many, do not shorten the prefix of the rest. */
    @Test
    void otherKeysDoNotShortenThePrefix() {
        for (int others : new int[] {0, 1, 7, 30}) {
            assertArrayEquals(
                    new int[] {STEM.length},
                    prefixLengths(64, i -> i < others
                            ? new byte[] {(byte) (i * 4), (byte) i, 3, 4, 5}
                            : KeyShapes.join(STEM, new byte[] {(byte) (3 * i)})),
                    others + " others");
        }
    }

    /** Keys of several time segments have heads behind each; what is rare has none. */
    @Test
    void severalPrefixesAreToldApart() {
        byte[][] segments = {KeyShapes.number(100), KeyShapes.number(101), KeyShapes.number(102)};
        assertArrayEquals(
                new int[] {8 + STEM.length, 8 + STEM.length, 8 + STEM.length},
                prefixLengths(64, i -> i == 0
                        ? new byte[] {0, 'C'}
                        : KeyShapes.join(KeyShapes.join(segments[i % 3], STEM), new byte[] {(byte) (3 * i)})));
    }

    /** Keys that differ soon behind what all share need no more than that. */
    @Test
    void oneCommonPrefixIsOne() {
        assertArrayEquals(
                new int[] {STEM.length},
                prefixLengths(64, i -> KeyShapes.join(STEM, KeyShapes.number(random.nextLong() >>> 1 | (long) i << 57))));
        assertArrayEquals(new int[] {0}, prefixLengths(64, i -> KeyShapes.number((long) i << 58 | random.nextInt())));
    }

    private static int[] prefixLengths(int count, IntFunction<byte[]> keys) {
        try (LaneFixture lane = new LaneFixture()) {
            long[] sample = new long[count];
            for (int i = 0; i < count; i++) {
                sample[i] = lane.append(keys.apply(i), i);
            }
            return KeyHeads.choose(sample, count).prefixLengths();
        }
    }
}
