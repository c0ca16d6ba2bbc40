package dev.heartwood.input;

import dev.heartwood.engine.base.Epochs;

/** A process that defers actions until its Java heap is full, again and again: those that were deferred are run, each once, and no others. */
final class FullHeapQueue {
    private static final int ROUNDS = 80;

    /** From the smallest on, so that the heap fills up to the last bytes. */
    private static final int LEAST_BLOCK_BYTES = 1 << 10;

    private static final int LARGEST_BLOCK_BYTES = 1 << 20;

    private FullHeapQueue() {}

    /** No arguments. */
    public static void main(String[] args) {
        int[] run = {0};
        Runnable action = () -> run[0]++;
        Epochs epochs = new Epochs();
        for (int round = 1; round <= ROUNDS; round++) {
            run[0] = 0;
            int slot = epochs.enter();
            int deferred = deferUntilFull(epochs, action, round);
            epochs.exit(slot);
            epochs.reclaim();
            if (deferred != run[0]) {
                throw new AssertionError(deferred + " actions were deferred, and " + run[0] + " run");
            }
        }
    }

    /** Fills the heap, makes room for a few hundred actions, the more the higher the round, and defers until there is none left. */
    private static int deferUntilFull(Epochs epochs, Runnable action, int round) {
        int deferred = 0;
        Object[] room = {new byte[round * LEAST_BLOCK_BYTES]};
        Object[] filled = {null};
        for (int bytes = LARGEST_BLOCK_BYTES; bytes >= LEAST_BLOCK_BYTES; bytes /= 2) {
            fill(filled, bytes);
        }
        room[0] = null;
        try {
            while (true) {
                epochs.defer(action);
                deferred++;
            }
        } catch (OutOfMemoryError full) {
            filled[0] = null;
        }
        return deferred;
    }

    private static void fill(Object[] filled, int bytes) {
        try {
            while (true) {
                Object[] block = new Object[bytes / 4];
                block[0] = filled[0];
                filled[0] = block;
            }
        } catch (OutOfMemoryError full) {
            // As wanted.
        }
    }
}
