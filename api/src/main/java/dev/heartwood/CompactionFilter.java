package dev.heartwood;

import java.lang.foreign.MemorySegment;

/**
 * Sees values that a background merge is about to rewrite and may drop or change them. Called inline from many threads, so it
 * must be thread-safe. It is shown only values that no open snapshot can see an older version of, at times of the
 * engine's choosing: a value may be shown many times or never. Snapshots and cursors that are open go on seeing a value that it drops or changes.
 *
 * <p>In a store with a merge operator a value may be shown that operands which were written since are still to be applied to: where it is dropped,
 * they are applied to no value, and where it is changed, to that. What operands were just applied to is shown at a later merge, if one comes.
 *
 * <p>What it drops or changes is not logged: after a crash a value may be there again as it was.
 *
 * <p>An exception or an error thrown here keeps the value as it is and is counted in {@link StoreStats#filterFailures()}, and so do null for a
 * decision and a replacement longer than {@link KeyValueStore#VALUE_BYTES_MAX}. An {@link OutOfMemoryError} stops the store, as wherever the
 * Java heap is full.
 *
 * <p>It may read stores of its environment, and is refused all else as a {@link MergeOperator} is.
 */
public interface CompactionFilter {
    /**
     * A name that is stored with the store, to describe it; the next open may bring another filter, or none. As for a {@link
     * MergeOperator#name}.
     */
    String name();

    /**
     * Decides about one value. The segments are read-only and die when this returns.
     *
     * @return {@link Decision#KEEP}, {@link Decision#DROP}, or a replacement made with {@link Decision#replace}; never null
     */
    Decision filter(MemorySegment key, MemorySegment value);

    /**
     * Whether point reads may for a while still return a value that this filter has dropped or changed, because it lies in the
     * environment's cache of hot records; cursors do not. That suits a filter for values that nobody reads any more. With {@code
     * false}, the default, values of the store are not kept there.
     */
    default boolean allowsStaleReads() {
        return false;
    }

    /** What is to become of a value. */
    final class Decision {
        /** Keep the value. */
        public static final Decision KEEP = new Decision(null);

        /** Remove the key. */
        public static final Decision DROP = new Decision(null);

        private final byte[] replacement;

        private Decision(byte[] replacement) {
            this.replacement = replacement;
        }

        /** Store {@code value} instead; the array must not be changed afterwards. */
        public static Decision replace(byte[] value) {
            return new Decision(java.util.Objects.requireNonNull(value, "value"));
        }

        /** The replacement, or null. */
        public byte[] replacement() {
            return replacement;
        }
    }
}
