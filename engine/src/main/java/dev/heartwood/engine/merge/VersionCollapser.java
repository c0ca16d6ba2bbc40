package dev.heartwood.engine.merge;

import dev.heartwood.CompactionFilter;
import dev.heartwood.CompactionFilter.Decision;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.MergeOperator;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.branch.LargeValueCursor;
import dev.heartwood.engine.node.KeptVersions;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.task.TimeSlice;
import dev.heartwood.engine.trunk.TrunkEvents;
import dev.heartwood.engine.trunk.UserFailures;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

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


    private final Strata strata;
    private final CompactionFilter filter;
    private final UserFailures failures;
    private final OperandCollapser operands;
    /** Length of the key of the last entry; below 0 before the first. */
    private int previousLength;
    /** The stratum of that key that needs nothing more; below 0 when none was moved. */
    private int emittedStratum;
    /** Whether the input stands on an operand of that stratum that is still needed. */
    private boolean operandsFollow;
    /** For each snapshot, how many keys have a version that is kept for it, and for no younger one, and that younger ones of the output supersede. */
    private final long[] keptFor;

    /**
     * Prepares a merge.
     *
     * @param snapshots the sequence numbers of live snapshots, ascending
     * @param bottom whether nothing older than the input exists
     */
    VersionCollapser(
            long[] snapshots, boolean bottom, MergeOperator operator, CompactionFilter filter, TrunkEvents events) {
        this(new Strata(snapshots, bottom), operator, filter, events, new GatheredOperands());
    }

    VersionCollapser(
            Strata strata, MergeOperator operator, CompactionFilter filter, TrunkEvents events, GatheredOperands gathered) {
        this.strata = strata;
        this.filter = filter;
        this.failures = new UserFailures(events);
        this.operands = new OperandCollapser(strata, operator, failures, gathered);
        this.keptFor = new long[strata.snapshots().length];
    }

    /** Moves everything that is still needed from {@code input} to {@code output}; {@code previousKey} is scratch for a key. */
    void run(EntryCursor input, EntrySink output, long previousKey) {
        previousLength = -1;
        operands.begin(input, output);
        TimeSlice slice = new TimeSlice();
        input.seekFirst();
        for (int steps = 1; input.valid(); steps++) {
            step(input, output, previousKey);
            if (steps % STEPS_PER_CHECK == 0) {
                slice.check();
            }
        }
    }

    /** What was moved for the sake of snapshots alone. */
    KeptVersions kept() {
        return KeptVersions.of(strata.snapshots(), keptFor);
    }

    /** Moves one entry, or the operands of a key. A method of its own, so that it is compiled once and not in the midst of a loop. */
    private void step(EntryCursor input, EntrySink output, long previousKey) {
        int length = input.keyLength();
        if (length != previousLength || Memory.compare(input.keyAddress(), length, previousKey, length) != 0) {
            Memory.copy(input.keyAddress(), previousKey, length);
            previousLength = length;
            emittedStratum = -1;
        }
        int stratum = strata.of(input.sequence());
        if (stratum == emittedStratum && !operandsFollow) {
            input.next();
            return;
        }
        int youngerStratum = emittedStratum;
        emittedStratum = stratum;
        if (youngerStratum <= stratum) {
            move(input, output, previousKey, stratum);
            return;
        }
        long before = output.entries();
        move(input, output, previousKey, stratum);
        // What younger snapshots see is the younger version; those that see this one are closed when none is as old as the youngest of them.
        keptFor[youngerStratum - 1] += output.entries() > before ? 1 : 0;
    }

    private void move(EntryCursor input, EntrySink output, long previousKey, int stratum) {
        if (input.kind() == Entries.MERGE) {
            operandsFollow = operands.collapse(previousKey, previousLength, stratum);
        } else {
            operandsFollow = false;
            emit(input, stratum, output);
            input.next();
        }
    }

    private void emit(EntryCursor input, int stratum, EntrySink output) {
        if (input.kind() == Entries.DELETE) {
            if (!strata.isNothingBelow(stratum)) {
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
            if (!strata.bottom()) {
                output.add(input.keyAddress(), input.keyLength(), 0, Entries.DELETE, Keys.EMPTY);
            }
        } else if (decision.replacement() != null && failures.isNotTooLong(decision.replacement())) {
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
                return Objects.requireNonNull(filter.filter(key, value), "CompactionFilter.filter returned null");
            } catch (Throwable e) {
                failures.contain(e);
                return Decision.KEEP;
            }
        }
    }

    /** The value where it lies, or where the memory for merges has no block that it could be put together in, a copy on the heap. */
    private static MemorySegment value(EntryCursor input, Arena arena) {
        if (input instanceof LargeValueCursor large && large.largeGroup() != null) {
            large.readAheadLarge();
        }
        long address;
        try {
            address = input.valueAddress();
        } catch (InsufficientMemoryException tooLarge) {
            return MemorySegment.ofArray(input.value()).asReadOnly();
        }
        return Memory.view(address, input.valueLength(), arena);
    }
}
