package dev.heartwood.engine.salvage;

import dev.heartwood.Durability;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.WriteBatch;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * Takes the place of the merge operator in the copy, which has the name of that stored, or none where none is known. It leaves operands as they
 * are. What is larger than any write it puts into the copy as merge operators do: as their result. Writes come from one thread.
 */
final class StandInOperator implements MergeOperator {
    /*
     * In the place of something large the copy is given two marks as one batch, so that they are in one memtable, and that is packed at
     * once. Packing has this operator make one thing of the two: of a mark over a mark a value, of two operands that are marks an operand.
     */
    private static final byte[] MARK = "heartwood: what is too large for a write".getBytes(StandardCharsets.US_ASCII);

    private record Large(byte[] key, byte[] bytes) {}

    private volatile Large large;
    private volatile boolean isMade;

    @Override
    public String name() {
        return "salvage";
    }

    /** Puts a value, whatever its length; makes a checkpoint. */
    void put(KeyValueStore copy, byte[] key, byte[] value) {
        write(copy, new Large(key, value), marks -> {
            marks.put(key, MARK);
            marks.merge(key, MARK);
        });
    }

    /** Adds an operand, whatever its length; makes checkpoints. */
    void merge(KeyValueStore copy, byte[] key, byte[] operand) {
        // Of operands in one memtable all would be combined.
        copy.checkpoint();
        write(copy, new Large(key, operand), marks -> {
            marks.merge(key, MARK);
            marks.merge(key, MARK);
        });
    }

    private void write(KeyValueStore copy, Large added, Consumer<WriteBatch> marking) {
        isMade = false;
        large = added;
        try (WriteBatch marks = copy.newBatch()) {
            marking.accept(marks);
            copy.write(marks, Durability.NONE);
            copy.checkpoint();
        } finally {
            large = null;
        }
        if (!isMade) {
            throw new IllegalStateException("marks that nothing was made of");
        }
    }

    @Override
    public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
        byte[] made = existing != null && operands.size() == 1 ? made(key, existing, operands.getFirst()) : null;
        if (made == null) {
            throw new UnsupportedOperationException("only the name of the merge operator is known");
        }
        return made;
    }

    @Override
    public byte[] combine(byte[] key, List<byte[]> operands) {
        return operands.size() == 2 ? made(key, operands.getFirst(), operands.getLast()) : null;
    }

    private byte[] made(byte[] key, byte[] lower, byte[] upper) {
        Large added = large;
        boolean isMarked = added != null
                && Arrays.equals(added.key, key)
                && Arrays.equals(MARK, lower)
                && Arrays.equals(MARK, upper);
        if (isMarked) {
            isMade = true;
        }
        return isMarked ? added.bytes : null;
    }
}
