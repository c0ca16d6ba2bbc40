package dev.heartwood.engine.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.NoSpaceException;
import dev.heartwood.PreviousFailureException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.log.LogTester.Operation;
import dev.heartwood.engine.os.Memory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Segments that are full, or that an earlier life left, until a sync covers them or a checkpoint lets go of them. */
class UnsyncedSegmentsTest {
    private static final long STORE_ID = 5;
    private static final LogOptions OPTIONS = new LogOptions(16 << 10, 64 << 10);

    private final CrashStorage storage = new CrashStorage("boot");
    private final LogTester tester = new LogTester();
    private final WriteAheadLog log = WriteAheadLog.create(storage, STORE_ID, 2, OPTIONS);
    private long sequence = 1;

    @AfterEach
    void end() {
        try {
            log.close();
        } catch (StoreIoException e) {
            assertTrue(log.isFailed());
        }
        assertEquals(0, storage.openMappings);
        tester.close();
        storage.discard();
    }

    private Operation put(int length) {
        return Operation.put(1, sequence++, "x".repeat(length));
    }

    private static List<Operation> replay(CrashStorage from) {
        try (LogTester sink = new LogTester();
                WriteAheadLog log = WriteAheadLog.open(from, STORE_ID, 2, OPTIONS, 0)) {
            log.replay(sink);
            return sink.replayed;
        }
    }

    /** Fills several segments, most of which are finished then and none synced; all of it is appended to {@code all}. */
    private void fillSegments(WriteAheadLog filled, List<Operation> all) {
        for (int i = 0; i < 300; i++) {
            Operation operation = put(1000);
            tester.append(filled, i & 1, operation);
            all.add(operation);
            filled.prepareSpare();
        }
    }

    private static void checkLossOfPower(CrashStorage machine, List<Operation> all, int acknowledged) {
        for (int seed = 0; seed < 20; seed++) {
            CrashStorage left = machine.losePower(new Random(seed));
            List<Operation> replayed = replay(left);
            assertEquals(all.subList(0, Math.max(acknowledged, replayed.size())), replayed);
            left.discard();
        }
    }

    /** As of a file system that needs a block of its own for that, and has none, or whose device fails: they are deleted later. */
    @Test
    void filesThatCannotBeDeletedAreNotForgotten() {
        log.rotate(1, 0);
        fillSegments(log, new ArrayList<>());
        log.rotate(2, 0);
        log.release(1);
        int kept = storage.files.size();
        storage.deletionRefusal = new NoSpaceException("no room to delete a file");
        log.returnFreeSpace();
        log.rotate(3, 0);
        storage.deletionRefusal = new StoreIoException(5, "EIO", "unlink", "a segment", -1);
        assertThrows(StoreIoException.class, log::returnFreeSpace);
        storage.deletionRefusal = null;
        assertEquals(kept, storage.files.size());
        log.returnFreeSpace();
        assertTrue(storage.files.size() < kept - 2, storage.files.size() + " files of " + kept);
    }

    /** As when the process has no descriptor left: full segments were opened again to be synced. */
    @Test
    void aSyncOpensNothing() {
        log.rotate(1, 0);
        List<Operation> all = new ArrayList<>();
        fillSegments(log, all);
        storage.openingRefusal = new StoreIoException(24, "EMFILE", "open", "a segment", -1);
        log.sync();
        storage.openingRefusal = null;
        checkLossOfPower(storage, all, all.size());
    }

    /** Full segments were closed: that they could not be written back was not known to the sync that opened them again. */
    @Test
    void aSyncIsToldThatFullSegmentsCouldNotBeWrittenBack() {
        log.rotate(1, 0);
        List<Operation> all = new ArrayList<>();
        fillSegments(log, all);
        log.rotate(2, 0);
        log.prepareSpare();
        storage.failWriteBack();
        all.add(Operation.put(2, sequence++, "in a segment that is new"));
        tester.append(log, 0, all.getLast());
        assertThrows(StoreIoException.class, log::sync);
        assertTrue(log.isFailed());
        checkLossOfPower(storage, all, 0);
    }

