package dev.heartwood.engine.branch;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.branch.BranchFixture.Entry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;

/** Entries of many shapes, from a seed. */
final class RandomEntries {
    private final SplittableRandom random;
    private final int shape;
    private final byte[] stem;
    /** Whether values are such that pages have no room for another one, and many go on in the next. */
    private final boolean filling;

    RandomEntries(SplittableRandom random) {
        this.random = random;
        this.shape = random.nextInt(6);
        this.stem = bytes(random.nextInt(shape == 3 ? 1200 : 40));
        this.filling = random.nextInt(3) == 0;
    }

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    /** A key of the shape that the seed chose. */
    byte[] key() {
        return switch (shape) {
            case 0 -> bytes(random.nextInt(4));
            case 1 -> BranchFixture.bytes("user%020d".formatted(random.nextLong(1L << 60)));
            case 2 -> small(random.nextInt(12), 2);
            case 3 -> stemmed(random.nextInt(8) == 0 ? random.nextInt(65_536 - stem.length) : random.nextInt(6));
            case 4 -> stemmed(random.nextInt(10));
            default -> small(random.nextInt(1400), 1);
        };
    }

    private byte[] small(int length, int digits) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (random.nextInt(20) == 0 ? 255 : random.nextInt(digits));
        }
        return bytes;
    }

    private byte[] stemmed(int tail) {
        byte[] key = Arrays.copyOf(stem, stem.length + tail);
        for (int i = stem.length; i < key.length; i++) {
            key[i] = (byte) random.nextInt(3);
        }
        return key;
    }

    private byte[] value() {
        if (filling && random.nextInt(8) > 0) {
            return bytes(200 + random.nextInt(KeyedPageLayout.VALUE_INLINE_BYTES_MAX - 199));
        }
        int kind = random.nextInt(40);
        if (kind == 0) {
            return bytes(1000 + random.nextInt(60));
        }
        if (kind == 1 && random.nextInt(4) == 0) {
            return bytes(random.nextInt(200_000));
        }
        return bytes(random.nextInt(3) * random.nextInt(60));
    }

    /** Up to about {@code keysMax} keys with their versions, in order. */
    List<Entry> entries(int keysMax) {
        TreeSet<byte[]> keys = new TreeSet<>(Arrays::compareUnsigned);
        int wanted = shape == 3 || shape == 5 ? random.nextInt(keysMax / 20 + 1) : random.nextInt(keysMax + 1);
        for (int i = 0; i <= wanted; i++) {
            keys.add(key());
        }
        long sequenceMax = 1L << random.nextInt(63);
        List<Entry> entries = new ArrayList<>();
        for (byte[] key : keys) {
            int versions = random.nextInt(10) > 0 ? 1 : random.nextInt(100) == 0 ? 600 : random.nextInt(12);
            TreeSet<Long> sequences = new TreeSet<>();
            for (int i = 0; i < versions; i++) {
                sequences.add(random.nextInt(4) == 0 ? 0 : random.nextLong(sequenceMax));
            }
            for (long sequence : sequences.descendingSet()) {
                byte kind = (byte) (1 + random.nextInt(3));
                entries.add(new Entry(key, sequence, kind, kind == Entries.DELETE ? new byte[0] : value()));
            }
        }
        return entries;
    }
}
