package dev.heartwood.soak;

import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.Environment;
import dev.heartwood.KeyValueStore;
import dev.heartwood.VerifyReport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A store that is opened, written by its threads, maintained beside them and closed, again and again with other options, until it is told to
 * stop, and once at least. Each opening must show what had been written.
 */
final class StressStore {
    private static final int NANOS_PER_MILLI = 1_000_000;
    private static final int[] DISTANCES = {1, 3, 20, 200};
    private static final double[] SPACE_TARGETS = {1.05, 1.2, 2, 100};

    private final StressShape shape;
    private final SplittableRandom random;
    private final StressReport report;
    private final StressProgress[] progress;
    private boolean hasLived;

    StressStore(StressShape shape, SplittableRandom random, StressReport report) {
        this.shape = shape;
        this.random = random;
        this.report = report;
        progress = shape.progress();
    }

    void run(Environment environment, BooleanSupplier stopped) throws InterruptedException {
        while (!hasLived || !stopped.getAsBoolean()) {
            // Opening and closing may find no memory or space, after which the log has what it had.
            report.tolerate(() -> live(environment, stopped));
        }
    }

    private void live(Environment environment, BooleanSupplier stopped) throws InterruptedException {
        long started = System.nanoTime();
        KeyValueStore store = environment.open(shape.directory(), shape.options(random));
        report.took("open", started);
        AtomicBoolean ended = new AtomicBoolean();
        List<Thread> threads = new ArrayList<>();
        try {
            // A loss ends the process at once: closing the store may be refused, and would change what is left.
            StressLoad.orFail(shape.toString(), () -> requireWritten(store));
            hasLived = true;
            startWriters(store, ended::get, threads);
            long end = System.nanoTime() + random.nextLong(50, 4_000) * NANOS_PER_MILLI;
            while (System.nanoTime() - end < 0 && !stopped.getAsBoolean()) {
                LockSupport.parkNanos(random.nextLong(60) * NANOS_PER_MILLI);
                report.tolerate(() -> maintain(store));
            }
        } finally {
            boolean beside = random.nextBoolean();
            if (!beside) {
                end(ended, threads);
            }
            long closing = System.nanoTime();
            try {
                store.close();
            } finally {
                report.took("close", closing);
                end(ended, threads);
            }
        }
        for (StressProgress one : progress) {
            one.durable(one.acknowledged());
        }
    }

    private void requireWritten(KeyValueStore store) throws InterruptedException {
        WriteCheck[] check = new WriteCheck[1];
        while (check[0] == null) {
            report.tolerate(() -> check[0] = new WriteCheck(shape.histories(), store));
        }
        long[] found = shape.require(check[0], progress);
        for (int t = 0; t < progress.length; t++) {
            progress[t].found(found[t]);
        }
    }

    private void startWriters(KeyValueStore store, BooleanSupplier ended, List<Thread> threads) {
        boolean virtual = random.nextInt(4) == 0;
        for (int t = 0; t < progress.length; t++) {
            StressWriter writer = new StressWriter(store, shape, t, progress[t], random.split(), report);
            Runnable work = () -> StressLoad.orFail(shape.toString(), () -> writer.run(ended));
            threads.add(virtual ? Thread.startVirtualThread(work) : Thread.ofPlatform().start(work));
        }
    }

    private static void end(AtomicBoolean ended, List<Thread> threads) throws InterruptedException {
        ended.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private void maintain(KeyValueStore store) {
        long started = System.nanoTime();
        switch (random.nextInt(12)) {
            case 0 -> {
                long[] before = acknowledged();
                store.checkpoint();
                makeDurable(before);
                report.took("checkpoint", started);
            }
            case 1, 2, 3 -> store.tune(store.tuning()
                    .withCheckpointDistance(DISTANCES[random.nextInt(DISTANCES.length)])
                    .withSpaceAmplificationTarget(SPACE_TARGETS[random.nextInt(SPACE_TARGETS.length)])
                    .withPolicy(CompactionPolicyKind.values()[random.nextInt(CompactionPolicyKind.values().length)]));
            case 4 -> {
                VerifyReport verified = store.verify();
                StressLoad.orFail(shape.toString(), () -> {
                    if (!verified.isClean()) {
                        throw new AssertionError(verified.toString());
                    }
                });
                report.took("verify", started);
            }
            case 5 -> {
                long[] before = acknowledged();
                store.backup(shape.backup());
                makeDurable(before);
                note(before);
                report.took("backup", started);
            }
            case 6 -> {
                if (random.nextInt(4) == 0) {
                    store.settle();
                    report.took("settle", started);
                }
            }
            case 7 -> store.sync();
            default -> store.stats();
        }
    }

    private void makeDurable(long[] writes) {
        for (int t = 0; t < progress.length; t++) {
            progress[t].durable(writes[t]);
        }
    }

    private long[] acknowledged() {
        return Arrays.stream(progress).mapToLong(StressProgress::acknowledged).toArray();
    }

    /** Notes which writes the backup has at least, in one step. */
    private void note(long[] writes) {
        ByteBuffer bytes = ByteBuffer.allocate(writes.length * Long.BYTES);
        bytes.asLongBuffer().put(writes);
        Path temporary = shape.backupProgress().resolveSibling(shape.backupProgress().getFileName() + ".new");
        try {
            Files.write(temporary, bytes.array());
            Files.move(temporary, shape.backupProgress(), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
