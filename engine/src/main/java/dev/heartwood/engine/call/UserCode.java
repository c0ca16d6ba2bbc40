package dev.heartwood.engine.call;

import dev.heartwood.CompactionFilter;
import dev.heartwood.MergeOperator;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Knows the threads that are in a merge operator or a compaction filter of a store of this environment. What waits for merges, for packing
 * or for calls is refused there: the merge or the call that it would wait for may be its own. So is all else that changes a store. Thread-safe.
 */
public final class UserCode {
    /** How many calls of user code a thread is in; one may lead to another, by a read. */
    private static final class Depth {
        int calls;
    }

    private final ThreadLocal<Depth> depths = ThreadLocal.withInitial(Depth::new);
    /** Whether any store has user code; until then no thread needs a depth. */
    private volatile boolean isAny;

    /** An operator that does as {@code user} does; null stays null. */
    public MergeOperator watched(MergeOperator user) {
        if (user == null) {
            return null;
        }
        isAny = true;
        return new WatchedOperator(user);
    }

    /** A filter that does as {@code user} does; null stays null. */
    public CompactionFilter watched(CompactionFilter user) {
        if (user == null) {
            return null;
        }
        isAny = true;
        return new WatchedFilter(user);
    }

    /** Throws an {@link IllegalStateException} within user code. */
    public void refuseWithin() {
        if (isWithin()) {
            throw new IllegalStateException("a merge operator or compaction filter may read stores of its environment; to change one, to sync, to"
                    + " make a checkpoint or backup, to settle, to open or to close may be to wait for itself");
        }
    }

    /** Whether this thread is in user code. */
    boolean isWithin() {
        return isAny && depths.get().calls > 0;
    }

    // Nothing is called once the depth is raised but the user: it is lowered also where a stack or the heap is full.

    private final class WatchedOperator implements MergeOperator {
        private final MergeOperator user;

        WatchedOperator(MergeOperator user) {
            this.user = user;
        }

        @Override
        public String name() {
            return user.name();
        }

        @Override
        public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            Depth depth = depths.get();
            depth.calls++;
            try {
                return user.merge(key, existing, operands);
            } finally {
                depth.calls--;
            }
        }

        @Override
        public byte[] combine(byte[] key, List<byte[]> operands) {
            Depth depth = depths.get();
            depth.calls++;
            try {
                return user.combine(key, operands);
            } finally {
                depth.calls--;
            }
        }
    }

    private final class WatchedFilter implements CompactionFilter {
        private final CompactionFilter user;

        WatchedFilter(CompactionFilter user) {
            this.user = user;
        }

        @Override
        public String name() {
            return user.name();
        }

        @Override
        public Decision filter(MemorySegment key, MemorySegment value) {
            Depth depth = depths.get();
            depth.calls++;
            try {
                return user.filter(key, value);
            } finally {
                depth.calls--;
            }
        }
    }
}
