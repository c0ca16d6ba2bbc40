package dev.heartwood.engine.os;

import dev.heartwood.engine.base.KeyHash;

/** The 64-bit hash of a key in native memory; the same bytes give the same hash on every machine. */
public final class KeyHasher {
    private KeyHasher() {}

    /** The hash of {@code length} bytes at {@code address}. */
    public static long hash(long address, int length) {
        long state = KeyHash.begin(length);
        int i = 0;
        for (; i + 8 <= length; i += 8) {
            state = KeyHash.mix(state, Memory.getLong(address + i));
        }
        if (i < length) {
            long word = 0;
            for (int shift = 0; i < length; i++, shift += 8) {
                word |= (long) Memory.getUnsignedByte(address + i) << shift;
            }
            state = KeyHash.mix(state, word);
        }
        return KeyHash.end(state);
    }
}
