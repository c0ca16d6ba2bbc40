package dev.heartwood.soak;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

/**
 * The writes of one thread, numbered from 0 without end, of which any can be computed, and so can what they leave: each round of
 * {@link #KEYS} writes goes through all keys, in an order of its own. Stateless but for the seed.
 */
final class SoakHistory {
    /** A prime, so that multiplication goes through all keys. */
    static final int KEYS = 20_011;

    private static final int BLOCK = 8;

    private final int thread;
    private final long seed;

    SoakHistory(long seed, int thread) {
        this.seed = seed;
        this.thread = thread;
    }

    private long hash(long number, int purpose) {
        return new SplittableRandom(seed * 1_000_003 + thread * 31L + purpose + number * 8_191).nextLong() >>> 1;
    }

    private long factor(long round) {
        return 1 + hash(round, 1) % (KEYS - 1);
    }

    private long shift(long round) {
        return hash(round, 2) % KEYS;
    }

    /** The key that a write is of. */
    int keyOf(long write) {
        long round = write / KEYS;
        return (int) ((factor(round) * (write % KEYS) + shift(round)) % KEYS);
    }

    /** What every thread's keys begin with. */
    byte[] prefix() {
        return (thread + "/").getBytes(StandardCharsets.US_ASCII);
    }

    byte[] keyBytes(int key) {
        return String.format("%d/%06d", thread, key).getBytes(StandardCharsets.US_ASCII);
    }

    /** The key of stored bytes. */
    int keyOf(byte[] bytes) {
        return Integer.parseInt(new String(bytes, 2, bytes.length - 2, StandardCharsets.US_ASCII));
    }

    /** The value that a write sets; null when it is a delete. The number of the write stands first in it. */
    byte[] valueOf(long write) {
        SplittableRandom random = new SplittableRandom(hash(write, 3));
        if (random.nextInt(8) == 0) {
            return null;
        }
        byte[] value = new byte[random.nextInt(300) == 0 ? 8 + random.nextInt(20_000) : 8 + random.nextInt(400)];
        random.nextBytes(value);
        ByteBuffer.wrap(value).putLong(write);
        return value;
    }

    /** The write that comes after those made in one call with this one: some blocks are batches. */
    long endOfCall(long write) {
        return write % BLOCK == 0 && hash(write / BLOCK, 4) % 4 == 0 ? write + BLOCK : write + 1;
    }

    /** What tells of a key after the first {@code writes} writes: the last write to each. */
    State after(long writes) {
        return new State(writes);
    }

    /** A state of the thread's keys. */
    final class State {
        private final long writes;
        private final long round;
        private final long[] inverse = new long[2];
        private final long[] shift = new long[2];

        private State(long writes) {
            this.writes = writes;
            this.round = writes / KEYS;
            for (int back = 0; back < 2 && back <= round; back++) {
                inverse[back] = power(factor(round - back), KEYS - 2);
                shift[back] = shift(round - back);
            }
        }


        /** The last write to a key; -1 when there is none. */
        long lastWriteTo(int key) {
            for (int back = 0; back < 2 && back <= round; back++) {
                long place = Math.floorMod(key - shift[back], (long) KEYS) * inverse[back] % KEYS;
                long write = (round - back) * KEYS + place;
                if (write < writes) {
                    return write;
                }
            }
            return -1;
        }

        /** The value of a key, or null. */
        byte[] value(int key) {
            long write = lastWriteTo(key);
            return write < 0 ? null : valueOf(write);
        }
    }

    private static long power(long base, int exponent) {
        long result = 1;
        long square = base;
        for (int e = exponent; e > 0; e >>= 1) {
            result = (e & 1) == 1 ? result * square % KEYS : result;
            square = square * square % KEYS;
        }
        return result;
    }
}
