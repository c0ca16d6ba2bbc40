package dev.heartwood.engine.call;

import dev.heartwood.CompactionFilter;
import dev.heartwood.KeyOrder;
import dev.heartwood.KeyRange;
import dev.heartwood.MergeOperator;
import dev.heartwood.UnorderedStoreException;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.os.HashedKeys;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * The form in which a store keeps its keys. Keys change their form here, where they enter and leave the store, and nowhere else:
 * everything below orders bytes. Stateless.
 */
public enum KeyForm {
    /** As they are. */
    PLAIN {
        @Override
        public void store(long address, int length) {}

        @Override
        public void restore(byte[] stored, int length) {}

        @Override
        public void requireOrder(String what) {}

        @Override
        public void requireOrder(KeyRange range, String what) {}

        @Override
        public TreeShape shape(int fanout, long memtableBytes) {
            return TreeShape.of(fanout, memtableBytes);
        }

        @Override
        public MergeOperator operator(MergeOperator user) {
            return user;
        }

        @Override
        public CompactionFilter filter(CompactionFilter user) {
            return user;
        }
    },
    /** Behind their hash; see {@link HashedKeys}. */
    HASHED {
        @Override
        public void store(long address, int length) {
            HashedKeys.store(address, length);
        }

        @Override
        public void restore(byte[] stored, int length) {
            HashedKeys.restore(stored, length);
        }

        @Override
        public void requireOrder(String what) {
            throw new UnorderedStoreException(what);
        }

        @Override
        public void requireOrder(KeyRange range, String what) {
            if (!range.equals(KeyRange.all())) {
                requireOrder(what);
            }
        }

        @Override
        public TreeShape shape(int fanout, long memtableBytes) {
            return TreeShape.ofHashed(fanout, memtableBytes);
        }

        @Override
        public MergeOperator operator(MergeOperator user) {
            return user == null ? null : new RestoringOperator(user);
        }

        @Override
        public CompactionFilter filter(CompactionFilter user) {
            return user == null ? null : new RestoringFilter(user);
        }
    };

    /** The form that goes with an order. */
    public static KeyForm of(KeyOrder order) {
        return switch (order) {
            case SORTED -> PLAIN;
            case HASHED -> HASHED;
        };
    }

    /** Copies a key to the scratch of a call, in its stored form; returns its address. */
    public final long copy(Operation operation, byte[] key) {
        long address = operation.copy(key);
        store(address, key.length);
        return address;
    }

    /** Copies a key to the scratch of a call, in its stored form; returns its address. */
    public final long copy(Operation operation, MemorySegment key) {
        long address = operation.copy(key);
        store(address, (int) key.byteSize());
        return address;
    }

    /** Turns the key at an address into its stored form, in place. */
    public abstract void store(long address, int length);

    /** Turns the stored form of a key, the first {@code length} bytes of {@code stored}, back into the key, in place. */
    public abstract void restore(byte[] stored, int length);

    /**
     * Refuses a call that means something only where keys are sorted.
     *
     * @param what the call, to name
     * @throws UnorderedStoreException when they are not
     */
    public abstract void requireOrder(String what);

    /** Refuses a range with a bound where keys are not sorted. */
    public abstract void requireOrder(KeyRange range, String what);

    /** The shape of a tree of such keys, for memtables of a size. */
    public abstract TreeShape shape(int fanout, long memtableBytes);

    /** The user's operator for stored keys; null stays null. */
    public abstract MergeOperator operator(MergeOperator user);

    /** The user's filter for stored keys; null stays null. */
    public abstract CompactionFilter filter(CompactionFilter user);

    /** Shows a merge operator the keys as the user knows them. */
    private record RestoringOperator(MergeOperator user) implements MergeOperator {
        @Override
        public String name() {
            return user.name();
        }

        @Override
        public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            return user.merge(restored(key), existing, operands);
        }

        @Override
        public byte[] combine(byte[] key, List<byte[]> operands) {
            return user.combine(restored(key), operands);
        }

        private static byte[] restored(byte[] stored) {
            byte[] key = stored.clone();
            HASHED.restore(key, key.length);
            return key;
        }
    }

    /** Shows a compaction filter the keys as the user knows them. */
    private record RestoringFilter(CompactionFilter user) implements CompactionFilter {
        @Override
        public String name() {
            return user.name();
        }

        @Override
        public Decision filter(MemorySegment key, MemorySegment value) {
            byte[] restored = key.toArray(ValueLayout.JAVA_BYTE);
            HASHED.restore(restored, restored.length);
            return user.filter(MemorySegment.ofArray(restored).asReadOnly(), value);
        }
    }
}
