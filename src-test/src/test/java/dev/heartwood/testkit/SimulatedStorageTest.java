package dev.heartwood.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.LockedException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.IoQueue;
import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryRegions;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SimulatedStorageTest {
    private static final int PAGE = 4096;
    private static final Path DIRECTORY = Path.of("store");

    private final SimulatedMachine machine = new SimulatedMachine(1);
    private final SimulatedStorage storage = machine.storage(DIRECTORY);
    private final Arena arena = Arena.ofShared();
    private long buffer;

    @BeforeEach
    void allocate() {
        buffer = arena.allocate(64L * PAGE, PAGE).address();
        MemoryRegions.add(buffer, 64L * PAGE);
        storage.lock();
    }

    @AfterEach
    void free() {
        MemoryRegions.remove(buffer);
        arena.close();
    }

    private void write(BlockDevice device, long page, int value) {
        Memory.fill(buffer, PAGE, value);
        device.write(page * PAGE, buffer, PAGE);
    }

    private byte[] read(BlockDevice device, long page) {
        device.read(page * PAGE, buffer, PAGE);
        return Memory.bytes(buffer, PAGE);
    }

    private static byte[] pageOf(int value) {
        byte[] page = new byte[PAGE];
        Arrays.fill(page, (byte) value);
        return page;
    }

    private BlockDevice newDevice(int pages) {
        BlockDevice device = storage.openDevice("data", true);
        device.allocate((long) pages * PAGE);
        return device;
    }

    private static BlockDevice openDevice(SimulatedMachine machine) {
        return machine.storage(DIRECTORY).openDevice("data", false);
    }

    @Test
    void aKillKeepsEverything() {
        BlockDevice device = newDevice(4);
        write(device, 1, 7);
        SimulatedMachine next = machine.crash(CrashKind.KILL, new SplittableRandom(1));
        assertArrayEquals(pageOf(7), read(openDevice(next), 1));
        assertArrayEquals(pageOf(0), read(openDevice(next), 2));
        assertEquals(storage.bootId(), next.storage(DIRECTORY).bootId());
    }

    @Test
    void aPowerLossKeepsWhatWasSyncedAndAnySectorsOfTheRest() {
        BlockDevice device = newDevice(4);
        write(device, 1, 7);
        device.sync();
        write(device, 2, 9);
        Set<Integer> keptSectors = new HashSet<>();
        boolean garbage = false;
        for (int seed = 0; seed < 200; seed++) {
            SimulatedMachine next = machine.crash(CrashKind.POWER_LOSS, new SplittableRandom(seed));
            assertArrayEquals(pageOf(7), read(openDevice(next), 1));
            assertNotEquals(storage.bootId(), next.storage(DIRECTORY).bootId());
            byte[] page = read(openDevice(next), 2);
            int kept = 0;
            for (int s = 0; s < 8; s++) {
                byte[] sector = Arrays.copyOfRange(page, s * 512, s * 512 + 512);
                boolean isOld = Arrays.equals(sector, new byte[512]);
                boolean isNew = Arrays.equals(sector, Arrays.copyOf(pageOf(9), 512));
                kept += isNew ? 1 : 0;
                garbage |= !isOld && !isNew;
            }
            keptSectors.add(kept);
        }
        assertTrue(keptSectors.containsAll(Set.of(0, 3, 5, 8)), keptSectors::toString);
        assertTrue(garbage);
    }

    @Test
    void aKillThenAPowerLossLosesWhatWasNeverSynced() {
        BlockDevice device = newDevice(4);
        device.sync();
        write(device, 1, 7);
        SimulatedMachine killed = machine.crash(CrashKind.KILL, new SplittableRandom(1));
        Set<Byte> firstBytes = new HashSet<>();
        for (int seed = 0; seed < 50; seed++) {
            SimulatedMachine next = killed.crash(CrashKind.POWER_LOSS, new SplittableRandom(seed));
            firstBytes.add(read(openDevice(next), 1)[0]);
        }
        assertTrue(firstBytes.containsAll(Set.of((byte) 0, (byte) 7)), firstBytes::toString);
    }

    @Test
    void theSameSeedIsTheSameCrash() {
        BlockDevice device = newDevice(8);
        for (int i = 0; i < 8; i++) {
            write(device, i, i + 1);
        }
        SimulatedMachine one = machine.crash(CrashKind.POWER_LOSS, new SplittableRandom(5));
        SimulatedMachine two = machine.crash(CrashKind.POWER_LOSS, new SplittableRandom(5));
        assertArrayEquals(one.contents(DIRECTORY, "data"), two.contents(DIRECTORY, "data"));
    }

    @Test
    void storesThroughAMappingSurviveAKillAndSectorsOfThemAPowerLoss() {
        MappedFile log = storage.openMapped("log", 4 * PAGE);
        storage.syncDirectory();
        Memory.fill(log.address(), PAGE, 5);
        log.sync(0, PAGE);
        Memory.fill(log.address() + PAGE, PAGE, 6);
        byte[] killed = machine.crash(CrashKind.KILL, new SplittableRandom(1)).contents(DIRECTORY, "log");
        assertEquals(5, killed[PAGE - 1]);
        assertEquals(6, killed[2 * PAGE - 1]);
        Set<Byte> found = new HashSet<>();
        for (int seed = 0; seed < 100; seed++) {
            SimulatedMachine next = machine.crash(CrashKind.POWER_LOSS, new SplittableRandom(seed));
            byte[] contents = next.contents(DIRECTORY, "log");
            assertEquals(5, contents[PAGE - 1]);
            for (int i = PAGE; i < 2 * PAGE; i += 512) {
                assertEquals(contents[i], contents[i + 511]);
                found.add(contents[i]);
            }
        }
        assertEquals(Set.of((byte) 0, (byte) 6), found);
        log.close();
        assertEquals(6, machine.contents(DIRECTORY, "log")[PAGE]);
        MappedFile again = storage.openMappedExisting("log");
        assertEquals(6, Memory.getByte(again.address() + PAGE));
        again.close();
    }

    /** As the kernel does it, at the worst. */
    @Test
    void whoHasAFileMappedIsToldOnceThatItCouldNotBeWrittenBack() {
        MappedFile log = storage.openMapped("log", 4 * PAGE);
        storage.syncDirectory();
        MappedFile resting = storage.openAtRest("log");
        Memory.fill(log.address(), 4 * PAGE, 5);
        machine.failWriteBack(DIRECTORY, "log");
        MappedFile later = storage.openAtRest("log");
        later.sync(0, 4 * PAGE);
        assertThrows(StoreIoException.class, () -> resting.sync(0, PAGE));
        resting.sync(0, 4 * PAGE);
        assertThrows(StoreIoException.class, () -> log.sync(0, PAGE));
        byte[] left = machine.crash(CrashKind.POWER_LOSS, new SplittableRandom(1)).contents(DIRECTORY, "log");
        assertTrue(Arrays.stream(sectors(left)).anyMatch(sector -> sector == 0), "all was written");
        // What is stored anew is written anew.
        Memory.fill(log.address(), 4 * PAGE, 6);
        log.rest();
        log.sync(0, 4 * PAGE);
        left = machine.crash(CrashKind.POWER_LOSS, new SplittableRandom(1)).contents(DIRECTORY, "log");
        assertTrue(Arrays.stream(sectors(left)).allMatch(sector -> sector == 6));
        List.of(log, resting, later).forEach(MappedFile::close);
        machine.failWriteBack(DIRECTORY, "log");
        MappedFile unknowing = storage.openMappedExisting("log");
        unknowing.sync(0, 4 * PAGE);
        unknowing.close();
    }

    /** The first byte of each sector. */
    private static int[] sectors(byte[] contents) {
        return IntStream.range(0, contents.length / 512).map(i -> contents[512 * i]).toArray();
    }

    @Test
    void aNameThatWasNotSyncedMayVanishAndADeletedOneMayComeBack() {
        storage.openMapped("new", PAGE).sync(0, PAGE);
        storage.writeFile("old", new byte[] {1});
        storage.openMapped("new2", PAGE).sync(0, PAGE);
        storage.delete("old");
        Set<Boolean> oldThere = new HashSet<>();
        Set<Boolean> newThere = new HashSet<>();
        for (int seed = 0; seed < 60; seed++) {
            SimulatedMachine next = machine.crash(CrashKind.POWER_LOSS, new SplittableRandom(seed));
            assertTrue(next.files(DIRECTORY).contains("new"));
            oldThere.add(next.files(DIRECTORY).contains("old"));
            newThere.add(next.files(DIRECTORY).contains("new2"));
        }
        assertEquals(2, oldThere.size());
        assertEquals(2, newThere.size());
        storage.syncDirectory();
        for (int seed = 0; seed < 20; seed++) {
            SimulatedMachine next = machine.crash(CrashKind.POWER_LOSS, new SplittableRandom(seed));
            assertFalse(next.files(DIRECTORY).contains("old"));
            assertTrue(next.files(DIRECTORY).contains("new2"));
        }
    }

    @Test
    void theNthOperationFailsOnceOrForGood() {
        BlockDevice device = newDevice(4);
        machine.faults().fail(OperationKind.READ, 2, Errno.EIO, FaultPlan.Duration.ONCE);
        read(device, 0);
        StoreIoException failure = assertThrows(StoreIoException.class, () -> read(device, 1));
        assertEquals("EIO", failure.errnoName());
        read(device, 1);
        machine.faults().fail(OperationKind.WRITE, 1, Errno.EROFS, FaultPlan.Duration.FOR_GOOD);
        assertThrows(StoreIoException.class, () -> write(device, 0, 1));
        assertThrows(StoreIoException.class, () -> write(device, 0, 1));
        machine.faults().heal();
        write(device, 0, 1);
        assertEquals(3, machine.faults().injected());
    }

    @Test
    void afterAFailedSyncASecondOneDoesNotHelp() {
        BlockDevice device = newDevice(64);
        device.sync();
        for (int i = 0; i < 64; i++) {
            write(device, i, 3);
        }
        machine.faults().fail(OperationKind.SYNC, 1, Errno.EIO, FaultPlan.Duration.ONCE);
        assertThrows(StoreIoException.class, device::sync);
        device.sync();
        byte[] after = machine.crash(CrashKind.POWER_LOSS, new SplittableRandom(1)).contents(DIRECTORY, "data");
        int lost = 0;
        for (int i = 0; i < after.length; i += 512) {
            lost += after[i] == 0 ? 1 : 0;
        }
        assertTrue(lost > 100 && lost < 400, "lost " + lost);
        assertArrayEquals(pageOf(3), read(device, 1));
    }

    @Test
    void aDroppedWriteIsAcknowledgedAndGone() {
        BlockDevice device = newDevice(4);
        machine.faults().dropWrite(2);
        write(device, 0, 1);
        write(device, 1, 1);
        write(device, 2, 1);
        assertArrayEquals(pageOf(1), read(device, 0));
        assertArrayEquals(pageOf(0), read(device, 1));
        assertArrayEquals(pageOf(1), read(device, 2));
    }

    @Test
    void aMisdirectedWriteLandsOnAnotherPage() {
        BlockDevice device = newDevice(4);
        write(device, 0, 1);
        machine.faults().misdirectWrite(1);
        write(device, 0, 2);
        assertArrayEquals(pageOf(1), read(device, 0));
        int landed = 0;
        for (int page = 1; page < 4; page++) {
            landed += Arrays.equals(pageOf(2), read(device, page)) ? 1 : 0;
        }
        assertEquals(1, landed);
        assertEquals(1, machine.faults().injected());
    }

    @Test
    void aMisdirectedReadComesFromAnotherPageOnce() {
        BlockDevice device = newDevice(4);
        for (int page = 0; page < 4; page++) {
            write(device, page, page + 1);
        }
        machine.faults().misdirectRead(2);
        assertArrayEquals(pageOf(1), read(device, 0));
        int got = read(device, 1)[0];
        assertTrue(got != 2 && got >= 1 && got <= 4, "read page of " + got);
        assertArrayEquals(pageOf(2), read(device, 1));
    }

    @Test
    void aReadWithAFlippedBitLeavesTheMedium() {
        BlockDevice device = newDevice(4);
        machine.faults().flipRead(1);
        byte[] flipped = read(device, 2);
        int bits = 0;
        for (byte b : flipped) {
            bits += Integer.bitCount(b & 0xFF);
        }
        assertEquals(1, bits);
        assertArrayEquals(pageOf(0), read(device, 2));
    }

    @Test
    void pagesAreSwappedAndBitsFlippedOnTheMedium() {
        BlockDevice device = newDevice(4);
        write(device, 0, 1);
        write(device, 1, 2);
        device.sync();
        machine.swapPages(DIRECTORY, "data", 0, 1);
        machine.flip(DIRECTORY, "data", 3L * PAGE + 700, 0x10);
        assertArrayEquals(pageOf(2), read(device, 0));
        assertArrayEquals(pageOf(1), read(device, 1));
        assertEquals(0x10, read(device, 3)[700]);
        SimulatedMachine next = machine.crash(CrashKind.POWER_LOSS, new SplittableRandom(1));
        assertArrayEquals(pageOf(2), read(openDevice(next), 0));
    }

    @Test
    void aFullDiskRefusesToGrow() {
        BlockDevice device = newDevice(4);
        machine.capacity(6L * PAGE);
        assertThrows(NoSpaceException.class, () -> device.allocate(7L * PAGE));
        assertThrows(NoSpaceException.class, () -> storage.openMapped("log", 3 * PAGE));
        assertFalse(storage.exists("log"));
        device.allocate(6L * PAGE);
        write(device, 5, 1);
        machine.capacity(7L * PAGE);
        storage.openMapped("log", PAGE).close();
    }

    @Test
    void oneHolderAtATime() {
        SimulatedStorage second = machine.storage(DIRECTORY);
        assertThrows(LockedException.class, second::lock);
        second.close();
        assertThrows(LockedException.class, second::lock);
        storage.close();
        second.lock();
        second.close();
        storage.lock();
        machine.crash(CrashKind.KILL, new SplittableRandom(1)).storage(DIRECTORY).lock();
    }

    @Test
    void aQueueCompletesEverythingInSomeOrder() {
        BlockDevice device = newDevice(32);
        IoQueue queue = device.newQueue(16);
        for (int i = 0; i < 16; i++) {
            Memory.fill(buffer + (long) i * PAGE, PAGE, i + 1);
            queue.write((long) i * PAGE, buffer + (long) i * PAGE, PAGE, i);
        }
        machine.faults().fail(OperationKind.WRITE, 5, Errno.EIO, FaultPlan.Duration.ONCE);
        Set<Long> tags = new HashSet<>();
        int failures = 0;
        while (queue.pending() > 0) {
            try {
                tags.add(queue.await());
            } catch (StoreIoException e) {
                failures++;
                tags.add(queue.failedTag());
            }
        }
        assertEquals(1, failures);
        assertEquals(16, tags.size());
        queue.close();
    }

    @Test
    void whatIsNotAlignedIsRefused() {
        BlockDevice device = newDevice(4);
        assertThrows(IllegalArgumentException.class, () -> device.read(512, buffer, PAGE));
        assertThrows(IllegalArgumentException.class, () -> device.read(0, buffer + 8, PAGE));
        assertThrows(IllegalArgumentException.class, () -> device.write(0, buffer, 100));
    }

    @Test
    void discardedRangesReadAsZeroes() {
        BlockDevice device = newDevice(4);
        write(device, 1, 1);
        write(device, 2, 2);
        device.discard(PAGE, PAGE);
        assertArrayEquals(pageOf(0), read(device, 1));
        assertArrayEquals(pageOf(2), read(device, 2));
    }

    @Test
    void aListenerSeesEveryOperationAndMayTakeAnImage() {
        BlockDevice device = newDevice(4);
        SimulatedMachine[] image = new SimulatedMachine[1];
        machine.faults().listen((kind, ordinal, path) -> {
            if (kind == OperationKind.WRITE && image[0] == null) {
                image[0] = machine.crash(CrashKind.KILL, new SplittableRandom(1));
            }
        });
        write(device, 1, 1);
        assertArrayEquals(pageOf(0), read(openDevice(image[0]), 1));
        assertArrayEquals(pageOf(1), read(device, 1));
    }

    /** One thread stores to two mapped files in turn while others crash the machine: no image has the later store without the earlier. */
    @Test
    void aCrashTakesAllMappedMemoryOfOneMoment() throws InterruptedException {
        int pages = 16;
        MappedFile first = storage.openMapped("a", (long) pages * PAGE);
        MappedFile second = storage.openMapped("b", (long) pages * PAGE);
        AtomicBoolean ended = new AtomicBoolean();
        Thread writer = Thread.ofPlatform().start(() -> {
            for (long i = 1; !ended.get(); i++) {
                Memory.putLongVolatile(first.address(), i);
                Memory.putLongVolatile(second.address() + (pages - 1L) * PAGE, i);
                if (i % 1000 == 0) {
                    second.sync(0, 0);
                }
            }
        });
        try {
            for (int crash = 0; crash < 50; crash++) {
                SimulatedMachine image = machine.crash(CrashKind.KILL, new SplittableRandom(crash));
                long earlier = ByteBuffer.wrap(image.contents(DIRECTORY, "a"))
                        .order(ByteOrder.nativeOrder())
                        .getLong(0);
                long later = ByteBuffer.wrap(image.contents(DIRECTORY, "b"))
                        .order(ByteOrder.nativeOrder())
                        .getLong((pages - 1) * PAGE);
                assertTrue(earlier == later || earlier == later + 1, earlier + " and " + later);
            }
        } finally {
            ended.set(true);
            writer.join();
        }
    }
}
