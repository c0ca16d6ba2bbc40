package dev.heartwood.engine.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.log.LogTester.Operation;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Files that are to be used again, of which the device no longer gives what they hold: nobody wants that, but a page is read to be written. */
class UnreadableSegmentsTest {
    private static final long STORE_ID = 5;
    private static final LogOptions OPTIONS = new LogOptions(64 << 10, 64 << 10);

    private final CrashStorage storage = new CrashStorage("boot");
    private final LogTester tester = new LogTester();
    private final WriteAheadLog log = WriteAheadLog.create(storage, STORE_ID, 1, OPTIONS);
    private long generation;
    private long sequence = 1;

    @AfterEach
    void end() {
        log.close();
        assertEquals(0, storage.openMappings);
        tester.close();
        storage.discard();
    }

    /** A generation of several segments; nothing is made ready beforehand. */
    private List<Operation> fill() {
        log.rotate(++generation, 0);
        List<Operation> all = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            all.add(append(1000));
        }
        return all;
    }

    private Operation append(int length) {
        Operation operation = Operation.put(generation, sequence++, "x".repeat(length));
        tester.append(log, 0, operation);
        return operation;
    }

    /** Has all but the newest generation's files wait to be used again, and those whose names are chosen be unreadable from there on. */
    private void spoilWhatWaits(long from, Predicate<String> chosen) {
        letGoOfAll();
        for (CrashStorage.File file : storage.files.values()) {
            if (SegmentName.number(file.name) >= 0 && file.open.isEmpty() && chosen.test(file.name)) {
                storage.unreadableFrom.put(file.name, from);
            }
        }
        assertTrue(storage.unreadableFrom.size() > 2, storage.unreadableFrom.size() + " files");
    }

    private void letGoOfAll() {
        log.rotate(++generation, 0);
        append(1000);
        log.release(generation - 1);
    }

    private void assertReplayed(List<Operation> expected) {
        CrashStorage killed = storage.kill();
        assertEquals(expected, replay(killed));
        killed.discard();
    }

    private List<Operation> replay(CrashStorage killed) {
        try (LogTester sink = new LogTester();
                WriteAheadLog recovered = WriteAheadLog.open(killed, STORE_ID, 1, OPTIONS, generation - 1)) {
            recovered.replay(sink);
            return sink.replayed;
        }
    }

    private Salvaged salvage(CrashStorage killed) {
        List<String> lost = new ArrayList<>();
        try (LogTester sink = new LogTester()) {
            LogSalvage.run(killed, STORE_ID, generation - 1, sink, lost::add);
            return new Salvaged(sequences(sink.replayed), lost);
        }
    }

    private record Salvaged(List<Long> sequences, List<String> lost) {}

    private static List<Long> sequences(List<Operation> operations) {
        return operations.stream().map(Operation::sequence).toList();
    }

    /** The files of the newest generation, in the order of its lane. */
    private List<String> filesInUse() {
        LogScan scan = new LogScan(storage, STORE_ID, generation - 1);
        scan.run();
        return scan.generations().getFirst().lanes().iterator().next().stream()
                .map(LogScan.Segment::file)
                .toList();
    }

    private void assertMetOnceEach() {
        assertEquals(new HashSet<>(storage.unreadableMet).size(), storage.unreadableMet.size());
    }

    @Test
    void aFileWhoseBeginningCannotBeReadIsPassedOver() {
        fill();
        spoilWhatWaits(0, file -> true);
        int spoilt = storage.unreadableFrom.size();
        assertReplayed(fill());
        assertTrue(storage.unreadableMet.size() > 2, "met " + storage.unreadableMet);
        assertMetOnceEach();
        assertEquals(spoilt - storage.unreadableMet.size(), storage.unreadableFrom.size());
    }

    @Test
    void aFileThatCanNeitherBeReadNorDeletedIsDeletedLater() {
        fill();
        spoilWhatWaits(0, file -> true);
        int spoilt = storage.unreadableFrom.size();
        storage.deletionRefusal = new StoreIoException(5, "EIO", "unlink", "a segment", -1);
        fill();
        assertTrue(storage.unreadableMet.size() > 2, "met " + storage.unreadableMet);
        assertMetOnceEach();
        assertEquals(spoilt, storage.unreadableFrom.size());
        assertThrows(StoreIoException.class, log::returnFreeSpace);
        storage.deletionRefusal = null;
        log.returnFreeSpace();
        assertEquals(spoilt - storage.unreadableMet.size(), storage.unreadableFrom.size());
    }

    @Test
    void aSegmentEndsWhereItsFileCannotBeRead() {
        fill();
        log.limitMemory(() -> 0);
        // The odd ones: what follows an unreadable file can be read.
        spoilWhatWaits(32 << 10, file -> SegmentName.number(file) % 2 == 1);
        int slides = storage.slides;
        assertReplayed(fill());
        assertTrue(storage.slides > slides);
        assertTrue(storage.unreadableMet.size() > 1, "met " + storage.unreadableMet);
        assertMetOnceEach();
        log.returnFreeSpace();
        storage.unreadableMet.clear();
        fill();
        assertEquals(List.of(), storage.unreadableMet);
    }

    /** One write looks into two files at most; the next one tries another. */
    @Test
    void aWriteThatMeetsTwoSuchFilesIsRefusedAndTheLogGoesOn() {
        fill();
        log.limitMemory(() -> 0);
        spoilWhatWaits(32 << 10, file -> true);
        log.rotate(++generation, 0);
        List<Operation> all = new ArrayList<>();
        int refused = 0;
        for (int i = 0; i < 30; i++) {
            try {
                all.add(append(40_000));
            } catch (StoreIoException e) {
                sequence--;
                refused++;
            }
        }
        assertTrue(refused > 0 && refused <= storage.unreadableMet.size(), refused + " refused, met " + storage.unreadableMet);
        assertTrue(storage.unreadableMet.size() <= 2 * new HashSet<>(storage.unreadableMet).size(), "met " + storage.unreadableMet);
        assertReplayed(all);
    }

    /** As when the process may map nothing more: that says nothing about the file. */
    @Test
    void aFileThatCannotBeMappedForAnotherReasonIsTriedAgain() {
        fill();
        letGoOfAll();
        storage.beforeMapping = () -> {
            throw new StoreIoException(12, "ENOMEM", "mmap", "a segment", -1);
        };
        assertThrows(StoreIoException.class, this::fill);
        storage.beforeMapping = () -> {};
        List<String> files = storage.list();
        assertReplayed(fill());
        assertEquals(files, storage.list());
    }

    /** Nobody has met it yet: the lane ends before. */
    @Test
    void whatCannotBeReadBehindTheLastRecordIsNotMissed() {
        fill();
        log.limitMemory(() -> 0);
        spoilWhatWaits(48 << 10, file -> true);
        log.rotate(++generation, 0);
        List<Operation> all = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            all.add(append(1000));
        }
        assertEquals(1, filesInUse().size());
        assertTrue(storage.unreadableFrom.containsKey(filesInUse().getFirst()));
        assertEquals(List.of(), storage.unreadableMet);
        assertReplayed(all);
    }

    /** As the device has it after the kill, from each page of the lane's last file on: no record is missed without a word. */
    @Test
    void recordsThatCannotBeReadAreNotTakenForTheEnd() {
        fill();
        letGoOfAll();
        log.rotate(++generation, 0);
        List<Operation> all = new ArrayList<>();
        for (int i = 0; i < 90; i++) {
            all.add(append(1000));
        }
        List<String> inUse = filesInUse();
        int opened = 0;
        int refused = 0;
        for (long from = LogLayout.HEADER_BYTES; from < OPTIONS.segmentBytesMax(); from += 4096) {
            CrashStorage killed = spoiltAfterKill(inUse.getLast(), from);
            try {
                assertEquals(all, replay(killed));
                opened++;
            } catch (ReadFailedException e) {
                assertEquals(0, opened, "unreadable from " + from);
                assertEquals(from, e.offset());
                refused++;
                Salvaged salvaged = salvage(killed);
                assertTrue(salvaged.sequences.size() < all.size());
                assertEquals(sequences(all.subList(0, salvaged.sequences.size())), salvaged.sequences);
                assertTrue(salvaged.lost.getLast().contains("at offset " + from), "lost " + salvaged.lost);
            }
            assertEquals(0, killed.openMappings);
            killed.discard();
        }
        assertTrue(opened > 2 && refused > 2, opened + " opened, " + refused + " refused");
    }

    private CrashStorage spoiltAfterKill(String file, long from) {
        storage.unreadableFrom.put(file, from);
        CrashStorage killed = storage.kill();
        storage.unreadableFrom.remove(file);
        return killed;
    }

    /** They are advice only, and the next life makes their file anew. */
    @Test
    void claimsThatCannotBeReadAreNotNeeded() {
        List<Operation> all = fill();
        CrashStorage killed = spoiltAfterKill(LaneClaims.FILE, 0);
        try (LogTester sink = new LogTester();
                WriteAheadLog recovered = WriteAheadLog.open(killed, STORE_ID, 1, OPTIONS, 0)) {
            recovered.replay(sink);
            assertEquals(all, sink.replayed);
            recovered.rotate(++generation, 0);
            all.add(Operation.put(generation, sequence++, "in a life with claims"));
            tester.append(recovered, 0, all.getLast());
            assertFalse(killed.unreadableFrom.containsKey(LaneClaims.FILE));
            CrashStorage again = killed.kill();
            again.delete(again.files.lowerKey(LaneClaims.FILE));
            assertThrows(CorruptionException.class, () -> WriteAheadLog.open(again, STORE_ID, 1, OPTIONS, 0));
            again.discard();
        }
        killed.discard();
    }

    /** As on a device that takes no deletion either: the log goes on without claims. */
    @Test
    void claimsThatCanNeitherBeReadNorDeletedAreNotNeeded() {
        List<Operation> all = fill();
        CrashStorage killed = spoiltAfterKill(LaneClaims.FILE, 0);
        killed.deletionRefusal = new StoreIoException(5, "EIO", "unlink", LaneClaims.FILE, -1);
        try (LogTester sink = new LogTester();
                WriteAheadLog recovered = WriteAheadLog.open(killed, STORE_ID, 1, OPTIONS, 0)) {
            recovered.replay(sink);
            recovered.rotate(++generation, 0);
            all.add(Operation.put(generation, sequence++, "in a life without claims"));
            tester.append(recovered, 0, all.getLast());
            recovered.sync();
            CrashStorage again = killed.kill();
            try (LogTester after = new LogTester();
                    WriteAheadLog reopened = WriteAheadLog.open(again, STORE_ID, 1, OPTIONS, 0)) {
                reopened.replay(after);
                assertEquals(all, after.replayed);
            }
            again.discard();
        }
        killed.discard();
    }

    /** Without claims it cannot be told which segments were the last, nor then what the tree does not hold. */
    @Test
    void withoutCheckpointAndClaimsNothingIsSalvaged() {
        fill();
        CrashStorage killed = spoiltAfterKill(LaneClaims.FILE, 0);
        List<String> lost = new ArrayList<>();
        try (LogTester sink = new LogTester()) {
            LogSalvage.runWithoutCheckpoint(killed, STORE_ID, sink, lost::add);
            assertEquals(List.of(), sink.replayed);
        }
        assertEquals(1, lost.size());
        killed.discard();
    }

    /** The file that follows says how far the records go. */
    @Test
    void recordsBeforeOthersThatCannotBeReadAreMissed() {
        log.limitMemory(() -> 0);
        List<Operation> all = fill();
        List<String> inUse = filesInUse();
        assertTrue(inUse.size() > 2, "in use " + inUse);
        CrashStorage killed = spoiltAfterKill(inUse.get(1), 32 << 10);
        assertThrows(ReadFailedException.class, () -> replay(killed));
        Salvaged salvaged = salvage(killed);
        assertEquals(all.getFirst().sequence(), salvaged.sequences.getFirst());
        assertEquals(all.getLast().sequence(), salvaged.sequences.getLast());
        int missed = all.size() - salvaged.sequences.size();
        assertTrue(missed > 20 && missed < 40, missed + " missed");
        assertTrue(salvaged.lost.getLast().contains("at offset 32768"), "lost " + salvaged.lost);
        killed.discard();
    }
}
