package dev.heartwood.engine.trunk;

import dev.heartwood.CompactionFilter;
import dev.heartwood.CompactionFilter.Decision;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.task.TimeSlice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Drops what no reader can see any more: versions that are overwritten for every live snapshot, tombstones that have nothing
 * left to hide, operands that have a value to be applied to. One thread at a time.
 *
 * <p>Snapshots part the sequence numbers into strata; of the versions of a key, the newest in each stratum is visible to someone
 * and the others to nobody. Stratum 0, at or before the oldest snapshot, is visible to all, so its sequence numbers need not be
 * kept and become 0, and the compaction filter is asked of it alone. Runs are ordered by age, which keeps entries with number 0 in order.
 */
final class VersionCollapser {
    private static final int STEPS_PER_CHECK = 32;

    private final long[] snapshots;
    private final boolean bottom;
    private final MergeOperator operator;
    private final CompactionFilter filter;
    private final TrunkEvents events;
    /** Length of the key of the last entry; below 0 before the first. */
    private int previousLength;
    /** The stratum of that key that needs nothing more; below 0 when none was moved. */
    private int emittedStratum;
    /** Keys of which the oldest snapshot has a version kept that younger ones of the output supersede. */
    private long keptForOldest;
    /** The youngest snapshot that sees one of these. */
    private long keptUntil;

    /**
     * Prepares a merge.
     *
     * @param snapshots the sequence numbers of live snapshots, ascending
     * @param bottom whether nothing older than the input exists
     */
    VersionCollapser(
            long[] snapshots, boolean bottom, MergeOperator operator, CompactionFilter filter, TrunkEvents events) {
        this.snapshots = snapshots;
        this.bottom = bottom;
        this.operator = operator;
        this.filter = filter;
        this.events = events;
    }

    /** Moves everything that is still needed from {@code input} to {@code output}; {@code previousKey} is scratch for a key. */
    void run(EntryCursor input, EntrySink output, long previousKey) {
        previousLength = -1;
        TimeSlice slice = new TimeSlice();
        input.seekFirst();
        for (int steps = 1; input.valid(); steps++) {
            step(input, output, previousKey);
            if (steps % STEPS_PER_CHECK == 0) {
                slice.check();
            }
        }
    }

    /** What was moved for the sake of the oldest snapshot, and of others that see the same. */
    KeptVersions kept() {
        return keptForOldest == 0 ? KeptVersions.NONE : new KeptVersions(keptForOldest, keptUntil);
    }

    /** Moves one entry, or the operands of a key. A method of its own, so that it is compiled once and not in the midst of a loop. */
    private void step(EntryCursor input, EntrySink output, long previousKey) {
        int length = input.keyLength();
        if (length != previousLength || Memory.compare(input.keyAddress(), length, previousKey, length) != 0) {
            Memory.copy(input.keyAddress(), previousKey, length);
            previousLength = length;
            emittedStratum = -1;
        }
        int stratum = stratum(input.sequence());
        if (stratum == emittedStratum) {
            input.next();
            return;
        }
        if (emittedStratum > 0 && stratum == 0) {
            keptForOldest++;
            keptUntil = Math.max(keptUntil, snapshots[emittedStratum - 1]);
        }
        emittedStratum = stratum;
        if (input.kind() == Entries.MERGE) {
            collapseOperands(input, stratum, output, previousKey, previousLength);
        } else {
            emit(input, stratum, output);
            input.next();
        }
    }

    private void emit(EntryCursor input, int stratum, EntrySink output) {
        if (input.kind() == Entries.DELETE) {
            if (!bottom || stratum > 0) {
                output.addCurrent(input, stratum == 0 ? 0 : input.sequence());
            }
        } else if (filter == null || stratum > 0) {
            // In a higher stratum there may be an older version that a snapshot keeps, and that would be the newest then.
            output.addCurrent(input, stratum == 0 ? 0 : input.sequence());
        } else {
            emitFiltered(input, output);
        }
    }

    private void emitFiltered(EntryCursor input, EntrySink output) {
        Decision decision = decide(input);
        if (decision == Decision.DROP) {
            if (!bottom) {
                output.add(input.keyAddress(), input.keyLength(), 0, Entries.DELETE, NOTHING);
            }
        } else if (decision != null && decision.replacement() != null && isNotTooLong(decision.replacement())) {
            output.add(input.keyAddress(), input.keyLength(), 0, Entries.PUT, decision.replacement());
        } else {
            output.addCurrent(input, 0);
        }
    }

