package dev.heartwood.engine.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.StoreIoException;
import dev.heartwood.engine.log.LogTester.Operation;
import dev.heartwood.engine.os.Memory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * A log over many lives, with deaths of the process in the middle of appends, losses of power, clean ends, recoveries that die
 * themselves, rotations and releases, against the list of what was appended.
 */
class LogCrashPropertyTest {
    private static final long STORE_ID = 0x5EED;
    private static final int RUNS = Integer.getInteger("runs", 20);
    private static final int STEPS = 400;

    private final long seedFirst = Long.getLong("seed", System.nanoTime());

    @Test
    void recoversWhatItMust() {
        int runs = System.getProperty("seed") == null ? RUNS : 1;
        for (int i = 0; i < runs; i++) {
            run(seedFirst + i);
        }
    }

    private static void run(long seed) {
        try (LogTester tester = new LogTester()) {
            new Run(new Random(seed), tester).run();
        } catch (Throwable e) {
            throw new AssertionError("rerun with -Dtest=LogCrashPropertyTest -Dseed=" + seed, e);
        }
    }

    private static final class Run {
        private final Random random;
        private final LogTester tester;
        private final LogOptions options = new LogOptions(16 << 10, 64 << 10);
        private CrashStorage storage = new CrashStorage("first boot");
        private WriteAheadLog log;
        private int laneCount;
        /** For what of the log may be in memory. */
        private long memory = Long.MAX_VALUE;

        /** In the order of LSNs. */
        private List<Operation> operations = new ArrayList<>();

        private int durable;
        private long checkpoint;
        private long generation;
        /** Records hold the low half alone. */
        private long sequence;

        Run(Random random, LogTester tester) {
            this.random = random;
            this.tester = tester;
        }

        void run() {
            laneCount = 1 + random.nextInt(4);
            sequence = random.nextBoolean() ? 1 : (random.nextInt(4) + 1L << 32) - random.nextInt(100);
            log = WriteAheadLog.create(storage, STORE_ID, laneCount, options);
            log.limitMemory(() -> memory);
            rotate();
            for (int step = 0; step < STEPS; step++) {
                step();
            }
            log.close();
            storage.discard();
        }

        private void step() {
            switch (random.nextInt(100)) {
                case 0, 1 -> dieInAppends();
                case 2, 3 -> losePower();
                case 4 -> endCleanly();
                case 5, 6 -> rotate();
                case 7, 8, 9 -> release();
                case 10, 11, 12, 13 -> sync();
                case 14, 15 -> {
                    memory = random.nextInt(200_000);
                    log.prepareSpare();
                }
                case 16, 17 -> appendOutOfOrder();
                default -> append(random.nextInt(laneCount));
            }
        }

        private Operation draw() {
            Operation operation = LogTester.operation(random, generation, sequence, 20_000);
            sequence += Math.max(1, operation.entries());
            return operation;
        }

        private void append(int lane) {
            Operation operation = draw();
            tester.append(log, lane, operation);
            operations.add(operation);
        }

        /** Two lanes draw their sequences in one order and append in the other. */
        private void appendOutOfOrder() {
            if (laneCount > 1) {
                int lane = random.nextInt(laneCount - 1);
                Operation first = draw();
                Operation second = draw();
                tester.append(log, lane + 1, second);
                tester.append(log, lane, first);
                operations.add(second);
                operations.add(first);
            }
        }

        private void sync() {
            log.sync();
            durable = operations.size();
        }

        private void rotate() {
            generation += 1 + random.nextInt(2);
            log.rotate(generation, sequence);
        }

        private void release() {
            checkpoint = Math.max(checkpoint, generation - 1 - random.nextInt(3));
            log.release(checkpoint);
        }

        private void endCleanly() {
            log.close();
            assertEquals(0, storage.openMappings);
            durable = operations.size();
            CrashStorage after = random.nextBoolean() ? storage.kill() : storage.losePower(random);
            reopen(after, operations.size());
        }

