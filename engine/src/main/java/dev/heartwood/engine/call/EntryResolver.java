package dev.heartwood.engine.call;

import dev.heartwood.MergeOperator;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.os.Memory;
import java.util.ArrayList;
import java.util.List;

/**
 * Turns the versions of a key that a snapshot sees into the key's value: the operands above a value, applied to it. They are gathered first,
 * so that the operator, which may be long about it, needs nothing of what they were read from.
 */
public final class EntryResolver {
    private EntryResolver() {}

    /**
     * What a key's value comes of, on the Java heap.
     *
     * @param base the value below the operands, null when there is none
     * @param oldestFirst none when the base is the value
     */
    public record Operands(byte[] key, byte[] base, List<byte[]> oldestFirst) {
        /** The value; null when there is none. */
        public byte[] applied(MergeOperator operator) {
            if (oldestFirst.isEmpty()) {
                return base;
            }
            if (operator == null) {
                throw new IllegalStateException(
                        "the store holds merge operands but was opened without a merge operator");
            }
            return operator.merge(key, base, oldestFirst);
        }
    }

    /**
     * Gathers what the value of {@code key} comes of, from the newest version that the reader sees, on which {@code entries} stands; walks on
     * to the first value or tombstone below the operands.
     */
    public static Operands gather(EntryCursor entries, byte[] key) {
        List<byte[]> newestFirst = new ArrayList<>();
        byte[] base = null;
        while (entries.valid() && Memory.compare(entries.keyAddress(), entries.keyLength(), key) == 0) {
            if (entries.kind() != Entries.MERGE) {
                base = entries.kind() == Entries.PUT ? entries.value() : null;
                break;
            }
            newestFirst.add(entries.value());
            entries.next();
        }
        return new Operands(key, base, newestFirst.reversed());
    }
}
