package dev.heartwood.engine.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.StoreException;
import dev.heartwood.engine.log.LogTester.Operation;
import dev.heartwood.engine.os.Crc32c;
import dev.heartwood.engine.os.Memory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rot, missing files, files of other stores, and contents made to do harm. */
class LogDamageTest {
    private static final long STORE_ID = 77;
    private static final LogOptions OPTIONS = new LogOptions(16 << 10, 32 << 10);
    private static final int LANES = 2;
    private static final int OPERATIONS = 24;

    private final CrashStorage storage = new CrashStorage("boot");
    private final List<Operation> operations = new ArrayList<>();
    private final Set<Long> lastOfLanes = new HashSet<>();

    private WriteAheadLog write(LogTester tester, int count, int bytesMax) {
        Random random = new Random(11);
        WriteAheadLog log = WriteAheadLog.create(storage, STORE_ID, LANES, OPTIONS);
        log.rotate(1, 0);
        Operation[] last = new Operation[LANES];
        for (int i = 0; i < count; i++) {
            Operation operation = LogTester.operation(random, 1, 1 + i * 10L, bytesMax);
            tester.append(log, i % LANES, operation);
            operations.add(operation);
            last[i % LANES] = operation;
        }
        for (Operation operation : last) {
            lastOfLanes.add(operation.sequence());
        }
        return log;
    }

    private static List<CrashStorage.File> segments(CrashStorage image) {
        return image.files.values().stream()
                .filter(file -> SegmentName.number(file.name) > 0)
                .toList();
    }

    private static List<Operation> replay(CrashStorage from) {
        try (LogTester sink = new LogTester();
                WriteAheadLog log = WriteAheadLog.open(from, STORE_ID, LANES, OPTIONS, 0)) {
            log.replay(sink);
            return sink.replayed;
        }
    }

    private static CrashStorage as(RecordFormat format, CrashStorage image) {
        return format == RecordFormat.SHORT ? image : OlderLog.of(format, image, STORE_ID);
    }

    /** Changes every byte in turn; returns how often the change was loud. What is delivered is the truth in any case. */
    private int flipAll(CrashStorage image, boolean mayLoseLast) {
        int loud = 0;
        for (CrashStorage.File file : segments(image)) {
            int used = LogLayout.HEADER_BYTES + 2048;
            for (int at = 0; at < used; at++) {
                at += at > 200 && at < 4096 - 8 || at > 4096 + 200 && at < 8192 - 8 ? 97 : 0;
                byte was = Memory.getByte(file.address + at);
                for (int flip : new int[] {at % 3 == 0 ? was & 0xff : 1 << at % 8}) {
                    Memory.putByte(file.address + at, was ^ flip);
                    try {
                        List<Operation> found = replay(image);
                        if (!found.equals(operations)) {
                            List<Operation> missing = new ArrayList<>(operations);
                            missing.removeAll(found);
                            assertTrue(mayLoseLast && missing.size() == 1, file.name + " byte " + at);
                            assertTrue(lastOfLanes.contains(missing.getFirst().sequence()), file.name + " byte " + at);
                            missing = new ArrayList<>(operations);
                            missing.removeIf(o -> !found.contains(o));
                            assertEquals(missing, found);
                        }
                    } catch (CorruptionException e) {
                        assertEquals(image.directory().resolve(file.name).toString(), e.file());
                        loud++;
                    }
                    Memory.putByte(file.address + at, was);
                }
            }
        }
        return loud;
    }

    @ParameterizedTest
    @EnumSource(RecordFormat.class)
    void everyByteOfALogWhoseProcessDied(RecordFormat format) {
        try (LogTester tester = new LogTester()) {
            write(tester, OPERATIONS, 60);
            assertTrue(flipAll(as(format, storage.kill()), true) > 100);
        }
    }

    @ParameterizedTest
    @EnumSource(RecordFormat.class)
    void everyByteOfALogThatWasClosedIsLoud(RecordFormat format) {
        try (LogTester tester = new LogTester()) {
            write(tester, OPERATIONS, 60).close();
            assertTrue(flipAll(as(format, storage.kill()), false) > 100);
        }
    }

    @ParameterizedTest
    @EnumSource(RecordFormat.class)
    void everyByteOfALogThatWasClosedBeforePowerWasLostIsLoud(RecordFormat format) {
        try (LogTester tester = new LogTester()) {
            write(tester, OPERATIONS, 60).close();
            assertTrue(flipAll(as(format, storage.losePower(new Random(1))), false) > 100);
        }
    }

