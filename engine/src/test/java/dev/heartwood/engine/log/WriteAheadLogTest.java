package dev.heartwood.engine.log;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ClosedException;
import dev.heartwood.CorruptionException;
import dev.heartwood.FormatTooNewException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.PreviousFailureException;
import dev.heartwood.TooLargeException;
import dev.heartwood.engine.log.LogTester.Operation;
import dev.heartwood.engine.os.Crc32c;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WriteAheadLogTest {
    private static final long STORE_ID = 0x1122334455667788L;
    private static final LogOptions OPTIONS = new LogOptions(16 << 10, 64 << 10);
    private static final long SEGMENT = 64 << 10;

    private final CrashStorage storage = new CrashStorage("boot");
    private final LogTester tester = new LogTester();
    private final WriteAheadLog log = WriteAheadLog.create(storage, STORE_ID, 2, OPTIONS);
    private long sequence = 1;

    @AfterEach
    void end() {
        log.close();
        assertEquals(0, storage.openMappings);
        tester.close();
        storage.discard();
    }

    private Operation put(int length) {
        return Operation.put(1, sequence++, "x".repeat(length));
    }

    private static List<Operation> replay(CrashStorage from, long checkpoint, ReplaySummary[] summary) {
        try (LogTester sink = new LogTester();
                WriteAheadLog log = WriteAheadLog.open(from, STORE_ID, 2, OPTIONS, checkpoint)) {
            summary[0] = log.replay(sink);
            return sink.replayed;
        }
    }

    /**
     * As for want of Java heap: another segment in the place of one that has begun would contradict it at the next start. Its file is closed with
     * the log, whether its lane has it by then or not.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void aSegmentThatBeganHalfWayEndsTheLog(int steps) {
        log.rotate(1, 0);
        storage.addressesBeforeFailure = steps;
        List<Operation> written = new ArrayList<>(List.of(put(100)));
        tester.append(log, 0, written.getFirst());
        storage.addressFailure = new OutOfMemoryError("no heap");
        assertThrows(OutOfMemoryError.class, () -> {
            while (true) {
                Operation operation = put(1000);
                tester.append(log, 0, operation);
                written.add(operation);
            }
        });
        sequence--;
        assertTrue(log.isFailed());
        assertThrows(PreviousFailureException.class, () -> tester.append(log, 0, put(10)));
        CrashStorage after = storage.kill();
        assertEquals(written, replay(after, 0, new ReplaySummary[1]));
        after.discard();
    }

    /** Recovery would take such a record for none, and what follows it in its lane would be lost without a word. */
    @ParameterizedTest
    @ValueSource(longs = {-1, 1L << 31})
    void aSequenceThatTheGenerationCannotHaveEndsTheLog(long beyond) {
        log.rotate(1, 1000);
        tester.append(log, 0, Operation.put(1, 1000, "first"));
        tester.append(log, 1, Operation.put(1, 1000 + (1L << 31) - 1, "last"));
        assertThrows(IllegalStateException.class, () -> tester.append(log, 0, Operation.put(1, 1000 + beyond, "none")));
        assertTrue(log.isFailed());
        assertEquals(2, replay(storage.kill(), 0, new ReplaySummary[1]).size());
    }

    /** The pool has given up what it had by then. */
    @Test
    void aSegmentThatIsMadeWhileTheLogClosesIsClosedToo() {
        log.rotate(1, 0);
        storage.beforeMapping = log::close;
        assertThrows(ClosedException.class, () -> log.reserve(0, 10));
        assertEquals(0, storage.openMappings);
    }

    @Test
    void theBytesAreTheFormat() {
        log.rotate(7, 0x99);
        tester.append(log, 1, Operation.put(7, 0x99, "abcdef"));
        tester.append(log, 1, new Operation(7, 0x9a, 1, true, List.of("ghi")));
        CrashStorage.File file = storage.files.get("log-000001.seg");
        long salt = Memory.getLong(file.address + LogLayout.HEADER_SALT);
        int seed = (int) (salt ^ salt >>> 32);
        String first = "01000000" + "99000000" + "a1020400" + "01000000" + "616263646566";
        String second = "02000000" + "9a000000" + "90000a00" + "01000000" + "01" + "01" + "02" + "676869";
        checkRecord(file.address + 8192, first, seed);
        checkRecord(file.address + 8192 + 28, second, seed);
        String header = "07" + "01" + "0000" + "8877665544332211" + "0000000000000000" + "0700000000000000"
                + "03000000" + "01000000" + "02000000" + "04000000" + "0000000000000000" + "0100000000000000"
                + "0040000000000000" + hex(file.address + LogLayout.HEADER_SALT, 8) + "0100000000000000"
                + "0100000000000000" + "0100000000000000" + "0000000000000000" + "0000000000000000"
                + "0000000000000000" + "0000000000000000" + "9900000000000000" + "626f6f74" + "00000000";
        assertEquals(header, hex(file.address + 4, 148));
        assertEquals(0, Memory.getLong(file.address + 8192 + 28 + 28));
    }

    private static void checkRecord(long address, String expected, int seed) {
        int length = 4 + expected.length() / 2;
        assertEquals(expected, hex(address + 4, length - 4));
        assertEquals(Memory.getInt(address), Crc32c.of(address + 4, length - 4) ^ seed);
    }

    private static String hex(long address, int length) {
        return HexFormat.of().formatHex(Memory.bytes(address, length));
    }

    @Test
    void segmentsGrowUpToTheirLimitAndALongRecordHasItsOwn() {
        log.rotate(1, 0);
        for (int i = 0; i < 300; i++) {
            tester.append(log, 0, put(1000));
        }
        List<Long> sizes = new ArrayList<>();
        storage.files.values().forEach(file -> sizes.add((long) file.durable.length >> 10));
        assertEquals(List.of(16L, 64L, 64L, 64L), sizes.subList(0, 4));
        List<Operation> all = new ArrayList<>();
        Operation large = put(300_000);
        tester.append(log, 0, large);
        Operation after = put(10);
        tester.append(log, 0, after);
        ReplaySummary[] summary = new ReplaySummary[1];
        all.addAll(replay(storage.kill(), 0, summary));
        assertEquals(List.of(large, after), all.subList(300, 302));
        assertEquals(ReplaySummary.Ending.COMPLETE, summary[0].ending());
        assertEquals(302, summary[0].lastSequence());
        // Keys of more than 255 bytes have a length of their own, and what is durable is said by the first record that begins on a page.
        long said = storage.files.values().stream().mapToLong(WriteAheadLogTest::pagesWithRecords).sum();
        assertEquals(301 * 20L + 300 * 1000 + 300_000 + 28 + 4 * said, log.bytesAppended());
    }

    /** On how many pages of a segment a record begins. */
    private static long pagesWithRecords(CrashStorage.File file) {
        if (file.name.equals(LaneClaims.FILE) || SegmentHeader.isUnheaded(file.address)) {
            return 0;
        }
        LogRecord record = LogRecord.of(SegmentHeader.read(file.address, 0, STORE_ID, Path.of("simulated", file.name)));
        Set<Long> pages = new HashSet<>();
        long at = LogLayout.HEADER_BYTES;
        while (record.isPlausible(file.address + at, file.durable.length - at) && record.isIntact(file.address + at)) {
            pages.add(at / 4096);
            at += record.step(file.address + at);
        }
        return pages.size();
    }

    /** The storage refuses a store outside of what is in memory. */
    @Test
    void aSegmentNeedNotBeInMemoryAsAWhole() {
        log.limitMemory(() -> 0);
        log.rotate(1, 0);
        List<Operation> all = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            Operation operation = put(i % 100 == 99 ? 25_000 : 500);
            tester.append(log, 0, operation);
            all.add(operation);
            if (i % 50 == 0) {
                log.prepareSpare();
                log.sync();
            }
        }
        assertEquals(all, replay(storage.kill(), 0, new ReplaySummary[1]));
        assertTrue(storage.slides > 10, storage.slides + " slides");
        assertTrue(storage.windowBytesMax <= 48 << 10, storage.windowBytesMax + " bytes of a segment in memory");
    }

    /** As 256 stores that share a budget have it: each may have little of its log in memory, and files are not made for that. */
    @Test
    void littleMemoryMakesNoSmallerSegments() {
        log.limitMemory(() -> 0);
        log.rotate(1, 0);
        for (int i = 0; i < 2_000; i++) {
            tester.append(log, 0, put(100));
            log.prepareSpare();
        }
        assertTrue(storage.files.size() <= 12, storage.files.size() + " files for 272 KB in segments of up to 64 KiB");
    }

    @Test
    void aSpareIsMadeWhenHalfOfASegmentIsUsed() {
        log.rotate(1, 0);
        log.prepareSpare();
        tester.append(log, 0, put(100));
        log.prepareSpare();
        assertEquals(16 << 10, log.bytesOnDevice());
        tester.append(log, 0, put(4000));
        log.prepareSpare();
        assertEquals(16 + 64 << 10, log.bytesOnDevice());
    }

    @Test
    void filesAreUsedAgainAsManyAsACheckpointLetsGoOf() {
        withSegmentsOfOneSize((even, files) -> {
            writeGenerations(even, 1, 8);
            Set<String> names = Set.copyOf(files.get());
            // Each generation takes one: the one that is written, the one to follow it, and those of the four before.
            assertEquals(6, names.size());
            writeGenerations(even, 9, 20);
            assertEquals(names, files.get());
            assertEquals(6 * SEGMENT, even.bytesOnDevice());
        });
    }

    @Test
    void fewerFilesAreKeptWhenCheckpointsLetGoOfFewer() {
        withSegmentsOfOneSize((even, files) -> {
            writeGenerations(even, 1, 8);
            even.rotate(9, 0);
            even.release(8);
            tester.append(even, 0, Operation.put(9, sequence++, "x"));
            even.rotate(10, 0);
            // The one of generation 9, and as much as was let go of last.
            assertEquals(2, files.get().size());
        });
    }

    @Test
    void spaceOfFilesToBeUsedAgainIsReturnedButForOne() {
        withSegmentsOfOneSize((even, files) -> {
            writeGenerations(even, 1, 8);
            even.returnFreeSpace();
            // The one that is written, the one to follow it, and one.
            assertEquals(3, files.get().size());
            assertEquals(3 * SEGMENT, even.bytesOnDevice());
        });
    }

    private void withSegmentsOfOneSize(BiConsumer<WriteAheadLog, Supplier<Set<String>>> test) {
        CrashStorage other = new CrashStorage("boot");
        try (WriteAheadLog even = WriteAheadLog.create(other, STORE_ID, 1, new LogOptions(SEGMENT, SEGMENT))) {
            test.accept(even, () -> other.files.keySet().stream()
                    .filter(name -> name.endsWith(".seg"))
                    .collect(Collectors.toSet()));
        }
        other.discard();
    }

    /** Writes generations of one segment each; every fourth lets go of all before. */
    private void writeGenerations(WriteAheadLog even, int first, int last) {
        for (int generation = first; generation <= last; generation++) {
            even.rotate(generation, 0);
            for (int i = 0; i < 300; i++) {
                tester.append(even, 0, Operation.put(generation, sequence++, "x".repeat(100)));
            }
            even.prepareSpare();
            if (generation % 4 == 0) {
                even.release(generation - 1);
            }
        }
    }

    /** With a background that does at once what it is asked for, also where generations end soon after a segment has begun. */
    @Test
    void onceItIsKnownWhatAGenerationTakesNoAppendMakesASegment() {
        CrashStorage other = new CrashStorage("boot");
        try (WriteAheadLog fitted = WriteAheadLog.create(other, STORE_ID, 1, new LogOptions(16 << 10, 4 << 20))) {
            AtomicBoolean wanted = new AtomicBoolean();
            fitted.whenSpareIsWanted(() -> wanted.set(true));
            int[] madeByAppends = new int[20];
            for (int generation = 1; generation < madeByAppends.length; generation++) {
                fitted.rotate(generation, 0);
                for (int i = 0; i < 300 + 20 * (generation % 5); i++) {
                    int before = other.mappingsMade;
                    tester.append(fitted, 0, Operation.put(generation, sequence++, "x".repeat(100)));
                    madeByAppends[generation] += other.mappingsMade - before;
                    if (wanted.getAndSet(false)) {
                        fitted.prepareSpare();
                    }
                }
                fitted.release(generation - 1);
            }
            int[] steady = Arrays.copyOfRange(madeByAppends, 3, madeByAppends.length);
            assertArrayEquals(new int[steady.length], steady, Arrays.toString(madeByAppends));
            assertTrue(other.mappingsMade < 2 * madeByAppends.length, other.mappingsMade + " segments");
            assertTrue(fitted.bytesOnDevice() < 5 * (64 << 10), fitted.bytesOnDevice() + " bytes for 55 KB a generation");
        }
        other.discard();
    }

    @Test
    void aLaneThatIsNoLongerUsedWantsNothing() {
        CrashStorage other = new CrashStorage("boot");
        try (WriteAheadLog lanes = WriteAheadLog.create(other, STORE_ID, 2, new LogOptions(16 << 10, 4 << 20))) {
            for (int generation = 1; generation <= 4; generation++) {
                lanes.rotate(generation, 0);
                for (int i = 0; i < 3_000; i++) {
                    tester.append(lanes, i & 1, Operation.put(generation, sequence++, "x".repeat(500)));
                }
                lanes.prepareSpare();
                lanes.release(generation - 1);
            }
            for (int generation = 5; generation <= 20; generation++) {
                lanes.rotate(generation, 0);
                for (int i = 0; i < 50; i++) {
                    tester.append(lanes, 0, Operation.put(generation, sequence++, "x".repeat(500)));
                }
                lanes.release(generation - 1);
                lanes.prepareSpare();
            }
            // Those that are live, ready and kept: of what the little takes.
            assertTrue(lanes.bytesOnDevice() < 512 << 10, lanes.bytesOnDevice() + " bytes for 30 KB a generation");
        }
        other.discard();
    }

    /** Until a generation has ended nothing is known of what the next takes. */
    @Test
    void filesThatAnEarlierLifeLeftAreUsedAgainWhateverTheirSize() {
        CrashStorage other = new CrashStorage("boot");
        LogOptions options = new LogOptions(16 << 10, 4 << 20);
        try (WriteAheadLog earlier = WriteAheadLog.create(other, STORE_ID, 1, options)) {
            writeGenerations(earlier, 1, 8);
            earlier.rotate(9, 0);
            earlier.release(8);
        }
        Set<String> left = Set.copyOf(other.files.keySet());
        try (LogTester sink = new LogTester();
                WriteAheadLog later = WriteAheadLog.open(other, STORE_ID, 1, options, 8)) {
            later.replay(sink);
            later.rotate(10, 0);
            assertTrue(other.files.keySet().containsAll(left), left + " became " + other.files.keySet());
            assertTrue(left.stream().filter(name -> name.endsWith(".seg")).count() > 1, left.toString());
        }
        other.discard();
    }

    /** What follows a segment of one long record is sized after it, and halved when little of it is used. */
    @Test
    void segmentsOfOddSizesHaveWholePagesWhenTheyBecomeSmaller() {
        LogOptions options = new LogOptions(16 << 10, 1 << 20);
        CrashStorage other = new CrashStorage("boot");
        try (WriteAheadLog larger = WriteAheadLog.create(other, STORE_ID, 2, options)) {
            larger.rotate(1, 0);
            tester.append(larger, 0, put(27_000));
            tester.append(larger, 0, put(27_000));
            for (int generation = 2; generation < 8; generation++) {
                larger.rotate(generation, 0);
                tester.append(larger, 0, Operation.put(generation, sequence++, "little"));
            }
            List<Long> sizes = new ArrayList<>();
            other.files.values().forEach(file -> sizes.add((long) file.durable.length >> 10));
            assertTrue(sizes.containsAll(List.of(36L, 144L, 72L, 36L, 20L)), sizes.toString());
        }
        other.discard();
    }

    /** Nothing was appended between a recovery that accepted a gap and a sync, so nothing said that the gap had been accepted. */
    @Test
    void whatASyncAfterRecoveryCallsDurableSurvivesALossOfPower() {
        log.rotate(1, 0);
        tester.append(log, 0, put(10));
        Operation whole = put(10);
        tester.append(log, 1, whole);
        CrashStorage killed = storage.kill();
        Memory.putInt(killed.files.get("log-000001.seg").address + LogLayout.HEADER_BYTES, 0);
        try (LogTester sink = new LogTester();
                WriteAheadLog recovered = WriteAheadLog.open(killed, STORE_ID, 2, OPTIONS, 0)) {
            assertEquals(1, recovered.replay(sink).lostRecords());
            assertEquals(List.of(whole), sink.replayed);
            recovered.rotate(2, 0);
            recovered.sync();
            CrashStorage left = killed.losePower(new Random(1));
            ReplaySummary[] summary = new ReplaySummary[1];
            assertEquals(List.of(whole), replay(left, 0, summary));
            left.discard();
        }
        killed.discard();
    }

    /** After a loss of power that cut the log there was no space to say so, and a checkpoint that held everything gave none back. */
    @Test
    void aCheckpointOfAllThatWasCutGivesItsSpaceBack() {
        int owed = 0;
        for (int seed = 0; seed < 50; seed++) {
            log.rotate(seed + 1, 0);
            for (int i = 0; i < 8; i++) {
                tester.append(log, i % 2, Operation.put(seed + 1, sequence++, "y".repeat(1000)));
            }
            CrashStorage left = storage.losePower(new Random(seed));
            try (LogTester sink = new LogTester();
                    WriteAheadLog recovered = WriteAheadLog.open(left, STORE_ID, 2, OPTIONS, 0)) {
                left.bytesMax = 0;
                recovered.replay(sink);
                recovered.rotate(100, 0);
                if (isRefusedForSpace(recovered::sync)) {
                    owed++;
                    recovered.release(lastGeneration(left) - 1);
                    recovered.rotate(101, 0);
                    assertTrue(isRefusedForSpace(recovered::sync), "what was cut off could come back");
                    recovered.release(100);
                    recovered.rotate(102, 0);
                    recovered.sync();
                }
            }
            left.discard();
        }
        assertTrue(owed > 5, "losses of power that had to be stated: " + owed);
    }

    private static long lastGeneration(CrashStorage storage) {
        return storage.files.values().stream()
                .filter(file -> !file.name.equals(LaneClaims.FILE) && SegmentHeader.isIntact(file.address))
                .mapToLong(file -> Memory.getLong(file.address + PageLayout.GENERATION))
                .max()
                .orElseThrow();
    }

    private static boolean isRefusedForSpace(Runnable call) {
        try {
            call.run();
            return false;
        } catch (NoSpaceException e) {
            return true;
        }
    }

    @Test
    void releasedSegmentsAreUsedAgain() {
        for (int generation = 1; generation < 200; generation++) {
            log.rotate(generation, 0);
            for (int i = 0; i < 30; i++) {
                tester.append(log, i % 2, Operation.put(generation, sequence++, "y".repeat(2000)));
            }
            log.prepareSpare();
            log.release(generation - 1);
        }
        assertTrue(storage.files.size() < 20, storage.files.size() + " files");
        assertTrue(log.bytesOnDevice() < 20 * (64 << 10));
        ReplaySummary[] summary = new ReplaySummary[1];
        assertEquals(30, replay(storage.kill(), 198, summary).size());
        assertEquals(0, replay(storage.kill(), 199, summary).size());
        assertEquals(ReplaySummary.Ending.EMPTY, summary[0].ending());
    }

    @Test
    void noSpaceChangesNothingAndHeals() {
        storage.bytesMax = 48 << 10;
        log.rotate(1, 0);
        List<Operation> all = new ArrayList<>();
        NoSpaceException full = assertThrows(NoSpaceException.class, () -> {
            while (true) {
                Operation operation = put(500);
                tester.append(log, 0, operation);
                all.add(operation);
            }
        });
        assertEquals("simulated", full.getMessage());
        log.sync();
        assertEquals(all, replay(storage.losePower(new Random(5)), 0, new ReplaySummary[1]));
        storage.bytesMax = Long.MAX_VALUE;
        Operation operation = put(500);
        tester.append(log, 0, operation);
        all.add(operation);
        assertEquals(all, replay(storage.kill(), 0, new ReplaySummary[1]));
    }

    @Test
    void whatIsTooLargeIsRefused() {
        log.rotate(1, 0);
        assertThrows(TooLargeException.class, () -> log.reserve(0, LogLayout.PAYLOAD_BYTES_MAX + 1));
        assertThrows(TooLargeException.class, () -> log.reserve(0, Long.MAX_VALUE - 100));
    }

    @Test
    void useInTheWrongOrderIsRefused() {
        assertThrows(IllegalStateException.class, () -> log.reserve(0, 1));
        log.rotate(5, 0);
        assertThrows(IllegalStateException.class, () -> log.rotate(5, 0));
        assertThrows(IllegalStateException.class, () -> log.release(5));
        assertThrows(IllegalStateException.class, () -> log.replay(tester));
        tester.append(log, 0, Operation.put(5, 1, "a"));
        log.close();
        log.close();
        assertThrows(ClosedException.class, () -> log.reserve(0, 1));
        assertThrows(ClosedException.class, log::sync);
        assertThrows(ClosedException.class, () -> log.rotate(6, 0));
        assertThrows(ClosedException.class, () -> log.release(4));
        log.prepareSpare();
    }

    @Test
    void aNewerFormatIsRefused() {
        log.rotate(1, 0);
        tester.append(log, 0, put(3));
        CrashStorage image = storage.kill();
        long page = image.files.firstEntry().getValue().address;
        for (int copy = 0; copy < 2; copy++, page += 4096) {
            Memory.putInt(page + LogLayout.HEADER_FORMAT, LogLayout.FORMAT + 1);
            Memory.putInt(page, Crc32c.of(page + 4, 4092));
        }
        assertThrows(FormatTooNewException.class, () -> replay(image, 0, new ReplaySummary[1]));
    }

    /** A file with a damaged header is used again, and the process dies when it has emptied one of the two. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void ofTwoHeadersTheDamagedOneIsEmptiedFirst(int damaged) {
        log.rotate(1, 0);
        tester.append(log, 0, put(100));
        log.rotate(2, 0);
        tester.append(log, 0, Operation.put(2, sequence++, "b"));
        for (int emptied = 0; emptied < 2; emptied++) {
            CrashStorage image = storage.kill();
            long header = image.files.get("log-000001.seg").address;
            Memory.putInt(header + damaged * 4096 + 100, 1);
            boolean isFirst = SegmentHeader.emptiedFirst(header) == emptied;
            assertEquals(isFirst, emptied == damaged);
            Memory.putLong(header + emptied * 4096, 0);
            if (isFirst) {
                assertEquals(1, replay(image, 1, new ReplaySummary[1]).size());
            } else {
                assertThrows(CorruptionException.class, () -> replay(image, 1, new ReplaySummary[1]));
            }
        }
    }

    /** The process dies at every store of a header: with the file new, and with the file used before. */
    @Test
    void aHeaderUnderWayIsNoDamage() {
        log.rotate(1, 0);
        tester.append(log, 0, put(100));
        log.rotate(2, 0);
        tester.append(log, 0, Operation.put(2, sequence++, "b"));
        log.release(1);
        CrashStorage before = storage.kill();
        log.reserve(1, 10);
        CrashStorage after = storage.kill();
        for (int kept = 0; kept < 8192; kept += 8) {
            for (CrashStorage.File file : after.files.values()) {
                if (file.name.equals(LaneClaims.FILE)) {
                    // Claimed only when the header is complete.
                    Memory.copyFrom(before.files.get(file.name).bytes(), 0, file.address, file.durable.length);
                    continue;
                }
                CrashStorage.File old = before.files.get(file.name);
                for (int at = 0; at < 8192; at += 8) {
                    boolean isFirst = at % 4096 == 0;
                    boolean isNew = isFirst ? kept > at + 4096 - 8 : at < kept;
                    if (Memory.getLong(old.address + at) != Memory.getLong(storage.files.get(file.name).address + at)) {
                        long value = Memory.getLong((isNew ? storage.files.get(file.name) : old).address + at);
                        Memory.putLong(file.address + at, isFirst && !isNew ? 0 : value);
                    }
                }
            }
            ReplaySummary[] summary = new ReplaySummary[1];
            assertEquals(1, replay(after, 1, summary).size());
        }
    }
}
