package dev.heartwood.engine.write;

import dev.heartwood.engine.base.Clock;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * Slows writers in proportion to what the background owes, a little each, so that none ever waits for a whole merge. Each lane
 * pays for some kilobytes at a time, or for all of a batch or value that is larger, one after the other: what all writers together may write in
 * a second does not grow with their number. A system wakes a thread some time after the moment that it asked for; who overslept has paid for the next kilobytes too. What so many
 * pay at once that each would wait for longer than anybody does is forgiven, and not left to those who write later.
 * Thread-safe.
 */
public final class WriteThrottle {
    /**
     * Bytes a lane writes between two payments, unless fewer take {@link #PAYMENT_NANOS}: of a memtable such a part, within limits. Fewer than one
     * write in a thousand then waits for its turn to pay, where entries are small.
     */
    private static final int PAYMENTS_OF_MEMTABLE = 128;

    public static final long PAYMENT_BYTES_MOST = 64 << 10;
    private static final long PAYMENT_BYTES_LEAST = 16 << 10;
    private static final long PAYMENT_BYTES_MIN = 256;

    /** What a payment takes where bytes are dear or many writers pay, unless a single write is larger than what it is for. */
    private static final long PAYMENT_NANOS = 2_100_000;

    /** What a byte costs, whoever writes it, when merges owe all that they may; beyond that as many times as much as they owe more. */
    private static final double DEBT_NANOS_PER_BYTE = 125;

    /** So many times what they may owe counts: a megabyte a second is written then, which merges of the smallest memtables keep up with. */
    private static final double DEBT_SHARE_MAX = 8;

    /**
     * A byte costs this times p²/(1 - p), where p is what is used of the memory that memtables have beyond what is free of charge: 25 ns when half
     * of that is left, 110 with a quarter and 280 with an eighth, so that it lasts until a memtable is packed.
     */
    private static final double MEMORY_NANOS_PER_BYTE = 50;

    /** Of that memory, what counts as left when nothing is. */
    private static final double MEMORY_LEFT_MIN = 0.003;

    /** Payments of others that one may have to wait for, beside its own, as far as they count. */
    private static final int TURNS_MAX = 16;

    /** The longest single delay. */
    private static final long DELAY_NANOS_MAX = 8_000_000;

    /** A shorter one is left to the next payment. */
    private static final long DELAY_NANOS_MIN = 1_000;

    /** Below this share of what it may owe, the background is on time. */
    private static final double FREE_SHARE = 0.4;

    /** What may have been paid ahead at most: writers that were held up for other reasons have not paid. */
    private static final long AHEAD_NANOS_MAX = 1_000_000;

    private static final int STRIDE = 16;

    private final Clock clock;
    private final long[] unpaidBytes;
    private final long paymentBytesOfMemtable;
    private final LongSupplier limit;
    private volatile long paymentBytes;
    /** What was written at once beyond what a payment is for, and is paid for with the next one. */
    private final AtomicLong beyondBytes = new AtomicLong();
    /** Until when what was written has been paid for. */
    private final AtomicLong paidUntil = new AtomicLong(Long.MIN_VALUE);
    private final LongAdder stallNanos = new LongAdder();
    private final AtomicLong stallNanosMax = new AtomicLong();

    /**
     * @param memtableBytes the size of a full memtable
     * @param limit the most bytes that a lane may write before it pays
     */
    WriteThrottle(Clock clock, int lanes, long memtableBytes, LongSupplier limit) {
        this.clock = clock;
        this.limit = limit;
        paymentBytesOfMemtable = Math.clamp(memtableBytes / PAYMENTS_OF_MEMTABLE, PAYMENT_BYTES_LEAST, PAYMENT_BYTES_MOST);
        paymentBytes = paymentBytesMax();
        unpaidBytes = new long[lanes * STRIDE];
    }

    /** Notes bytes written on a lane, by its owner; returns whether a payment is due after the lane is given up. */
    boolean wrote(int lane, long bytes) {
        long unpaid = unpaidBytes[lane * STRIDE] + bytes;
        long payment = paymentBytes;
        boolean due = unpaid >= payment;
        unpaidBytes[lane * STRIDE] = due ? 0 : unpaid;
        if (due && bytes > payment) {
            beyondBytes.addAndGet(bytes - payment);
        }
        return due;
    }

    /**
     * Delays the calling writer.
     *
     * @param debtShare what merges owe of what they may owe
     * @param memoryShare memory of memtables beyond what they have while packing is on time, of what there may be
     */
    void pay(double debtShare, double memoryShare) {
        double debt = debtShare <= 1 ? pressure(debtShare) * pressure(debtShare) : Math.min(debtShare, DEBT_SHARE_MAX);
        double memory = pressure(memoryShare);
        long beyond = beyondBytes.get() == 0 ? 0 : beyondBytes.getAndSet(0);
        double cost = Math.max(
                DEBT_NANOS_PER_BYTE * debt,
                MEMORY_NANOS_PER_BYTE * memory * memory / (1 - memory + MEMORY_LEFT_MIN));
        if (cost == 0) {
            payNextAfter(paymentBytesMax());
            return;
        }
        long nanos = Math.min((long) ((paymentBytes + beyond) * cost), DELAY_NANOS_MAX);
        long now = clock.nanoTime();
        long delay = Math.min(payFrom(now, nanos) - now, DELAY_NANOS_MAX);
        double turns = Math.clamp((double) delay / (nanos + 1), 1, TURNS_MAX);
        payNextAfter((long) (PAYMENT_NANOS / (cost * turns)));
        if (delay >= DELAY_NANOS_MIN) {
            clock.parkNanos(delay);
            long waited = clock.nanoTime() - now;
            stalled(waited, waited);
        }
    }

    private long paymentBytesMax() {
        return Math.max(Math.min(paymentBytesOfMemtable, limit.getAsLong()), PAYMENT_BYTES_MIN);
    }

    private void payNextAfter(long bytes) {
        long next = Math.clamp(bytes, PAYMENT_BYTES_MIN, paymentBytesMax());
        if (next != paymentBytes) {
            paymentBytes = next;
        }
    }

    private static double pressure(double share) {
        return Math.clamp((share - FREE_SHARE) / (1 - FREE_SHARE), 0, 1);
    }

    /** Takes the next {@code nanos} for the caller, as far as he waits for them; returns when they are over. */
    private long payFrom(long now, long nanos) {
        long was;
        long until;
        do {
            was = paidUntil.get();
            until = Math.max(was, Math.min(Math.max(was, now - AHEAD_NANOS_MAX) + nanos, now + DELAY_NANOS_MAX));
        } while (!paidUntil.compareAndSet(was, until));
        return until;
    }

    /** Notes time that a writer waited just now, and how long it has waited in all for what it writes. */
    void stalled(long nanos, long nanosOfWrite) {
        stallNanos.add(nanos);
        stallNanosMax.accumulateAndGet(nanosOfWrite, Math::max);
    }

    public long stallNanos() {
        return stallNanos.sum();
    }

    public long stallNanosMax() {
        return stallNanosMax.get();
    }
}
