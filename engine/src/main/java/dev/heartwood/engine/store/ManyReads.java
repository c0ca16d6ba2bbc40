package dev.heartwood.engine.store;

import dev.heartwood.engine.base.FoundEntry.Waits;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Reads many keys for one caller: begins the reads of the device that some of the next ones need before it waits for those of the first, so that
 * several are under way at once. Stateless. Thread-safe.
 */
final class ManyReads {
    /*
     * Each key is looked up by a call of its own, so that many of them hold nothing back together: without waiting first, which is all there is
     * to do where its pages are in the cache; some keys later waiting for the page of the key, and more keys later for all.
     */
    private static final int KEYS_AHEAD = 24;

    private static final int VALUES_AHEAD = 8;

    private final ReadCalls reads;

    ManyReads(ReadCalls reads) {
        this.reads = reads;
    }

    /** The values of keys, each at its key's place, null where there is none; in a snapshot, or, where that is null, each in the current state. */
    List<byte[]> get(SnapshotHold snapshot, List<byte[]> keys) {
        MemorySegment[] wanted = segments(keys);
        reads.requireOpen();
        byte[][] values = new byte[wanted.length][];
        for (int i = 0; i < wanted.length + KEYS_AHEAD + VALUES_AHEAD; i++) {
            if (i < wanted.length) {
                values[i] = reads.get(snapshot, wanted[i], Waits.FOR_NOTHING, false);
            }
            goOn(snapshot, wanted, values, i - KEYS_AHEAD, Waits.FOR_KEYS);
            goOn(snapshot, wanted, values, i - KEYS_AHEAD - VALUES_AHEAD, Waits.FOR_ALL);
        }
        return Arrays.asList(values);
    }

    /** What the caller's list has now. */
    private static MemorySegment[] segments(List<byte[]> keys) {
        byte[][] arrays = Objects.requireNonNull(keys, "keys").toArray(byte[][]::new);
        MemorySegment[] segments = new MemorySegment[arrays.length];
        for (int i = 0; i < arrays.length; i++) {
            int index = i;
            segments[i] = MemorySegment.ofArray(Objects.requireNonNull(arrays[i], () -> "keys[" + index + "]"));
        }
        return segments;
    }

    private void goOn(SnapshotHold snapshot, MemorySegment[] keys, byte[][] values, int index, Waits waits) {
        if (index >= 0 && index < keys.length && values[index] == ReadCalls.UNREAD) {
            values[index] = reads.get(snapshot, keys[index], waits, true);
        }
    }
}
