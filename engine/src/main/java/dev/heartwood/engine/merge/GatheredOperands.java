package dev.heartwood.engine.merge;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Operands of one key on the Java heap, as many at once as a part of it has room for: a key may have any number. Filled again and again by one
 * thread, from the newest on unless all are taken.
 */
final class GatheredOperands {
    /** Merges beside each other gather, each hands copies to the user's code, and that makes something of them. */
    private static final int HEAP_SHARE = 64;

    private static final long BYTES_MAX = 64 << 20;

    /** What an operand takes beside its bytes, about: its array's header and padding, its places here, and the same of its copy. */
    private static final int OPERAND_BYTES = 64;

    /** With fewer there is nothing to combine. */
    private static final int OPERANDS_MIN = 2;

    private final long bytesMax;
    private final List<byte[]> operands = new ArrayList<>();
    private long[] sequences = new long[16];
    private long bytes;

    GatheredOperands() {
        this(Math.min(BYTES_MAX, Runtime.getRuntime().maxMemory() / HEAP_SHARE));
    }

    /** @param bytesMax how much there is room for; two operands always */
    GatheredOperands(long bytesMax) {
        this.bytesMax = bytesMax;
    }

    void clear() {
        operands.clear();
        bytes = 0;
    }

    /** Whether the next operand finds no room. */
    boolean isFull() {
        return operands.size() >= OPERANDS_MIN && bytes >= bytesMax;
    }

    /** Whether so much room is left that it pays to gather more. */
    boolean isHalfEmpty() {
        return bytes <= bytesMax / 2;
    }

    int count() {
        return operands.size();
    }

    /** The sequence number of the first. */
    long firstSequence() {
        return sequences[0];
    }

    /** Takes the operand on which a cursor stands. */
    void add(EntryCursor input) {
        add(input.value(), input.sequence());
    }

    private void add(byte[] operand, long sequence) {
        int count = operands.size();
        if (count == sequences.length) {
            sequences = Arrays.copyOf(sequences, 2 * count);
        }
        sequences[count] = sequence;
        operands.add(operand);
        bytes += OPERAND_BYTES + operand.length;
    }

    /** Puts one in the place of all. */
    void replace(byte[] combined) {
        clear();
        add(combined, sequences[0]);
    }

    /** Of operands from the newest on, oldest first, to be given away: what is kept is as it was, whatever the user's code does to them. */
    List<byte[]> copies() {
        List<byte[]> copies = new ArrayList<>(operands.size());
        for (byte[] operand : operands.reversed()) {
            copies.add(operand.clone());
        }
        return copies;
    }

    /** All in the order in which they were gathered, to be given away; none is left here. */
    List<byte[]> takeAll() {
        List<byte[]> taken = new ArrayList<>(operands);
        clear();
        return taken;
    }

    /** Writes operands from the newest on as they are; none is left here. */
    void moveTo(EntrySink output, long keyAddress, int keyLength) {
        for (int i = 0; i < operands.size(); i++) {
            output.add(keyAddress, keyLength, sequences[i], Entries.MERGE, operands.get(i));
        }
        clear();
    }
}
