package dev.heartwood.cost;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.Cursor;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures one policy on a store that is not settled between loading and reading, as {@code bin/heartwood bench} does settle it: the tree
 * is read as the load left it, once the merges that it wants are done. A program, not a test.
 */
public final class PolicyCosts {
    private static final int THREADS = 2;
    private static final int VALUE_BYTES = 120;
    private static final int KEYS_PER_TURN = 256;
    private static final int SCANNED_MAX = 100;
    private static final long QUIET_NANOS = 1_500_000_000L;

    private final KeyValueStore store;
    private final long records;

    private PolicyCosts(KeyValueStore store, long records) {
        this.store = store;
        this.records = records;
    }

    /** {@code DIRECTORY POLICY MEMORY_MIB RECORDS CHECKPOINT_DISTANCE PHASES}, where phases are load, overwrite, get, scan and settle. */
    public static void main(String[] arguments) throws InterruptedException {
        StoreOptions options = StoreOptions.builder()
                .policy(CompactionPolicyKind.valueOf(arguments[1]))
                .memory(ByteSize.mib(Long.parseLong(arguments[2])))
                .checkpointDistance(Integer.parseInt(arguments[4]))
                .build();
        System.out.println(String.join(" ", arguments));
        try (KeyValueStore store = Heartwood.open(Path.of(arguments[0]), options)) {
            PolicyCosts costs = new PolicyCosts(store, Long.parseLong(arguments[3]));
            for (String phase : arguments[5].split(",")) {
                costs.run(phase);
            }
        }
    }

    private void run(String phase) throws InterruptedException {
        switch (phase) {
            case "load" -> count(phase, (random, turn) -> store.put(key(turn), value(turn)));
            case "overwrite" -> count(phase, (random, turn) -> store.put(anyKey(random), value(turn)));
            case "get" -> forSeconds(phase, 4, (random, turn) -> store.get(anyKey(random)));
            case "scan" -> forSeconds(phase, 2, (random, turn) -> scan(random));
            case "settle" -> store.settle();
            default -> throw new IllegalArgumentException("no phase " + phase);
        }
        awaitMerges();
        printTree(phase);
    }

    private interface Call {
        void make(SplittableRandom random, long turn);
    }

    /** Makes a call for each record once; overwriting makes three. */
    private void count(String phase, Call call) throws InterruptedException {
        AtomicLong next = new AtomicLong();
        long calls = phase.equals("overwrite") ? 3 * records : records;
        inThreads(phase, random -> {
            long from = next.getAndAdd(KEYS_PER_TURN);
            long to = Math.min(calls, from + KEYS_PER_TURN);
            for (long turn = from; turn < to; turn++) {
                call.make(random, turn);
            }
            return Math.max(0, to - from);
        });
    }

    private void forSeconds(String phase, int seconds, Call call) throws InterruptedException {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        inThreads(phase, random -> {
            if (System.nanoTime() - end >= 0) {
                return 0;
            }
            call.make(random, 0);
            return 1;
        });
    }

    private interface Turn {
        /** Makes some calls and returns how many; 0 ends the phase. */
        long make(SplittableRandom random);
    }

    private static void inThreads(String phase, Turn turn) throws InterruptedException {
        AtomicLong calls = new AtomicLong();
        long began = System.nanoTime();
        Thread[] threads = new Thread[THREADS];
        for (int t = 0; t < THREADS; t++) {
            SplittableRandom random = new SplittableRandom(began + t);
            threads[t] = Thread.ofPlatform().start(() -> {
                for (long made = turn.make(random); made > 0; made = turn.make(random)) {
                    calls.addAndGet(made);
                }
            });
        }
        for (Thread thread : threads) {
            thread.join();
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        System.out.printf("%-9s %8.1f k/s%n", phase, calls.get() / seconds / 1000);
    }

    private void scan(SplittableRandom random) {
        int length = 1 + random.nextInt(SCANNED_MAX);
        try (Cursor cursor = store.cursor()) {
            boolean more = cursor.seek(anyKey(random));
            for (int i = 0; more && i < length; i++) {
                cursor.valueSegment();
                more = cursor.next();
            }
        }
    }

    private byte[] anyKey(SplittableRandom random) {
        return key(random.nextLong(records));
    }

    /** Eight bytes, in an order of their own; different for different numbers. */
    private static byte[] key(long number) {
        long mixed = number * 0x9E3779B97F4A7C15L;
        mixed = (mixed ^ mixed >>> 29) * 0xBF58476D1CE4E5B9L;
        return ByteBuffer.allocate(Long.BYTES).putLong(mixed ^ mixed >>> 32).array();
    }

    private static byte[] value(long number) {
        byte[] value = new byte[VALUE_BYTES];
        new SplittableRandom(number).nextBytes(value);
        return value;
    }

    /** Reads until no merge has ended for a while. */
    private void awaitMerges() {
        SplittableRandom random = new SplittableRandom(records);
        long before;
        do {
            before = store.stats().compactions();
            long began = System.nanoTime();
            while (System.nanoTime() - began < QUIET_NANOS) {
                store.get(anyKey(random));
            }
        } while (store.stats().compactions() != before);
        store.checkpoint();
    }

    private void printTree(String phase) {
        StoreStats stats = store.stats();
        System.out.printf(
                "  after %s: %d nodes, %d runs, %.0f MB used, write amplification %.2f%n",
                phase,
                stats.nodes(),
                stats.runs(),
                stats.liveBytes() / 1e6,
                (double) stats.dataBytesWritten() / stats.userBytesWritten());
    }
}
