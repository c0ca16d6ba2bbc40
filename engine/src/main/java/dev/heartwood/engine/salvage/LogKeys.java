package dev.heartwood.engine.salvage;

import dev.heartwood.engine.base.KeyHash;
import dev.heartwood.engine.log.ReplaySink;
import dev.heartwood.engine.os.Memory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * The keys of a log, numbered; as hashes, eight bytes each. Two of one hash are taken for one key, which makes counts less exact and nothing
 * else. Is told all of them before it is asked for any. One thread.
 */
final class LogKeys implements ReplaySink {
    private long[] hashes = new long[64];
    private int count;
    private boolean isInOrder = true;

    static long hash(byte[] bytes) {
        return hash(MemorySegment.ofArray(bytes));
    }

    static long hash(MemorySegment bytes) {
        long state = KeyHash.begin((int) bytes.byteSize());
        for (long i = 0; i < bytes.byteSize(); i++) {
            state = KeyHash.mix(state, bytes.get(ValueLayout.JAVA_BYTE, i));
        }
        return KeyHash.end(state);
    }

    @Override
    public void entry(long sequence, byte kind, long keyAddress, int keyLength, long valueAddress, int valueLength) {
        if (count == hashes.length) {
            order();
            if (count > hashes.length / 2) {
                hashes = Arrays.copyOf(hashes, 2 * hashes.length);
            }
        }
        hashes[count++] = hash(Memory.bytes(keyAddress, keyLength));
        isInOrder = false;
    }

    /** Has the hashes ascend, each once. */
    private void order() {
        if (isInOrder) {
            return;
        }
        Arrays.sort(hashes, 0, count);
        int kept = 0;
        for (int i = 0; i < count; i++) {
            if (i == 0 || hashes[i] != hashes[i - 1]) {
                hashes[kept++] = hashes[i];
            }
        }
        count = kept;
        isInOrder = true;
    }

    /** How many there are. */
    int count() {
        order();
        return count;
    }

    /** The number of a key, from 0 on; negative when the log does not have it. */
    int number(byte[] key) {
        order();
        return Arrays.binarySearch(hashes, 0, count, hash(key));
    }

    @Override
    public void beginGeneration(long generation) {}

    @Override
    public void beginBatch(long sequence, int count) {}

    @Override
    public void endBatch() {}
}
