package dev.heartwood.engine.extent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.engine.cache.MemoryDevice;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ExtentAllocatorTest {
    private static final int EXTENTS = 128;
    /** What is left for deletes in a file as short. */
    private static final int RESERVE = 2;

    private static final long BYTES = (long) EXTENTS * PageLayout.EXTENT_BYTES;

    private final MemoryDevice device = new MemoryDevice(EXTENTS * PageLayout.EXTENT_PAGES, 0);
    private final ExtentAllocator extents = new ExtentAllocator(device, BYTES, 1);

    @AfterEach
    void close() {
        device.close();
    }

    @Test
    void theLowestFreeExtentComesFirst() {
        assertEquals(1, extents.allocate(Purpose.PACKING));
        assertEquals(2, extents.allocate(Purpose.PACKING));
        assertEquals(3, extents.allocate(Purpose.PACKING));
        extents.free(2);
        assertEquals(2, extents.allocate(Purpose.PACKING));
        assertEquals(4, extents.allocate(Purpose.PACKING));
        assertEquals(4, extents.allocatedCount());
        assertTrue(extents.isAllocated(4));
        assertFalse(extents.isAllocated(0));
        assertFalse(extents.isAllocated(5));
    }

    /** Extents whose blocks were given back, and those that an earlier life of the file may have given back. */
    @Test
    void aHoleGetsItsBlocksAgainOrIsRefused() {
        List<Integer> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            all.add(extents.allocate(Purpose.PACKING));
        }
        int last = all.removeLast();
        all.forEach(extents::free);
        assertTrue(extents.discardFree() >= all.size());
        assertEquals(List.of(), device.restored);
        assertEquals(1, extents.allocate(Purpose.PACKING));
        assertEquals(List.of((long) PageLayout.EXTENT_BYTES), device.restored);
        extents.free(1);
        assertEquals(1, extents.allocate(Purpose.PACKING));
        for (int i = 2; i <= 8; i++) {
            assertEquals(i, extents.allocate(Purpose.PACKING));
        }
        assertEquals(1, device.restored.size(), "they have their blocks, a few at once");
        device.hasRoom = false;
        extents.free(last);
        assertEquals(last, extents.allocate(Purpose.PACKING), "the one that has its blocks");
        assertThrows(NoSpaceException.class, () -> extents.allocate(Purpose.PACKING));
        assertEquals(9, extents.allocatedCount());
        device.hasRoom = true;
        assertEquals(9, extents.allocate(Purpose.PACKING));

        ExtentAllocator later = new ExtentAllocator(device, BYTES, 1);
        later.markUsed(1);
        device.restored.clear();
        assertEquals(2, later.allocate(Purpose.PACKING));
        assertEquals(List.of(2L * PageLayout.EXTENT_BYTES), device.restored);
    }

    /** The first hole on a full disk hid what has its blocks behind it, of which nothing is known after opening. */
    @Test
    void whatHasItsBlocksBehindAHoleIsPromised() {
        device.allocate(14L * PageLayout.EXTENT_BYTES);
        device.limit(device.size());
        device.holes.set(1);
        device.holes.set(4, 6);
        ExtentAllocator reopened = new ExtentAllocator(device, BYTES, 1);
        assertThrows(NoSpaceException.class, () -> reopened.promise(11, Promised.DELETES, 0));
        reopened.promise(10, Promised.DELETES, 0);
        assertThrows(NoSpaceException.class, () -> reopened.promise(1, Promised.DELETES, 0));
        for (int extent : new int[] {2, 3, 6, 7, 8, 9, 10, 11, 12, 13}) {
            assertEquals(extent, reopened.allocate(Purpose.PACKING));
        }
        assertThrows(NoSpaceException.class, () -> reopened.allocate(Purpose.PACKING));
        device.holes.clear();
        reopened.promise(3, Promised.DELETES, 0);
        for (int extent : new int[] {1, 4, 5}) {
            assertEquals(extent, reopened.allocate(Purpose.PACKING));
        }
    }

    @Test
    void whatHasItsBlocksBehindAHoleIsThereAhead() {
        device.allocate(12L * PageLayout.EXTENT_BYTES);
        device.limit(device.size());
        device.holes.set(1);
        ExtentAllocator reopened = new ExtentAllocator(device, BYTES, 1);
        reopened.growAhead(10 - RESERVE);
        assertEquals(10, device.restored.size());
        assertTrue(reopened.tryPromise(4, 0));
    }

    @Test
    void theFileGrowsWithItsUse() {
        assertEquals(0, device.size());
        extents.allocate(Purpose.PACKING);
        assertEquals(1 << 20, device.size());
        for (int i = 0; i < 20; i++) {
            int extent = extents.allocate(Purpose.PACKING);
            assertTrue(device.size() >= (extent + 1L) * PageLayout.EXTENT_BYTES);
        }
        assertEquals(device.size(), extents.fileExtents() * PageLayout.EXTENT_BYTES);
    }

    /** A small store whose file is nearly as long as what it has in use, whatever its size. */
    @Test
    void theFileIsLittleLongerThanItsUse() {
        for (int used = 1; used < EXTENTS / 2; used++) {
            extents.allocate(Purpose.PACKING);
            long bytes = (used + 1L) * PageLayout.EXTENT_BYTES;
            // An eighth to grow by, a little more kept free for merges, and a least step.
            assertTrue(device.size() <= bytes + bytes / 6 + (2 << 20), used + " in use, " + device.size() + " bytes");
        }
    }

    @Test
    void doubleUseIsRefused() {
        int extent = extents.allocate(Purpose.PACKING);
        assertThrows(IllegalStateException.class, () -> extents.markUsed(extent));
        assertThrows(IllegalStateException.class, () -> extents.markUsed(0));
        assertThrows(IllegalStateException.class, () -> extents.markUsed(-1));
        extents.free(extent);
        assertThrows(IllegalStateException.class, () -> extents.free(extent));
        assertThrows(IllegalStateException.class, () -> extents.free(0));
        assertThrows(IllegalStateException.class, () -> extents.free(1_000_000));
        assertThrows(IllegalStateException.class, () -> extents.free(-1));
    }

    @Test
    void recoveryMarksWhatIsUsedAndNoticesAShortFile() {
        device.allocate(16L * PageLayout.EXTENT_BYTES);
        ExtentAllocator recovered = new ExtentAllocator(device, BYTES, 1);
        recovered.markUsed(2);
        recovered.markUsed(15);
        assertEquals(1, recovered.allocate(Purpose.PACKING));
        assertEquals(3, recovered.allocate(Purpose.PACKING));
        assertEquals(4, recovered.allocatedCount());
        assertThrows(CorruptionException.class, () -> recovered.markUsed(16));
    }

    @Test
    void whatIsPromisedAndAReserveAreLeftByCompactionAndSpaceHeals() {
        device.limit(20L * PageLayout.EXTENT_BYTES);
        extents.promise(3, Promised.GROWTH, 0);
        List<Integer> taken = new ArrayList<>();
        assertThrows(NoSpaceException.class, () -> allocateUntilFull(taken, Purpose.COMPACTION));
        assertEquals(20, extents.fileExtents());
        assertEquals(19 - 3 - RESERVE, taken.size());
        assertThrows(NoSpaceException.class, () -> allocateUntilFull(taken, Purpose.PACKING));
        assertEquals(19, taken.size());
        assertEquals(19, new TreeSet<>(taken).size());
        extents.withdraw(3);
        device.limit(BYTES);
        extents.allocate(Purpose.COMPACTION);
        assertThrows(NoSpaceException.class, () -> allocateUntilFull(taken, Purpose.CHECKPOINT));
        assertEquals(EXTENTS - 1, extents.allocatedCount());
        extents.free(taken.getFirst());
        assertThrows(NoSpaceException.class, () -> extents.allocate(Purpose.COMPACTION));
        assertEquals(taken.getFirst(), extents.allocate(Purpose.PACKING));
    }

    /** What merges give up is free only after a checkpoint. */
    @Test
    void mergesLeaveWhatACheckpointTakes() {
        List<Integer> taken = new ArrayList<>();
        extents.keepForCheckpoint(7);
        assertThrows(NoSpaceException.class, () -> allocateUntilFull(taken, Purpose.COMPACTION));
        int left = taken.size();
        extents.keepForCheckpoint(0);
        assertThrows(NoSpaceException.class, () -> allocateUntilFull(taken, Purpose.COMPACTION));
        assertEquals(7, taken.size() - left);
        for (int i = 0; i < 7; i++) {
            extents.free(taken.removeLast());
        }
        extents.keepForCheckpoint(7);
        assertThrows(NoSpaceException.class, () -> extents.allocate(Purpose.COMPACTION));
        for (int i = 0; i < 7; i++) {
            extents.allocate(Purpose.CHECKPOINT);
        }
    }

    /** Growth is promised what it takes twice, beside what merges take and the reserve; deletes what they take, beside what merges do or not. */
    @Test
    void growthLeavesWhatMergesAndDeletesTake() {
        int free = 30;
        device.limit((free + 1L) * PageLayout.EXTENT_BYTES);
        int forMerges = 10;
        int growth = (free - forMerges - RESERVE) / 2;
        assertThrows(NoSpaceException.class, () -> extents.promise(growth + 1, Promised.GROWTH, forMerges));
        extents.promise(growth, Promised.GROWTH, forMerges);
        assertThrows(NoSpaceException.class, () -> extents.promise(1, Promised.GROWTH, forMerges));
        extents.promise(1, Promised.GROWTH, forMerges - 2);
        extents.promise(free - growth - 1 - forMerges, Promised.DELETES, forMerges);
        assertThrows(NoSpaceException.class, () -> extents.promise(1, Promised.DELETES, forMerges));
        extents.promise(forMerges, Promised.DELETES, 0);
        assertThrows(NoSpaceException.class, () -> extents.promise(1, Promised.DELETES, 0));
        extents.withdraw(1);
        extents.promise(1, Promised.DELETES, 0);
        extents.withdraw(free - growth);
        extents.owe(free);
        assertThrows(NoSpaceException.class, () -> extents.promise(0, Promised.GROWTH, 0));
        extents.withdraw(free);
        device.limit(BYTES);
        extents.promise(growth, Promised.GROWTH, forMerges);
    }

    /** Who writes is promised only what has its blocks already, and while the device has plenty by what it said last. */
    @Test
    void aPromiseThatIsTriedTakesNothingOfTheDevice() {
        assertFalse(extents.tryPromise(1, 0), "nothing has blocks yet");
        extents.promise(1, Promised.GROWTH, 0);
        long bytes = device.size();
        assertFalse(extents.tryPromise(2, 8), "nobody has asked the device");
        extents.growAhead(0);
        assertTrue(extents.tryPromise(2, 8));
        assertFalse(extents.tryPromise(20, 0), "more than has blocks");
        assertFalse(extents.tryPromise(1, EXTENTS), "merges may take more than there is");
        assertEquals(bytes, device.size());
        device.limit(bytes);
        extents.growAhead(EXTENTS);
        assertFalse(extents.tryPromise(1, 8), "the device said that it has nothing");
        extents.withdraw(3);
        assertTrue(extents.tryPromise(1, 0));
    }

    /** What merges are to take counts beside promises, as much again and the reserve; no block is given to it while the device has it. */
    @Test
    void whatIsForMergesIsThereOrCanBe() {
        int free = 30;
        device.limit((free + 1L) * PageLayout.EXTENT_BYTES);
        extents.free(extents.allocate(Purpose.PACKING));
        long bytes = device.size();
        assertTrue(extents.hasForMerges(free - RESERVE));
        assertEquals(bytes, device.size());
        assertFalse(extents.hasForMerges(free - RESERVE + 1));
        extents.promise(3, Promised.DELETES, 0);
        extents.keepForCheckpoint(2);
        assertTrue(extents.hasForMerges(free - RESERVE - 2 * 3 - 2));
        assertFalse(extents.hasForMerges(free - RESERVE - 2 * 3 - 1));
        assertTrue(extents.mayHave(free - RESERVE), "whatever is promised");
        assertFalse(extents.mayHave(free - RESERVE + 1));
    }

    /** A file of an earlier life may have blocks for more than its file system has free: that is known once growth had it asked for them. */
    @Test
    void whatTheFileHasMayBeForMerges() {
        int free = 30;
        device.allocate((free + 1L) * PageLayout.EXTENT_BYTES);
        device.limit(device.size());
        ExtentAllocator reopened = new ExtentAllocator(device, BYTES, 1);
        assertFalse(reopened.hasForMerges(free - RESERVE));
        assertTrue(reopened.mayHave(free - RESERVE));
        assertFalse(reopened.mayHave(free - RESERVE + 1));
        reopened.promise(0, Promised.GROWTH, free - RESERVE);
        assertTrue(reopened.hasForMerges(free - RESERVE));
        assertFalse(reopened.hasForMerges(free - RESERVE + 1));
    }

    /** A device that neither grows nor has holes said that it had nothing until it was promised: merges were refused on an empty one. */
    @Test
    void allOfADeviceOfFixedSizeIsForMerges() {
        int free = 30;
        device.allocate((free + 1L) * PageLayout.EXTENT_BYTES);
        device.limit(device.size());
        device.mayHaveHoles = false;
        ExtentAllocator raw = new ExtentAllocator(device, BYTES, 1);
        assertTrue(raw.hasForMerges(free - RESERVE));
        assertFalse(raw.hasForMerges(free - RESERVE + 1));
        assertTrue(raw.mayHave(free - RESERVE));
        assertFalse(raw.mayHave(free - RESERVE + 1));
        assertEquals(free, raw.discardFree());
        assertEquals(0, raw.discardFree(), "given back before");
        assertTrue(raw.hasForMerges(free - RESERVE));
        assertEquals(1, raw.allocate(Purpose.PACKING));
        raw.free(1);
        assertEquals(1, raw.discardFree());
        ExtentAllocator lowered = new ExtentAllocator(device, 11L * PageLayout.EXTENT_BYTES, 1);
        assertTrue(lowered.hasForMerges(10 - RESERVE));
        assertFalse(lowered.hasForMerges(10 - RESERVE + 1));
        lowered.markUsed(20);
        assertTrue(lowered.hasForMerges(free - 1 - RESERVE), "all of the device serves merges");
        assertEquals(List.of(), device.restored);
    }

    /** A packing takes what was promised to it, and no more counts as promised than is still to come. */
    @Test
    void packingTakesWhatWasPromised() {
        device.limit(21L * PageLayout.EXTENT_BYTES);
        extents.promise(6, Promised.DELETES, 0);
        int first = extents.allocate(Purpose.PACKING);
        int second = extents.allocate(Purpose.PACKING);
        assertThrows(NoSpaceException.class, () -> extents.promise(15, Promised.DELETES, 0));
        extents.promise(14, Promised.DELETES, 0);
        assertEquals(2, extents.allocatedCount(), first + " and " + second);
    }

    @Test
    void aPackingThatFailsHasItsPromiseAgain() {
        device.limit(21L * PageLayout.EXTENT_BYTES);
        extents.promise(6, Promised.DELETES, 0);
        int taken = extents.allocate(Purpose.PACKING);
        int takenLonger = extents.allocate(Purpose.PACKING);
        extents.giveBack(taken, Purpose.PACKING);
        assertThrows(NoSpaceException.class, () -> extents.promise(15, Promised.DELETES, 0), "what was given back is promised");
        extents.packingFailed();
        extents.free(takenLonger);
        assertThrows(NoSpaceException.class, () -> extents.promise(15, Promised.DELETES, 0));
        extents.promise(14, Promised.DELETES, 0);
        extents.withdraw(20);
        extents.promise(20, Promised.DELETES, 0);
    }

    @Test
    void whatIsLeftOfAPromiseIsFreeOnceItsMemtableIsPacked() {
        device.limit(21L * PageLayout.EXTENT_BYTES);
        extents.promise(6, Promised.DELETES, 0);
        extents.allocate(Purpose.PACKING);
        extents.allocate(Purpose.PACKING);
        extents.withdraw(6);
        extents.promise(18, Promised.DELETES, 0);
        assertThrows(NoSpaceException.class, () -> extents.promise(1, Promised.DELETES, 0));
    }

    /** What is grown ahead is there for promises, of a device that gives nothing more, and no more than is asked for. */
    @Test
    void whatIsGrownAheadCanBePromisedWithoutGrowing() {
        extents.growAhead(20);
        long bytes = device.size();
        assertTrue(bytes >= 20L * PageLayout.EXTENT_BYTES && bytes <= 40L * PageLayout.EXTENT_BYTES, bytes + " bytes");
        extents.growAhead(20);
        assertEquals(bytes, device.size());
        extents.promise(20, Promised.GROWTH, 0);
        assertEquals(bytes, device.size());
        device.limit(bytes);
        extents.growAhead(EXTENTS);
        assertEquals(bytes, device.size(), "who has the time is not told");
        extents.withdraw(20);
    }

    /** Whether it has blocks is not known of what recovery found free: a file that grew instead would grow with every life. */
    @Test
    void whatIsFreeInTheFileComesBeforeGrowing() {
        device.allocate(100L * PageLayout.EXTENT_BYTES);
        long bytes = device.size();
        ExtentAllocator recovered = new ExtentAllocator(device, BYTES, 1);
        for (int extent = 1; extent <= 20; extent++) {
            recovered.markUsed(extent);
        }
        recovered.promise(5, Promised.GROWTH, 0);
        recovered.growAhead(13);
        assertEquals(bytes, device.size());
        device.limit(bytes);
        recovered.promise(13, Promised.GROWTH, 0);
        recovered.growAhead(EXTENTS);
        assertEquals(bytes, device.size());
        recovered.withdraw(18);
    }

    /** A limit that is lower than the file is long, for what lies near its end: the rest may be holes, which growth once filled up to there. */
    @Test
    void growthKeepsALimitThatWasLowered() {
        device.allocate(100L * PageLayout.EXTENT_BYTES);
        ExtentAllocator lowered = new ExtentAllocator(device, 20L * PageLayout.EXTENT_BYTES, 1);
        lowered.markUsed(90);
        int free = 20 - 1 - 1;
        int growth = (free - RESERVE) / 2;
        assertThrows(NoSpaceException.class, () -> lowered.promise(growth + 1, Promised.GROWTH, 0));
        assertThrows(NoSpaceException.class, () -> lowered.promise(growth, Promised.GROWTH, 1));
        lowered.promise(growth, Promised.GROWTH, 0);
        lowered.growAhead(EXTENTS);
        assertFalse(lowered.tryPromise(1, 0));
        device.hasRoom = false;
        List<Integer> taken = new ArrayList<>();
        assertThrows(NoSpaceException.class, () -> {
            while (true) {
                taken.add(lowered.allocate(Purpose.PACKING));
            }
        });
        assertEquals(free, taken.size(), "given blocks");
    }

    /** What is larger than its limit takes deletes and is merged in what its file has, and grows again once there is less of it. */
    @Test
    void whatIsLargerThanItsLimitIsMergedAndDeletedFrom() {
        device.allocate(100L * PageLayout.EXTENT_BYTES);
        ExtentAllocator lowered = new ExtentAllocator(device, 20L * PageLayout.EXTENT_BYTES, 1);
        for (int extent = 41; extent < 81; extent++) {
            lowered.markUsed(extent);
        }
        assertThrows(NoSpaceException.class, () -> lowered.promise(0, Promised.GROWTH, 0));
        lowered.promise(5, Promised.DELETES, 10);
        for (int extent = 1; extent < 30; extent++) {
            assertEquals(extent, lowered.allocate(Purpose.COMPACTION));
        }
        for (int extent = 41; extent < 81; extent++) {
            lowered.free(extent);
        }
        assertThrows(NoSpaceException.class, () -> lowered.promise(0, Promised.GROWTH, 0));
        assertFalse(lowered.tryPromise(0, 0));
        for (int extent = 4; extent < 30; extent++) {
            lowered.free(extent);
        }
        lowered.withdraw(5);
        lowered.promise(5, Promised.GROWTH, 0);
        lowered.promise(20, Promised.DELETES, 0);
    }

    /** It had the file end where what is in use does: a file without holes took no deletes, though the extents behind were its own. */
    @Test
    void whatIsLargerThanItsLimitUsesTheFileToItsEnd() {
        device.allocate(100L * PageLayout.EXTENT_BYTES);
        ExtentAllocator lowered = new ExtentAllocator(device, 20L * PageLayout.EXTENT_BYTES, 1);
        for (int extent = 1; extent < 81; extent++) {
            lowered.markUsed(extent);
        }
        lowered.promise(19, Promised.DELETES, 0);
        assertThrows(NoSpaceException.class, () -> lowered.promise(1, Promised.DELETES, 0));
        assertEquals(81, lowered.allocate(Purpose.PACKING));
        assertEquals(100L * PageLayout.EXTENT_BYTES, device.size());
    }

    /** What is promised has its blocks: a file system that is full takes them from nobody. */
    @Test
    void promisesAreOfExtentsThatHaveTheirBlocks() {
        List<Integer> all = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            all.add(extents.allocate(Purpose.PACKING));
        }
        all.forEach(extents::free);
        extents.discardFree();
        device.limit(device.size());
        device.hasRoom = false;
        assertThrows(NoSpaceException.class, () -> extents.promise(1, Promised.DELETES, 0));
        device.hasRoom = true;
        extents.promise(10, Promised.DELETES, 0);
        device.hasRoom = false;
        for (int i = 0; i < 10; i++) {
            extents.allocate(Purpose.PACKING);
        }
    }

    @Test
    void whatIsPromisedKeepsItsBlocks() {
        extents.promise(10, Promised.DELETES, 0);
        assertTrue(extents.discardFree() > 0);
        device.limit(device.size());
        device.hasRoom = false;
        for (int i = 0; i < 10; i++) {
            extents.allocate(Purpose.PACKING);
        }
        extents.withdraw(10);
        device.hasRoom = true;
        int kept = extents.allocate(Purpose.PACKING);
        extents.free(kept);
        extents.discardFree();
        device.hasRoom = false;
        assertThrows(NoSpaceException.class, () -> extents.allocate(Purpose.PACKING));
    }

    /** Its blocks would be gone by the time they are needed. */
    @Test
    void whatIsBeingGivenBackIsNotPromised() {
        extents.free(extents.allocate(Purpose.PACKING));
        device.limit(device.size());
        int all = (int) extents.fileExtents() - 1;
        int[] refused = {0};
        device.discarding = () -> {
            device.discarding = () -> {};
            assertThrows(NoSpaceException.class, () -> extents.promise(all, Promised.DELETES, 0));
            refused[0]++;
        };
        extents.discardFree();
        assertEquals(1, refused[0]);
        extents.promise(all, Promised.DELETES, 0);
        device.hasRoom = false;
        for (int i = 0; i < all; i++) {
            extents.allocate(Purpose.PACKING);
        }
    }

    @Test
    void whatIsPromisedIsThereWhileAnotherIsGivenBack() {
        extents.free(extents.allocate(Purpose.PACKING));
        device.limit(device.size());
        int promised = (int) extents.fileExtents() - 2;
        extents.promise(promised, Promised.DELETES, 0);
        device.hasRoom = false;
        int[] packed = {0};
        device.discarding = () -> {
            device.discarding = () -> {};
            while (packed[0] < promised) {
                extents.allocate(Purpose.PACKING);
                packed[0]++;
            }
        };
        assertEquals(1, extents.discardFree());
        assertEquals(promised, packed[0]);
    }

    /** To note where a hole is may take a block of the file system's own. */
    @Test
    void aFileSystemTooFullForAHoleIsAskedAgainLater() {
        extents.free(extents.allocate(Purpose.PACKING));
        int free = (int) extents.fileExtents() - 1;
        int[] asked = {0};
        device.discarding = () -> {
            asked[0]++;
            throw new NoSpaceException("no room to note a hole");
        };
        assertEquals(0, extents.discardFree());
        assertEquals(1, asked[0]);
        assertEquals(0, extents.allocatedCount());
        device.discarding = () -> {};
        assertEquals(free, extents.discardFree());
    }

    @Test
    void aDiscardedExtentReadsAsZeroes() {
        int extent = extents.allocate(Purpose.PACKING);
        long address = device.contents((long) extent * PageLayout.EXTENT_PAGES);
        Memory.fill(address, PageLayout.EXTENT_BYTES, 1);
        extents.free(extent);
        int free = (int) extents.fileExtents() - 1 - extents.allocatedCount();
        assertEquals(free, extents.discardFree());
        assertEquals(0, Memory.getByte(address + 5000));
        assertEquals(0, extents.discardFree(), "what is a hole already is passed over");
        assertEquals(extent, extents.allocate(Purpose.PACKING));
        extents.free(extent);
        assertEquals(free, extents.discardFree(), "those that were given their blocks with it, too");
    }

    @Test
    void randomUseAgreesWithASet() {
        long seed = Long.getLong("seed", new Random().nextLong());
        String rerun = "rerun with -Dseed=" + seed;
        Random random = new Random(seed);
        TreeSet<Integer> used = new TreeSet<>();
        for (int i = 0; i < 20_000; i++) {
            if (used.size() < 100 && random.nextInt(100) < (i / 500 % 2 == 0 ? 60 : 40)) {
                int expected = 1;
                while (used.contains(expected)) {
                    expected++;
                }
                assertEquals(expected, extents.allocate(Purpose.PACKING), rerun);
                used.add(expected);
            } else if (!used.isEmpty()) {
                List<Integer> all = new ArrayList<>(used);
                Integer extent = all.get(random.nextInt(all.size()));
                extents.free(extent);
                used.remove(extent);
            }
            assertEquals(used.size(), extents.allocatedCount(), rerun);
        }
    }

    @Test
    void threadsNeverShareAnExtent() throws InterruptedException {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Integer> taken = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    for (int i = 0; i < 20; i++) {
                        int extent = extents.allocate(Purpose.PACKING);
                        extents.free(extent);
                        taken.add(extents.allocate(Purpose.PACKING));
                    }
                } catch (Throwable e) {
                    failure.set(e);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(null, failure.get());
        assertEquals(80, new TreeSet<>(taken).size());
    }

    private void allocateUntilFull(List<Integer> taken, Purpose purpose) {
        while (true) {
            taken.add(extents.allocate(purpose));
        }
    }
}
