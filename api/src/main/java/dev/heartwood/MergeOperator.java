package dev.heartwood;

import java.util.List;

/**
 * Combines the operands of {@link KeyValueStore#merge} with the value of their key. Called inline by reads and by background
 * merges, from many threads, so it must be thread-safe, and pure: the same input gives the same output.
 *
 * <p>What is thrown here, an exception or an error, is reported to the reader that met it, as it is; a background merge that meets it
 * keeps the operands unmerged, and it is counted in {@link StoreStats#filterFailures()}. An {@link OutOfMemoryError} in a merge stops
 * the store, as wherever the Java heap is full. A result may be larger than what the budget lets anybody write; one of more than {@link
 * KeyValueStore#VALUE_BYTES_MAX} counts as a failure.
 *
 * <p>It may read stores of its environment. Calls that write to one, sync, tune or discard a range of one, make a checkpoint or a backup,
 * settle, open or close one, or close the environment throw an {@link IllegalStateException} within it: they change what it is part of, or
 * might wait for the merge or the call that is. For the same reason it must not wait for another thread that makes such a call.
 *
 * <p>A read gathers all operands of its key down to the last value on the Java heap: where a key gets many, as a counter does, {@link #combine}
 * keeps them few. Merges in the background gather as many at once as a part of the heap has room for, so that operands may be applied in
 * several steps, each to what the one before has made.
 *
 * <p>The arrays that it is given, and the list of operands, are its own: what it does to them changes nothing in the store.
 */
public interface MergeOperator {
    /**
     * A name that is stored with the store and checked at open: at least one character and at most 256 bytes of UTF-8, without control characters
     * and without blanks at its ends. Asked for once, when options are built, which refuse any other name.
     */
    String name();

    /**
     * The value that results.
     *
     * @param key the key
     * @param existing the value below the operands, or null when the key had none
     * @param operands the operands, oldest first; at least one
     * @return the new value; null removes the key
     */
    byte[] merge(byte[] key, byte[] existing, List<byte[]> operands);

    /**
     * Combines operands without knowing the value below, so that fewer are kept.
     *
     * @param operands the operands, oldest first; at least two
     * @return one operand that stands for all of them, or null when they cannot be combined
     */
    default byte[] combine(byte[] key, List<byte[]> operands) {
        return null;
    }
}
