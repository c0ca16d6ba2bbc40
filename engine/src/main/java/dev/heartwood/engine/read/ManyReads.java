package dev.heartwood.engine.read;

import dev.heartwood.engine.base.FoundEntry.Waits;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * One caller's reads of many keys: begins the reads of the device that some of the next ones need before it waits for those of the first, so that
 * several are under way at once. Belongs to one thread.
 */
public final class ManyReads {
    /*
     * Each key is looked up by a call of its own, so that many of them hold nothing back together: without waiting first, which is all there is
     * to do where its pages are in the cache; some keys later waiting for the page of the key, and more keys later for all. Where the device does
     * one read after the other each key is looked up once, waiting for all.
     */
    private static final int KEYS_AHEAD = 24;

    private static final int VALUES_AHEAD = 8;

    private final ReadCalls reads;
    private final SnapshotHold snapshot;
    private final MemorySegment[] keys;
    private final byte[][] values;

    /** Reads in a snapshot, or, where that is null, each key in the current state. Takes what the list has now. */
    public ManyReads(ReadCalls reads, SnapshotHold snapshot, List<byte[]> keys) {
        this.reads = reads;
        this.snapshot = snapshot;
        byte[][] arrays = Objects.requireNonNull(keys, "keys").toArray(byte[][]::new);
        this.keys = new MemorySegment[arrays.length];
        for (int i = 0; i < arrays.length; i++) {
            int index = i;
            this.keys[i] = MemorySegment.ofArray(Objects.requireNonNull(arrays[i], () -> "keys[" + index + "]"));
        }
        this.values = new byte[arrays.length][];
    }

    /** The values of the keys, each at its key's place, null where there is none. */
    public List<byte[]> run() {
        reads.requireOpen();
        Waits first = reads.overlap() ? Waits.FOR_NOTHING : Waits.FOR_ALL;
        for (int i = 0; i < keys.length + KEYS_AHEAD + VALUES_AHEAD; i++) {
            if (i < keys.length) {
                values[i] = reads.get(snapshot, keys[i], first, false);
            }
            goOn(i - KEYS_AHEAD, Waits.FOR_KEYS);
            goOn(i - KEYS_AHEAD - VALUES_AHEAD, Waits.FOR_ALL);
        }
        return Arrays.asList(values);
    }

    private void goOn(int index, Waits waits) {
        if (index >= 0 && index < keys.length && values[index] == ReadCalls.UNREAD) {
            values[index] = reads.get(snapshot, keys[index], waits, true);
        }
    }
}
