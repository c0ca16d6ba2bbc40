package dev.heartwood.engine.branch;

import dev.heartwood.engine.os.Memory;

/** Copies what is mostly a few bytes long: keys and their parts. */
final class KeyCopy {
    /*
     * The general copy chooses its way by the length, which the processor mispredicts when lengths vary by a byte or two from
     * entry to entry. Two overlapping words do all lengths of a class alike, and touch nothing outside of the range.
     */
    private KeyCopy() {}

    /** Copies between ranges that do not overlap. */
    static void copy(long from, long to, int length) {
        if (length > 16) {
            Memory.copy(from, to, length);
        } else if (length >= 8) {
            long head = Memory.getLong(from);
            long tail = Memory.getLong(from + length - 8);
            Memory.putLong(to, head);
            Memory.putLong(to + length - 8, tail);
        } else if (length >= 4) {
            int head = Memory.getInt(from);
            int tail = Memory.getInt(from + length - 4);
            Memory.putInt(to, head);
            Memory.putInt(to + length - 4, tail);
        } else {
            for (int i = 0; i < length; i++) {
                Memory.putByte(to + i, Memory.getByte(from + i));
            }
        }
    }
}