    /** What was synced last is told by nothing else: no record follows, and nobody closed the log. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void everyByteOfALogThatWasSyncedIsLoud(boolean isPowerLost) {
        try (LogTester tester = new LogTester()) {
            write(tester, OPERATIONS, 60).sync();
            assertTrue(flipAll(isPowerLost ? storage.losePower(new Random(1)) : storage.kill(), false) > 100);
        }
    }

    /** As the death of the process within the one leaves it, or a loss of power. */
    @Test
    void ofTwoClaimsOfSyncsTheOneBeforeCountsWhereTheNewestIsBroken() {
        try (LogTester tester = new LogTester()) {
            WriteAheadLog log = write(tester, OPERATIONS, 60);
            log.sync();
            tester.append(log, 0, Operation.put(1, 1000, "one more"));
            log.sync();
            CrashStorage image = storage.kill();
            assertEquals(OPERATIONS + 1, syncedLsn(image));
            CrashStorage.File claims = image.files.get(LaneClaims.FILE);
            byte[] whole = claims.bytes();
            for (int at = 64; at < 64 + 24; at++) {
                Memory.putByte(claims.address + at, ~whole[at]);
                assertEquals(OPERATIONS, syncedLsn(image), "byte " + at);
                Memory.putByte(claims.address + at, whole[at]);
            }
        }
    }

    private static long syncedLsn(CrashStorage image) {
        LogScan scan = new LogScan(image, STORE_ID, 0);
        scan.run();
        return scan.syncedLsn();
    }

