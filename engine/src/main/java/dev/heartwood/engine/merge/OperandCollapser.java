package dev.heartwood.engine.merge;

import dev.heartwood.MergeOperator;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.task.TimeSlice;
import dev.heartwood.engine.trunk.UserFailures;

/** Applies the operands of a key to the value below them, or makes fewer of them, with bounded memory. One thread at a time. */
final class OperandCollapser {
    /*
     * Operands come from the newest on, and are applied from the oldest on. As many as find room are gathered and applied, or combined, at
     * once. Where there are more, those that combine become one and more are gathered. Those that do not are moved as they are, before the
     * older ones are looked at: among those there may be nothing that they can be applied to. Where nothing is below the input all of them
     * can be applied: then the input is walked to the oldest, and back, and the value grows by as many at once as find room.
     */
    private static final int STEPS_PER_CHECK = 32;

    private final Strata strata;
    /** Null where the store was opened without one. */
    private final MergeOperator operator;

    private final UserFailures failures;
    private final GatheredOperands operands;
    private final TimeSlice slice = new TimeSlice();

    private EntryCursor input;
    private EntrySink output;
    private long keyAddress;
    private int keyLength;
    private int stratum;
    /** Operands of the key in the stratum that were gathered so far, and for which nothing was written yet. */
    private long taken;
    /** The operand that the input stands on while it walks back, counted from the newest of the key in the stratum, which is 1. */
    private long at;

    OperandCollapser(Strata strata, MergeOperator operator, UserFailures failures, GatheredOperands operands) {
        this.strata = strata;
        this.operator = operator;
        this.failures = failures;
        this.operands = operands;
    }

    /** Walks {@code from} and writes to {@code to} from here on. */
    void begin(EntryCursor from, EntrySink to) {
        input = from;
        output = to;
    }

    /**
     * Takes operands of a key, the first of which the input stands on, within one stratum, and the value below them when it is in the same
     * stratum.
     *
     * @return whether the input stands on an older operand there that is still needed
     */
    boolean collapse(long key, int length, int within) {
        keyAddress = key;
        keyLength = length;
        stratum = within;
        taken = 0;
        boolean followed = gather();
        while (followed && combine() && operands.isHalfEmpty()) {
            slice.check();
            followed = gather();
        }
        if (!followed) {
            applyGathered();
        } else if (operator != null && strata.isNothingBelow(stratum)) {
            applyFromOldest();
            return false;
        } else {
            operands.moveTo(output, keyAddress, keyLength);
        }
        return followed;
    }

    /** Gathers as long as there is room; returns whether another operand follows. */
    private boolean gather() {
        while (isOnOperand()) {
            if (operands.isFull()) {
                return true;
            }
            operands.add(input);
            taken++;
            input.next();
        }
        return false;
    }

    private boolean isOnOperand() {
        return isWithin() && input.kind() == Entries.MERGE;
    }

    /** Whether the input stands on a version of the key in the stratum. */
    private boolean isWithin() {
        return input.valid()
                && input.keyLength() == keyLength
                && Memory.compare(input.keyAddress(), keyLength, keyAddress, keyLength) == 0
                && strata.of(input.sequence()) == stratum;
    }

    /** Has the operands become one, if the user's code can do that. */
    private boolean combine() {
        if (operator == null || operands.count() < 2) {
            return false;
        }
        try {
            byte[] combined = operator.combine(Memory.bytes(keyAddress, keyLength), operands.copies());
            if (combined != null && failures.isNotTooLong(combined)) {
                operands.replace(combined);
                return true;
            }
        } catch (Throwable e) {
            failures.contain(e);
        }
        return false;
    }

    /** Where there is something to apply the gathered operands to, or nothing below them, writes what that makes; else keeps them. */
    private void applyGathered() {
        boolean isGrounded = isWithin();
        byte[] base = isGrounded && input.kind() == Entries.PUT ? input.value() : null;
        long baseSequence = isGrounded ? input.sequence() : 0;
        if (isGrounded) {
            input.next();
        }
        if (operator != null && (isGrounded || strata.isNothingBelow(stratum))) {
            byte[] value = null;
            boolean applied = false;
            try {
                byte[] key = Memory.bytes(keyAddress, keyLength);
                value = operator.merge(key, base == null ? null : base.clone(), operands.copies());
                applied = failures.isNotTooLong(value);
            } catch (Throwable e) {
                failures.contain(e);
            }
            // Not within: what the output throws is no failure of the operator's, and nothing may be written after it.
            if (applied) {
                writeValue(value, stratum == 0 ? 0 : operands.firstSequence());
                operands.clear();
                return;
            }
        }
        combine();
        operands.moveTo(output, keyAddress, keyLength);
        if (isGrounded) {
            writeValue(base, baseSequence);
        }
    }

    private void writeValue(byte[] value, long sequence) {
        if (value != null) {
            output.add(keyAddress, keyLength, sequence, Entries.PUT, value);
        } else if (!strata.isNothingBelow(stratum)) {
            output.add(keyAddress, keyLength, sequence, Entries.DELETE, Keys.EMPTY);
        }
    }

    /** Writes what the operands make, applied from the oldest on, above it those that cannot be; leaves the input on one of them or behind all. */
    private void applyFromOldest() {
        operands.clear();
        long count = walkToOldest();
        byte[] value = isWithin() && input.kind() == Entries.PUT ? input.value() : null;
        if (input.valid()) {
            input.previous();
        } else {
            input.seekLast();
        }
        at = count;
        long unapplied = count;
        while (unapplied > 0) {
            long next = gatherBack(unapplied);
            slice.check();
            try {
                byte[] key = Memory.bytes(keyAddress, keyLength);
                byte[] applied = operator.merge(key, value == null ? null : value.clone(), operands.takeAll());
                if (!failures.isNotTooLong(applied)) {
                    break;
                }
                value = applied;
            } catch (Throwable e) {
                failures.contain(e);
                break;
            }
            unapplied = next;
        }
        writeNewest(unapplied);
        writeValue(value, 0);
    }

    /** Gathers the oldest of some operands that are left, as many as find room; returns how many are left then. */
    private long gatherBack(long left) {
        long newer = left;
        while (newer > 0 && !operands.isFull()) {
            if (at > newer) {
                input.previous();
                at--;
            }
            operands.add(input);
            newer--;
        }
        return newer;
    }

    /** Writes so many operands as they are, from the newest on; leaves the input behind them. */
    private void writeNewest(long count) {
        for (; at > 1; at--) {
            input.previous();
        }
        for (; at <= count; at++) {
            output.addCurrent(input, input.sequence());
            input.next();
        }
    }

    /** Passes over the rest of the operands; returns how many there are of the key in the stratum. */
    private long walkToOldest() {
        long count = taken;
        while (isOnOperand()) {
            count++;
            input.next();
            if (count % STEPS_PER_CHECK == 0) {
                slice.check();
            }
        }
        return count;
    }
}
