package dev.heartwood.soak;

import dev.heartwood.Durability;
import dev.heartwood.KeyValueStore;
import dev.heartwood.WriteBatch;
import dev.heartwood.testkit.TailMergeOperator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The writes of one thread, numbered from 0 without end, of which any can be computed, and so can what they leave: each round of as many writes
 * as there are keys goes through all of them, in an order of its own. Stateless but for the seed.
 */
final class WriteHistory {
    private static final int BLOCK = 8;
    private static final int NUMBER_BYTES = 8;
    private static final TailMergeOperator OPERATOR = new TailMergeOperator();

    private final int thread;
    private final long seed;
    private final int keys;
    private final boolean merges;

    /**
     * A history.
     *
     * @param keys how many keys; a prime, so that multiplication goes through all of them
     * @param merges whether some writes are operands of a {@link TailMergeOperator}
     */
    WriteHistory(long seed, int thread, int keys, boolean merges) {
        this.seed = seed;
        this.thread = thread;
        this.keys = keys;
        this.merges = merges;
    }

    int keys() {
        return keys;
    }

    private long hash(long number, int purpose) {
        return new SplittableRandom(seed * 1_000_003 + thread * 31L + purpose + number * 8_191).nextLong() >>> 1;
    }

    private long factor(long round) {
        return 1 + hash(round, 1) % (keys - 1);
    }

    private long shift(long round) {
        return hash(round, 2) % keys;
    }

    /** The key that a write is of. */
    int keyOf(long write) {
        long round = write / keys;
        return (int) ((factor(round) * (write % keys) + shift(round)) % keys);
    }

    /** The write of a round that is of a key. */
    private long writeTo(int key, long round) {
        return round * keys + Math.floorMod(key - shift(round), (long) keys) * power(factor(round), keys - 2) % keys;
    }

    private long power(long base, int exponent) {
        long result = 1;
        long square = base;
        for (int e = exponent; e > 0; e >>= 1) {
            result = (e & 1) == 1 ? result * square % keys : result;
            square = square * square % keys;
        }
        return result;
    }

    /** What every thread's keys begin with. */
    byte[] prefix() {
        return (thread + "/").getBytes(StandardCharsets.US_ASCII);
    }

    byte[] keyBytes(int key) {
        return String.format("%d/%06d", thread, key).getBytes(StandardCharsets.US_ASCII);
    }

    /** The thread whose key stored bytes are. */
    static int threadOf(byte[] bytes) {
        return bytes[0] - '0';
    }

    /** The key of stored bytes. */
    static int keyOf(byte[] bytes) {
        return Integer.parseInt(new String(bytes, 2, bytes.length - 2, StandardCharsets.US_ASCII));
    }

    /** Whether a write is an operand. */
    boolean isMerge(long write) {
        return merges && hash(write, 5) % 6 == 0;
    }

    /** The value that a write sets, or its operand; null when it is a delete. The number of the write stands last in it. */
    byte[] bytesOf(long write) {
        SplittableRandom random = new SplittableRandom(hash(write, 3));
        boolean merge = isMerge(write);
        if (!merge && random.nextInt(8) == 0) {
            return null;
        }
        int size = merge ? random.nextInt(80) : random.nextInt(300) == 0 ? random.nextInt(20_000) : random.nextInt(400);
        byte[] bytes = new byte[size + NUMBER_BYTES];
        random.nextBytes(bytes);
        for (int i = 0; i < NUMBER_BYTES; i++) {
            // Of seven bits each, so that the merge operator cuts none off.
            bytes[size + i] = (byte) (write >>> 7 * i & 0x7f);
        }
        return bytes;
    }

    /** The last of the writes that made a value. */
    static long writeOf(byte[] value) {
        long write = 0;
        for (int i = 0; i < NUMBER_BYTES; i++) {
            write |= (long) value[value.length - NUMBER_BYTES + i] << 7 * i;
        }
        return write;
    }

    /** The write that comes after those made in one call with this one: some blocks are batches. */
    long endOfCall(long write) {
        return write % BLOCK == 0 && isBatch(write / BLOCK) ? write + BLOCK : write + 1;
    }

    /** Makes the writes of one call. */
    void write(KeyValueStore store, long from, long to, Durability level) {
        if (to == from + 1) {
            writeAlone(store, from, level);
            return;
        }
        try (WriteBatch batch = store.newBatch()) {
            for (long write = from; write < to; write++) {
                add(batch, write);
            }
            store.write(batch, level);
        }
    }

    private void writeAlone(KeyValueStore store, long write, Durability level) {
        byte[] key = keyBytes(keyOf(write));
        byte[] bytes = bytesOf(write);
        if (bytes == null) {
            store.delete(key, level);
        } else if (isMerge(write)) {
            store.merge(key, bytes, level);
        } else {
            store.put(key, bytes, level);
        }
    }

    private void add(WriteBatch batch, long write) {
        byte[] key = keyBytes(keyOf(write));
        byte[] bytes = bytesOf(write);
        if (bytes == null) {
            batch.delete(key);
        } else if (isMerge(write)) {
            batch.merge(key, bytes);
        } else {
            batch.put(key, bytes);
        }
    }

    private boolean isBatch(long block) {
        return hash(block, 4) % 4 == 0;
    }

    /** Whether so many writes end with a call. */
    boolean isEndOfCall(long writes) {
        return writes % BLOCK == 0 || !isBatch(writes / BLOCK);
    }

    /** What the first {@code writes} writes leave. */
    State after(long writes) {
        return new State(writes, 0);
    }

    /**
     * What the first {@code writes} writes leave, of which the first {@code discarded} were made before the range of all keys was discarded:
     * each of those may be gone or not.
     */
    State after(long writes, long discarded) {
        return new State(writes, discarded);
    }

    /** A state of the thread's keys. */
    final class State {
        private final long writes;
        private final long discarded;

        private State(long writes, long discarded) {
            this.writes = writes;
            this.discarded = discarded;
        }

        /** The values that a key may have; null is none. */
        List<byte[]> values(int key) {
            return values(key, writes / keys);
        }

        private List<byte[]> values(int key, long round) {
            if (round < 0) {
                return Collections.singletonList(null);
            }
            long write = writeTo(key, round);
            if (write >= writes) {
                return values(key, round - 1);
            }
            List<byte[]> values = new ArrayList<>();
            if (isMerge(write)) {
                for (byte[] before : values(key, round - 1)) {
                    values.add(OPERATOR.merge(null, before, List.of(bytesOf(write))));
                }
            } else {
                values.add(bytesOf(write));
            }
            if (write < discarded) {
                values.add(null);
            }
            return values;
        }
    }
}