    private Decision decide(EntryCursor input) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment key = Memory.view(input.keyAddress(), input.keyLength(), arena);
            MemorySegment value = value(input, arena);
            try {
                return filter.filter(key, value);
            } catch (Throwable e) {
                contain(e);
                return Decision.KEEP;
            }
        }
    }

    /** The value where it lies, or where the memory for merges has no block that it could be put together in, a copy on the heap. */
    private static MemorySegment value(EntryCursor input, Arena arena) {
        long address;
        try {
            address = input.valueAddress();
        } catch (InsufficientMemoryException tooLarge) {
            return MemorySegment.ofArray(input.value()).asReadOnly();
        }
        return Memory.view(address, input.valueLength(), arena);
    }

    /**
     * Counts what the user's code has thrown, whatever it is: a merge that passed it on would stop the store, and the next opening would
     * meet it again. A full Java heap may be anybody's doing, and is treated as anywhere else.
     */
    private void contain(Throwable thrown) {
        if (thrown instanceof OutOfMemoryError full) {
            throw full;
        }
        events.filterFailed();
    }

    private static final byte[] NOTHING = new byte[0];

    /** Takes the operands of a key within one stratum, and the value below them when it is in the same stratum. */
    private void collapseOperands(EntryCursor input, int stratum, EntrySink output, long keyAddress, int keyLength) {
        List<byte[]> newestFirst = new ArrayList<>();
        List<Long> sequences = new ArrayList<>();
        byte[] base = null;
        long baseSequence = 0;
        boolean grounded = false;
        while (!grounded && input.valid() && isSameKey(input, keyAddress, keyLength)
                && stratum(input.sequence()) == stratum) {
            if (input.kind() == Entries.MERGE) {
                newestFirst.add(input.value());
                sequences.add(input.sequence());
            } else {
                grounded = true;
                baseSequence = input.sequence();
                base = input.kind() == Entries.PUT ? input.value() : null;
            }
            input.next();
        }
        boolean nothingBelow = bottom && stratum == 0;
        byte[] key = Memory.bytes(keyAddress, keyLength);
        byte[] value = NOTHING;
        boolean applied = false;
        if (operator != null && (grounded || nothingBelow)) {
            try {
                value = operator.merge(key, base == null ? null : base.clone(), copies(newestFirst));
                applied = isNotTooLong(value);
            } catch (Throwable e) {
                contain(e);
            }
        }
        if (applied) {
            addResult(value, stratum, sequences.getFirst(), output, keyAddress, keyLength);
            return;
        }
        keepOperands(newestFirst, sequences, output, keyAddress, keyLength);
        if (base != null) {
            output.add(keyAddress, keyLength, baseSequence, Entries.PUT, base);
        } else if (grounded && !nothingBelow) {
            output.add(keyAddress, keyLength, baseSequence, Entries.DELETE, NOTHING);
        }
    }

    /** The operands, oldest first, to be given away: what is kept when the user's code fails is as it was, whatever that did to them. */
    private static List<byte[]> copies(List<byte[]> newestFirst) {
        List<byte[]> copies = new ArrayList<>(newestFirst.size());
        for (byte[] operand : newestFirst.reversed()) {
            copies.add(operand.clone());
        }
        return copies;
    }

    private void addResult(byte[] value, int stratum, long sequence, EntrySink output, long keyAddress, int keyLength) {
        long kept = stratum == 0 ? 0 : sequence;
        if (value != null) {
            output.add(keyAddress, keyLength, kept, Entries.PUT, value);
        } else if (!bottom || stratum > 0) {
            output.add(keyAddress, keyLength, kept, Entries.DELETE, NOTHING);
        }
    }

    private void keepOperands(
            List<byte[]> newestFirst, List<Long> sequences, EntrySink output, long keyAddress, int keyLength) {
        if (operator != null && newestFirst.size() > 1) {
            byte[] combined = null;
            try {
                combined = operator.combine(Memory.bytes(keyAddress, keyLength), copies(newestFirst));
            } catch (Throwable e) {
                contain(e);
            }
            if (combined != null && isNotTooLong(combined)) {
                output.add(keyAddress, keyLength, sequences.getFirst(), Entries.MERGE, combined);
                return;
            }
        }
        for (int i = 0; i < newestFirst.size(); i++) {
            output.add(keyAddress, keyLength, sequences.get(i), Entries.MERGE, newestFirst.get(i));
        }
    }

    /** Whether a store can hold what the user's code has made, null included; otherwise that counts as a failure of it. */
    private boolean isNotTooLong(byte[] made) {
        if (made == null || made.length <= KeyValueStore.VALUE_BYTES_MAX) {
            return true;
        }
        events.filterFailed();
        return false;
    }

    private static boolean isSameKey(EntryCursor input, long keyAddress, int keyLength) {
        return input.keyLength() == keyLength
                && Memory.compare(input.keyAddress(), keyLength, keyAddress, keyLength) == 0;
    }

    /** How many live snapshots are too old to see a sequence number. */
    private int stratum(long sequence) {
        int low = 0;
        int high = snapshots.length;
        while (low < high) {
            int middle = low + high >>> 1;
            if (snapshots[middle] < sequence) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
