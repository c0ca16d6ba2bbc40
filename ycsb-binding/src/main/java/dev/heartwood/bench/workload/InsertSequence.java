package dev.heartwood.bench.workload;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.BooleanSupplier;

/**
 * Hands out the numbers of new records, and knows up to which number all have been written, so that no reader
 * asks for a record that is still on its way. Thread-safe, allocates nothing.
 *
 * <p>Access: {@code next} and {@code written} by atomic operations; slot n % {@value #WINDOW} of {@code window}
 * holds n + 1 once record n is written, and is reused only when {@code written} has passed n.
 */
public final class InsertSequence {
    private static final int WINDOW = 1 << 16;

    private final AtomicLong next;
    private final AtomicLong written;
    private final AtomicLongArray window = new AtomicLongArray(WINDOW);

    /** A sequence whose first {@code records} numbers have been written already. */
    public InsertSequence(long records) {
        next = new AtomicLong(records);
        written = new AtomicLong(records);
    }

    /** The number of a new record, to be acknowledged once it is written. */
    public long next() {
        return next.getAndIncrement();
    }

    /** Records 0 to the result - 1 have all been written. */
    public long written() {
        return written.get();
    }

    /**
     * Says that record {@code number} has been written; waits while another is {@value #WINDOW} records behind, unless that is
     * given up, as when the other could not be written.
     */
    public void acknowledge(long number, BooleanSupplier isGivenUp) {
        while (number - written.get() >= WINDOW) {
            if (isGivenUp.getAsBoolean()) {
                return;
            }
            Thread.onSpinWait();
        }
        window.set(slot(number), number + 1);
        long up = written.get();
        while (window.get(slot(up)) == up + 1) {
            written.compareAndSet(up, up + 1);
            up = written.get();
        }
    }

    private static int slot(long number) {
        return (int) (number & WINDOW - 1);
    }
}
