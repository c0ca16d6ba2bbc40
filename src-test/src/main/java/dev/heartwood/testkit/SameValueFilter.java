package dev.heartwood.testkit;

import dev.heartwood.CompactionFilter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Puts an equal value in the place of some and fails for others, which no answer of the store may show. Immutable. */
final class SameValueFilter implements CompactionFilter {
    @Override
    public String name() {
        return "same value";
    }

    @Override
    public Decision filter(MemorySegment key, MemorySegment value) {
        return switch ((int) ((key.byteSize() + value.byteSize()) % 3)) {
            case 0 -> Decision.KEEP;
            case 1 -> Decision.replace(value.toArray(ValueLayout.JAVA_BYTE));
            default -> throw new IllegalStateException("a filter that fails");
        };
    }

    /** What it replaces is as it was. */
    @Override
    public boolean allowsStaleReads() {
        return true;
    }
}
