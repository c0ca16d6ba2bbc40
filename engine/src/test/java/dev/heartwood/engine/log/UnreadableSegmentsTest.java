package dev.heartwood.engine.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
        log.rotate(++generation);
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
        for (String file : storage.files.keySet()) {
            if (SegmentName.number(file) >= 0 && chosen.test(file)) {
                storage.unreadableFrom.put(file, from);
            }
        }
        assertTrue(storage.unreadableFrom.size() > 2, storage.unreadableFrom.size() + " files");
    }

    private void letGoOfAll() {
        log.rotate(++generation);
        append(1000);
        log.release(generation - 1);
    }

    private void assertReplayed(List<Operation> expected) {
        CrashStorage killed = storage.kill();
        try (LogTester sink = new LogTester();
                WriteAheadLog recovered = WriteAheadLog.open(killed, STORE_ID, 1, OPTIONS, generation - 1)) {
            recovered.replay(sink);
            assertEquals(expected, sink.replayed);
        }
        killed.discard();
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
        log.returnFreeSpace();
        assertTrue(
                storage.unreadableFrom.size() <= spoilt - storage.unreadableMet.size(),
                storage.unreadableFrom.size() + " are left of " + spoilt + ", met " + storage.unreadableMet);
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
        log.rotate(++generation);
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
}
