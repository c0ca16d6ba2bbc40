package dev.heartwood.engine.store;

import dev.heartwood.MergeOperator;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.os.Memory;
import java.util.ArrayList;
import java.util.List;

/** Turns the versions of a key that a snapshot sees into the key's value: the operands above a value, applied to it. */
final class EntryResolver {
    private EntryResolver() {}

    /** The value of {@code key} from the newest version on, on which {@code entries} stands; null when there is none. */
    static byte[] valueAt(EntryCursor entries, byte[] key, MergeOperator operator) {
        if (!entries.valid() || Memory.compare(entries.keyAddress(), entries.keyLength(), key) != 0) {
            return null;
        }
        return switch (entries.kind()) {
            case Entries.PUT -> entries.value();
            case Entries.DELETE -> null;
            default -> applyOperands(entries, key, operator);
        };
    }

    /**
     * Applies the operands of the key that {@code entries} stands on, walking on to the first value or tombstone below them.
     * Operands are taken from the newest, so the cursor stands on a MERGE entry visible to the reader.
     *
     * @return the value, or null when the key has none
     */
    static byte[] applyOperands(EntryCursor entries, byte[] key, MergeOperator operator) {
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
        return apply(key, base, newestFirst.reversed(), operator);
    }

    /** The value that operands, oldest first, make of {@code base}. */
    static byte[] apply(byte[] key, byte[] base, List<byte[]> operands, MergeOperator operator) {
        if (operator == null) {
            throw new IllegalStateException(
                    "the store holds merge operands but was opened without a merge operator");
        }
        return operator.merge(key, base, operands);
    }
}