        /** Some lanes were in the middle of one append each. */
        private void dieInAppends() {
            List<Operation> complete = new ArrayList<>(operations);
            CrashStorage after = storage.kill();
            for (int lane = 0; lane < laneCount; lane++) {
                if (random.nextInt(3) == 0) {
                    Operation operation = draw();
                    log.reserve(lane, operation.payloadBytes());
                    Map<String, byte[]> before = contents();
                    tester.appendReserved(log, lane, operation);
                    if (!tear(before)) {
                        complete.add(operation);
                    }
                }
            }
            after.discard();
            after = storage.kill();
            operations = complete;
            reopen(after, operations.size());
        }

        private Map<String, byte[]> contents() {
            Map<String, byte[]> contents = new HashMap<>();
            storage.files.forEach((name, file) -> contents.put(name, file.bytes()));
            return contents;
        }

        /** Undoes some of the stores since; returns whether there were any left undone. */
        private boolean tear(Map<String, byte[]> before) {
            boolean torn = false;
            int kept = random.nextInt(101);
            for (CrashStorage.File file : storage.files.values()) {
                byte[] old = before.get(file.name);
                for (int at = 0; at < old.length; at += 4) {
                    int was = (old[at] & 0xff) | (old[at + 1] & 0xff) << 8 | (old[at + 2] & 0xff) << 16 | old[at + 3] << 24;
                    if (was != Memory.getInt(file.address + at) && random.nextInt(100) >= kept) {
                        Memory.putInt(file.address + at, was);
                        torn = true;
                    }
                }
            }
            return torn;
        }

        private void losePower() {
            int kept = reopen(storage.losePower(random), -1);
            assertTrue(kept >= durable, "kept " + kept + " of " + durable + " durable");
            durable = operations.size();
        }

        /** Returns how many operations there are now; all that are expected, when that is not -1. */
        private int reopen(CrashStorage after, int expected) {
            storage.discard();
            storage = after;
            laneCount = 1 + random.nextInt(4);
            int found = expected;
            while (true) {
                tester.replayed.clear();
                log = WriteAheadLog.open(storage, STORE_ID, laneCount, options, checkpoint);
                log.limitMemory(() -> memory);
                boolean isReplayed = false;
                try (LogTester sink = new LogTester()) {
                    sink.throwAfter = random.nextInt(3) == 0 ? random.nextInt(30) : Integer.MAX_VALUE;
                    ReplaySummary summary = log.replay(sink);
                    check(sink.replayed, found);
                    assertTrue(summary.lastGeneration() <= generation);
                    found = operations.size();
                    isReplayed = true;
                    refuseSegments();
                    rotate();
                    if (storage.bytesMax == Long.MAX_VALUE) {
                        storage.beforeMapping = () -> {};
                        return operations.size();
                    }
                    log.close();
                } catch (LogTester.Died e) {
                    log.close();
                } catch (StoreIoException e) {
                    assertTrue(isReplayed, e::toString);
                    log.close();
                }
                CrashStorage again = storage.kill();
                storage.discard();
                storage = again;
            }
        }

        /** Has no segment made now and then, for want of space or of descriptors, until the process ends. */
        private void refuseSegments() {
            switch (random.nextInt(6)) {
                case 0 -> storage.bytesMax = 0;
                case 1 -> storage.refuseMappingsAfter(random.nextInt(3));
                default -> {}
            }
        }

        /** Takes the recovered operations as the new state, after checking that they are what they must be. */
        private void check(List<Operation> replayed, int expected) {
            List<Operation> covered = new ArrayList<>();
            List<Operation> logged = new ArrayList<>();
            for (Operation operation : operations) {
                (operation.generation() <= checkpoint ? covered : logged).add(operation);
            }
            if (expected >= 0) {
                assertEquals(logged.size(), replayed.size());
            }
            assertTrue(replayed.size() <= logged.size());
            operations = covered;
            operations.addAll(logged.subList(0, replayed.size()));
            List<Operation> kept = new ArrayList<>(logged.subList(0, replayed.size()));
            kept.sort(Comparator.comparingLong(Operation::sequence));
            assertEquals(kept, replayed);
        }
    }
}