    /** Where no file of the log is left LSNs begin anew: what was synced before says nothing of them. */
    @Test
    void whatWasSyncedInALogThatIsGoneIsNotMissed() {
        try (LogTester tester = new LogTester()) {
            write(tester, OPERATIONS, 60).sync();
            CrashStorage emptied = storage.kill();
            segments(emptied).forEach(file -> emptied.delete(file.name));
            try (WriteAheadLog log = WriteAheadLog.open(emptied, STORE_ID, LANES, OPTIONS, 1);
                    LogTester sink = new LogTester()) {
                log.replay(sink);
                log.rotate(2, 100_000);
                for (int i = 0; i < 4; i++) {
                    tester.append(log, i % LANES, Operation.put(2, 100_000 + i, "abc"));
                }
                for (int seed = 0; seed < 20; seed++) {
                    try (LogTester found = new LogTester();
                            WriteAheadLog after = WriteAheadLog.open(emptied.losePower(new Random(seed)), STORE_ID, LANES, OPTIONS, 1)) {
                        after.replay(found);
                        assertTrue(found.replayed.size() <= 4);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(RecordFormat.class)
    void aMissingSegmentIsLoud(RecordFormat format) {
        try (LogTester tester = new LogTester()) {
            write(tester, 3000, 60).close();
            List<String> names =
                    segments(storage).stream().map(file -> file.name).toList();
            assertTrue(names.size() > 3);
            for (String name : names) {
                for (CrashStorage image : List.of(as(format, storage.kill()), as(format, storage.losePower(new Random(2))))) {
                    assertEquals(operations, replay(image));
                    image.delete(name);
                    assertThrows(CorruptionException.class, () -> replay(image), name);
                    assertEquals(names.size(), image.list().size());
                }
            }
        }
    }

    /** As after a new version has opened a store that was killed, and was killed before its first checkpoint. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aLogOfFormat1GoesOnInTheNext(boolean isPowerLost) {
        try (LogTester tester = new LogTester()) {
            write(tester, 3000, 60);
            CrashStorage wide = OlderLog.of(RecordFormat.WIDE, storage.kill(), STORE_ID);
            try (WriteAheadLog log = WriteAheadLog.open(wide, STORE_ID, LANES, OPTIONS, 0);
                    LogTester sink = new LogTester()) {
                log.replay(sink);
                assertEquals(operations, sink.replayed);
                log.rotate(2, 100_000);
                for (int i = 0; i < 1000; i++) {
                    Operation operation = Operation.put(2, 100_000 + i, "abc".repeat(i % 90));
                    tester.append(log, i % LANES, operation);
                    operations.add(operation);
                }
                log.sync();
                CrashStorage after = isPowerLost ? wide.losePower(new Random(3)) : wide.kill();
                assertEquals(operations, replay(after));
                // What is in the older segments counts on.
                CrashStorage missing = wide.kill();
                missing.delete(missing.list().stream().filter(name -> SegmentName.number(name) == 2).findFirst().orElseThrow());
                assertThrows(CorruptionException.class, () -> replay(missing));
            }
        }
    }

    @Test
    void aFileOfAnotherLengthIsLoud() {
        try (LogTester tester = new LogTester()) {
            write(tester, OPERATIONS, 60);
            String name = storage.list().getFirst();
            byte[] contents = storage.files.get(name).bytes();
            for (int length : new int[] {1, 8, 4096, 8192, 12288, contents.length - 1, contents.length + 4096}) {
                CrashStorage image = storage.kill();
                image.delete(name);
                image.openMapped(name, length).close();
                Memory.copyFrom(contents, 0, image.files.get(name).address, Math.min(length, contents.length));
                CorruptionException damage =
                        assertThrows(CorruptionException.class, () -> replay(image), "length " + length);
                assertEquals(image.directory().resolve(name).toString(), damage.file());
            }
        }
    }

    @Test
    void aSegmentOfAnotherStoreIsLoud() {
        try (LogTester tester = new LogTester()) {
            write(tester, OPERATIONS, 60);
            CorruptionException damage = assertThrows(
                    CorruptionException.class,
                    () -> WriteAheadLog.open(storage.kill(), STORE_ID + 1, LANES, OPTIONS, 0));
            assertEquals(storage.directory(), Path.of(damage.file()).getParent());
        }
    }

    @Test
    void aSegmentUnderAnotherNameIsLoud() {
        try (LogTester tester = new LogTester()) {
            write(tester, OPERATIONS, 60);
            CrashStorage image = storage.kill();
            CrashStorage.File file = image.files.remove(image.list().getFirst());
            image.files.put("log-000009.seg", file);
            CorruptionException damage = assertThrows(CorruptionException.class, () -> replay(image));
            assertEquals(image.directory().resolve("log-000009.seg").toString(), damage.file());
        }
    }

    @Test
    void aLogIsNoNewStore() {
        try (LogTester tester = new LogTester()) {
            write(tester, OPERATIONS, 60);
            CorruptionException damage = assertThrows(
                    CorruptionException.class,
                    () -> WriteAheadLog.create(storage.kill(), STORE_ID, LANES, OPTIONS));
            assertEquals(storage.directory(), Path.of(damage.file()).getParent());
        }
    }

    /** Random changes whose checksums are made to hold, so that they reach the decoders behind them. */
    @ParameterizedTest
    @EnumSource(RecordFormat.class)
    void hostileContentsAreRefusedOrRead(RecordFormat format) {
        long seed = Long.getLong("seed", System.nanoTime());
        int rounds = Integer.getInteger("rounds", 4000);
        try (LogTester tester = new LogTester()) {
            write(tester, 60, 400);
            CrashStorage image = as(format, storage.kill());
            Random random = new Random(seed);
            for (int i = 0; i < rounds; i++) {
                List<CrashStorage.File> files = segments(image);
                CrashStorage.File file = files.get(random.nextInt(files.size()));
                byte[] before = file.bytes();
                mutate(file, format, random);
                CrashStorage read = random.nextBoolean() ? image : image.losePower(new Random(i));
                try (WriteAheadLog log = WriteAheadLog.open(read, STORE_ID, LANES, OPTIONS, 0)) {
                    log.replay(new Reading());
                } catch (StoreException e) {
                    assertTrue(e.getMessage().length() < 2000);
                } catch (Throwable e) {
                    throw new AssertionError("rerun with -Dtest=LogDamageTest -Dseed=" + seed + ", round " + i, e);
                }
                Memory.copyFrom(before, 0, file.address, before.length);
                if (read != image) {
                    read.discard();
                }
            }
        }
    }

    private static void mutate(CrashStorage.File file, RecordFormat format, Random random) {
        LogRecord record = new LogRecord(format, 1, 0, 0);
        int seed = (int) (Memory.getLong(file.address + LogLayout.HEADER_SALT)
                ^ Memory.getLong(file.address + LogLayout.HEADER_SALT) >>> 32);
        for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
            if (random.nextInt(3) == 0) {
                int field = 8 + random.nextInt(192);
                long value = random.nextBoolean() ? random.nextLong() : random.nextInt(64) - 8;
                for (int page = 0; page < 8192; page += 4096) {
                    long at = file.address + page;
                    Memory.putLong(at + field, value);
                    Memory.putInt(at, Crc32c.of(at + 4, 4092));
                }
            } else {
                int offset = LogLayout.HEADER_BYTES;
                for (int skip = random.nextInt(20); skip > 0 && record.isPlausible(file.address + offset, 1000); skip--) {
                    offset += (int) record.step(file.address + offset);
                }
                long at = file.address + offset;
                int field = 4 + random.nextInt(60);
                Memory.putInt(at + (random.nextBoolean() ? field : field & -4), value(random));
                int length = record.length(at);
                if (length > 4 && length < file.durable.length - offset) {
                    Memory.putInt(at, LogRecord.checksum(at, length, seed));
                }
            }
        }
    }

    private static int value(Random random) {
        return switch (random.nextInt(5)) {
            case 0 -> random.nextInt();
            case 1 -> Integer.MAX_VALUE - random.nextInt(64);
            case 2 -> -random.nextInt(64);
            case 3 -> LogLayout.KIND_BATCH;
            default -> random.nextInt(300);
        };
    }

    /** Reads every byte that is delivered. */
    private static final class Reading implements ReplaySink {
        private int sum;

        @Override
        public void beginGeneration(long generation) {}

        @Override
        public void beginBatch(long sequence, int count) {}

        @Override
        public void entry(long sequence, byte kind, long key, int keyLength, long value, int valueLength) {
            sum += Memory.bytes(key, keyLength).length + Memory.bytes(value, valueLength).length;
        }

        @Override
        public void endBatch() {}
    }
}