    /** What recovery has read may not be on the device, and is called durable by the next sync. */
    @Test
    void aSyncIsToldThatRecoveredSegmentsCouldNotBeWrittenBack() {
        log.rotate(1, 0);
        List<Operation> all = new ArrayList<>();
        fillSegments(log, all);
        CrashStorage killed = storage.kill();
        try (LogTester sink = new LogTester();
                WriteAheadLog recovered = WriteAheadLog.open(killed, STORE_ID, 2, OPTIONS, 0)) {
            killed.failWriteBack();
            recovered.replay(sink);
            assertEquals(all, sink.replayed);
            recovered.rotate(2, 0);
            all.add(Operation.put(2, sequence++, "in a segment that is new"));
            tester.append(recovered, 0, all.getLast());
            assertThrows(StoreIoException.class, recovered::sync);
            assertTrue(recovered.isFailed());
        }
        checkLossOfPower(killed, all, 0);
        assertEquals(0, killed.openMappings);
        killed.discard();
    }

    /** The system takes for written what a sync has failed to write: the next life called it durable as it was. */
    @Test
    void whatAFailedSyncDidNotWriteIsWrittenBeforeItIsCalledDurable() {
        log.rotate(1, 0);
        List<Operation> all = new ArrayList<>();
        fillSegments(log, all);
        storage.failWriteBack();
        assertThrows(StoreIoException.class, log::sync);
        CrashStorage killed = storage.kill();
        try (LogTester sink = new LogTester();
                WriteAheadLog recovered = WriteAheadLog.open(killed, STORE_ID, 2, OPTIONS, 0)) {
            recovered.replay(sink);
            assertEquals(all, sink.replayed);
            recovered.rotate(2, 0);
            all.add(Operation.put(2, sequence++, "in a segment that is new"));
            tester.append(recovered, 0, all.getLast());
            recovered.sync();
            checkLossOfPower(killed, all, all.size());
        }
        killed.discard();
    }

    @Test
    void whatIsDurableIsNotKeptOpen() {
        log.rotate(1, 0);
        List<Operation> all = new ArrayList<>();
        fillSegments(log, all);
        assertTrue(storage.openMappings > 6, storage.openMappings + " open");
        log.sync();
        // A segment of each lane, one or two that are ready, and the claims.
        assertTrue(storage.openMappings <= 5, storage.openMappings + " open");
        CrashStorage killed = storage.kill();
        try (LogTester sink = new LogTester();
                WriteAheadLog recovered = WriteAheadLog.open(killed, STORE_ID, 2, OPTIONS, 0)) {
            recovered.replay(sink);
            recovered.rotate(2, 0);
            recovered.sync();
            assertEquals(1, killed.openMappings);
        }
        killed.discard();
    }

    /** What is there after a loss of power is on the device. */
    @Test
    void whatSurvivedALossOfPowerIsNotKeptOpen() {
        log.rotate(1, 0);
        List<Operation> all = new ArrayList<>();
        fillSegments(log, all);
        log.sync();
        CrashStorage left = storage.losePower(new Random(1));
        try (LogTester sink = new LogTester();
                WriteAheadLog recovered = WriteAheadLog.open(left, STORE_ID, 2, OPTIONS, 0)) {
            assertTrue(left.openMappings > 6, left.openMappings + " open");
            recovered.replay(sink);
            assertEquals(all, sink.replayed);
            assertEquals(0, left.openMappings);
        }
        left.discard();
    }

    /** A load that never syncs must not take all the mappings that a process may have. */
    @Test
    void ofManyFullSegmentsTheOldestAreSyncedInTheBackground() {
        log.limitOpen(() -> 2);
        log.rotate(1, 0);
        List<Operation> all = new ArrayList<>();
        fillSegments(log, all);
        int segments = storage.files.size() - 1;
        assertTrue(segments > 6 && storage.openMappings <= 7, storage.openMappings + " open of " + segments);
        assertTrue(storage.syncs > 0);
        checkLossOfPower(storage, all, 0);
        log.sync();
        checkLossOfPower(storage, all, all.size());
    }

    @Test
    void whenTheOldestCannotBeSyncedNothingMoreIsLogged() {
        log.limitOpen(() -> 2);
        log.rotate(1, 0);
        List<Operation> all = new ArrayList<>();
        storage.syncsUntilFailure = 0;
        StoreIoException failure = assertThrows(StoreIoException.class, () -> fillSegments(log, all));
        assertTrue(log.isFailure(failure));
        assertThrows(PreviousFailureException.class, () -> tester.append(log, 0, put(10)));
        assertThrows(PreviousFailureException.class, log::sync);
    }

    /** A thread that syncs a log, from when somebody else is about to sync the same, and what it met. */
    private static final class Rival {
        private final AtomicReference<Throwable> met = new AtomicReference<>();
        private final Thread thread;

        Rival(WriteAheadLog synced) {
            thread = new Thread(() -> {
                try {
                    synced.sync();
                } catch (Throwable e) {
                    met.set(e);
                }
            });
        }

        void startAndAwait(Thread.State waiting) {
            thread.start();
            while (thread.getState() != waiting) {
                Thread.onSpinWait();
            }
        }

        Throwable met() throws InterruptedException {
            thread.join();
            return met.get();
        }
    }

    /** The system tells it once that a segment could not be written: who waited to sync it too was told that all was well. */
    @Test
    void whoWaitsForASyncThatFailsAcknowledgesNothing() throws InterruptedException {
        log.rotate(1, 0);
        List<Operation> all = new ArrayList<>();
        fillSegments(log, all);
        log.limitOpen(() -> 0);
        storage.failWriteBack("log-000001.seg"::equals);
        Rival leader = new Rival(log);
        storage.beforeSync = name -> {
            storage.beforeSync = again -> {};
            leader.startAndAwait(Thread.State.BLOCKED);
        };
        assertThrows(StoreIoException.class, log::prepareSpare);
        assertInstanceOf(PreviousFailureException.class, leader.met());
        checkLossOfPower(storage, all, 0);
    }

    /** As of a segment: whoever finds nothing to do must not take for done what has failed. */
    @Test
    void whoWaitsForASyncOfTheDirectoryThatFailsAcknowledgesNothing() throws InterruptedException {
        CrashStorage cut = cutAtTheFirstRecord();
        try (LogTester sink = new LogTester();
                WriteAheadLog recovered = WriteAheadLog.open(cut, STORE_ID, 2, OPTIONS, 0)) {
            recovered.replay(sink);
            recovered.rotate(3, 0);
            tester.append(recovered, 0, Operation.put(3, sequence++, "in a segment that is new"));
            recovered.rotate(4, 0);
            Rival leader = new Rival(recovered);
            cut.beforeDirectorySync = () -> {
                cut.beforeDirectorySync = () -> {};
                leader.startAndAwait(Thread.State.WAITING);
                throw new StoreIoException(5, "EIO", "fsync", "the directory", -1);
            };
            assertThrows(StoreIoException.class, () -> recovered.release(2));
            assertInstanceOf(PreviousFailureException.class, leader.met());
        }
        cut.discard();
    }

    /** What is found after a loss of power of which all reached the device but for the first record. */
    private CrashStorage cutAtTheFirstRecord() {
        log.rotate(1, 0);
        tester.append(log, 0, put(10));
        tester.append(log, 1, put(10));
        log.rotate(2, 0);
        tester.append(log, 0, Operation.put(2, sequence++, "x".repeat(10)));
        for (CrashStorage.File file : storage.files.values()) {
            System.arraycopy(file.bytes(), 0, file.durable, 0, file.durable.length);
            file.isEntryDurable = true;
        }
        CrashStorage cut = storage.losePower(new Random(1));
        Memory.putInt(cut.files.get("log-000001.seg").address + LogLayout.HEADER_BYTES, 0);
        return cut;
    }

    /** What says that the log ended there has to be durable first. */
    @Test
    void nothingIsReleasedWhenTheFirstSegmentOfALifeCannotBeSynced() {
        CrashStorage cut = cutAtTheFirstRecord();
        try (LogTester sink = new LogTester();
                WriteAheadLog recovered = WriteAheadLog.open(cut, STORE_ID, 2, OPTIONS, 0)) {
            assertEquals(ReplaySummary.Ending.FIRST_GAP, recovered.replay(sink).ending());
            recovered.rotate(3, 0);
            recovered.rotate(4, 0);
            recovered.prepareSpare();
            recovered.returnFreeSpace();
            long segments = cut.files.size();
            cut.syncsUntilFailure = 0;
            assertThrows(StoreIoException.class, () -> recovered.release(2));
            assertTrue(recovered.isFailed());
            assertThrows(PreviousFailureException.class, () -> recovered.reserve(0, 1));
            recovered.returnFreeSpace();
            assertEquals(segments, cut.files.size());
        }
        cut.discard();
    }
}
