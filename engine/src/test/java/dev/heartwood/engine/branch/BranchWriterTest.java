package dev.heartwood.engine.branch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.NoSpaceException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.BranchFixture.Entry;
import dev.heartwood.engine.device.ArrayDevice;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.extent.Promised;
import dev.heartwood.engine.os.Memory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BranchWriterTest {
    private BranchFixture fixture;

    @BeforeEach
    void open() {
        fixture = new BranchFixture();
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    /** Keys as benchmarks make them: "user" and the 20 digits of a hash, in order; values of 100 bytes. */
    private Branch hashed(int count, long sequence) {
        long[] hashes = new long[count];
        SplittableRandom random = new SplittableRandom(count);
        for (int i = 0; i < count; i++) {
            hashes[i] = random.nextLong() >>> 1;
        }
        Arrays.sort(hashes);
        BranchWriter writer = new BranchWriter(fixture.storage, fixture.newId(), WriteMode.THROUGH);
        long key = fixture.scratch;
        Memory.copyFrom(BranchFixture.bytes("user"), 0, key, 4);
        for (long hash : hashes) {
            long rest = hash;
            for (int digit = 23; digit >= 4; digit--) {
                Memory.putByte(key + digit, (int) ('0' + rest % 10));
                rest /= 10;
            }
            writer.add(key, 24, sequence, Entries.PUT, key + 1024, 100);
        }
        return writer.finish();
    }

    @Test
    void hashedKeysTakeLittleMoreThanTheirBytes() {
        int count = 60_000;
        Branch branch = hashed(count, 0);
        double ratio = branch.pageCount() * 4096.0 / (count * 124.0);
        assertTrue(ratio <= 1.03, "pages take " + ratio + " of the raw bytes");
        branch.release();
        Branch numbered = hashed(count, 1L << 40);
        ratio = numbered.pageCount() * 4096.0 / (count * 124.0);
        assertTrue(ratio <= 1.03, "pages take " + ratio + " of the raw bytes with sequence numbers");
        numbered.release();
    }

    @Test
    void manyLeavesSpillTheIndexBeforeTheEnd() {
        // Leaves hold two entries each, and end between keys that differ in their last byte only: separators are whole keys.
        List<Entry> entries = new ArrayList<>();
        entries.add(new Entry(new byte[] {1}, 0, Entries.PUT, new byte[1000]));
        for (int i = 0; i < 300; i++) {
            byte[] key = new byte[900];
            Arrays.fill(key, 0, 200, (byte) 7);
            key[200] = (byte) (i >>> 8);
            key[201] = (byte) i;
            byte[] next = key.clone();
            next[899] = 1;
            entries.add(new Entry(key, 0, Entries.PUT, new byte[1000]));
            entries.add(new Entry(next, 0, Entries.PUT, new byte[1000]));
        }
        Branch branch = fixture.write(entries);
        BranchShape shape = branch.shape();
        assertTrue(shape.pageCount() - shape.firstIndexPage() > 32, shape.toString());
        assertEquals(0, shape.firstIndexPage() % 32);
        assertEquals(List.of(), BranchVerifier.verify(branch).problems());
        for (int i = 0; i < entries.size(); i += 97) {
            BranchFixture.assertSame(entries.get(i), fixture.find(branch, entries.get(i).key(), 0), "entry " + i);
        }
        branch.release();
        assertEquals(0, fixture.extents.allocatedCount());
    }

    @Test
    void nothingWrittenIsNoBranch() {
        assertNull(fixture.write(List.of()));
        assertEquals(0, fixture.extents.allocatedCount());
    }

    @Test
    void abortGivesEverythingBack() {
        BranchWriter writer = new BranchWriter(fixture.storage, 1, WriteMode.CACHED);
        for (int i = 0; i < 1000; i++) {
            fixture.add(writer, new Entry(BranchFixture.bytes("%05d".formatted(i)), 0, Entries.PUT, new byte[2000]));
        }
        assertTrue(fixture.extents.allocatedCount() > 0);
        writer.abort();
        writer.abort();
        assertEquals(0, fixture.extents.allocatedCount());
    }

    /** So that nobody else is promised them meanwhile. */
    @Test
    void whatWasPromisedIsPromisedAgainAsItIsGivenBack() {
        ExtentAllocator few = new ExtentAllocator(new ArrayDevice(), 21L << 17, 1);
        few.promise(20, Promised.DELETES, 0);
        BranchStorage storage =
                new BranchStorage(fixture.file, few, fixture.pool, fixture.pool, BranchFixture.STORE_ID, freed -> () -> {});
        BranchWriter writer = new BranchWriter(storage, 1, WriteMode.CACHED);
        for (int i = 0; i < 1000; i++) {
            fixture.add(writer, new Entry(BranchFixture.bytes("%05d".formatted(i)), 0, Entries.PUT, new byte[2000]));
        }
        assertTrue(few.allocatedCount() > 0);
        writer.abort();
        assertEquals(0, few.allocatedCount());
        assertThrows(NoSpaceException.class, () -> few.promise(1, Promised.DELETES, 0));
    }

    @Test
    void aFullDeviceLeavesNothingBehind() {
        for (int extents = 1; extents < 12; extents++) {
            ExtentAllocator few = new ExtentAllocator(new ArrayDevice(), (1L + extents) << 17, 1);
            BranchStorage storage =
                    new BranchStorage(fixture.file, few, fixture.pool, fixture.pool, BranchFixture.STORE_ID, freed -> () -> {
                        for (int extent : freed) {
                            few.free(extent);
                        }
                    });
            BranchWriter writer = new BranchWriter(storage, 100 + extents, WriteMode.THROUGH);
            assertThrows(NoSpaceException.class, () -> {
                for (int i = 0; i < 2000; i++) {
                    int size = i % 10 == 0 ? 3000 : 500;
                    fixture.add(writer, new Entry(BranchFixture.bytes("%05d".formatted(i)), 0, Entries.PUT, new byte[size]));
                }
                writer.finish();
            });
            writer.abort();
            assertEquals(0, few.allocatedCount());
        }
    }

    @Test
    void entriesOutOfOrderAreRefusedUnderAssert() {
        BranchWriter writer = new BranchWriter(fixture.storage, 1, WriteMode.CACHED);
        fixture.add(writer, new Entry(new byte[] {2}, 5, Entries.PUT, new byte[0]));
        assertThrows(
                AssertionError.class,
                () -> fixture.add(writer, new Entry(new byte[] {2}, 6, Entries.PUT, new byte[0])));
        assertThrows(
                AssertionError.class,
                () -> fixture.add(writer, new Entry(new byte[] {1}, 9, Entries.PUT, new byte[0])));
        writer.abort();
    }

    @Test
    void aVeryLargeValueIsReadInPieces() {
        int length = 5 << 20;
        long value = fixture.pool.allocate(8 << 20);
        for (long i = 0; i < length; i += 8) {
            Memory.putLong(value + i, i * 0x9E3779B97F4A7C15L);
        }
        BranchWriter writer = new BranchWriter(fixture.storage, 1, WriteMode.THROUGH);
        writer.add(fixture.key(new byte[] {1}), 1, 3, Entries.PUT, value, length);
        Branch branch = writer.finish();
        byte[] expected = Memory.bytes(value, length);
        FoundEntry found = new FoundEntry();
        int slot = fixture.epochs.enter();
        assertTrue(BranchReader.find(fixture.file, branch, fixture.key(new byte[] {1}), 1, 3, found));
        byte[] read = new byte[length];
        found.largeValues.read(found.largePosition, MemorySegment.ofArray(read), 0, length);
        fixture.epochs.exit(slot);
        assertTrue(Arrays.equals(expected, read));
        Memory.fill(value, length, 0);
        found.largeValues.read(found.largePosition + 5, value, length - 5);
        assertTrue(Arrays.equals(Arrays.copyOfRange(expected, 5, length), Memory.bytes(value, length - 5)));
        fixture.pool.free(value, 8 << 20);
        branch.release();
        assertEquals(0, fixture.extents.allocatedCount());
    }

    @Test
    void mergesShareLargeValuesUntilTheirGroupIsMostlyDead() {
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            entries.add(new Entry(BranchFixture.bytes("%03d".formatted(i)), 0, Entries.PUT, new byte[5000]));
        }
        Branch first = fixture.write(entries);
        Branch second = rewrite(first, 40);
        assertEquals(first.overflowGroups()[0], second.overflowGroups()[0]);
        assertEquals(1, second.overflowGroups().length);
        first.release();
        assertEquals(200_000, second.overflowGroups()[0].referencedBytes());
        // Less than half of the group is alive now, so what is left moves into a group of its own.
        Branch third = rewrite(second, 40);
        assertEquals(third.id(), third.overflowGroups()[0].id());
        int both = fixture.extents.allocatedCount();
        second.release();
        assertTrue(fixture.extents.allocatedCount() < both - 1);
        assertEquals(List.of(), BranchVerifier.verify(third).problems());
        third.release();
        assertEquals(0, fixture.extents.allocatedCount());
    }

    private Branch rewrite(Branch from, int entriesMax) {
        BranchWriter writer = new BranchWriter(fixture.storage, fixture.newId(), WriteMode.THROUGH);
        try (BranchCursor cursor = BranchCursor.streaming(from, List.of(Span.ALL))) {
            cursor.seekFirst();
            for (int i = 0; i < entriesMax && cursor.valid(); i++, cursor.next()) {
                writer.add(cursor);
            }
        }
        return writer.finish();
    }

    @Test
    void theLongestKeysAreFound() {
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            byte[] key = new byte[Branch.KEY_BYTES_MAX - i % 2];
            Arrays.fill(key, (byte) 9);
            key[65_000] = (byte) (i / 2);
            entries.add(new Entry(key, i, Entries.PUT, new byte[] {(byte) i}));
        }
        entries.sort(Entry.ORDER);
        Branch branch = fixture.write(entries);
        assertEquals(List.of(), BranchVerifier.verify(branch).problems());
        for (Entry entry : entries) {
            BranchFixture.assertSame(entry, fixture.find(branch, entry.key(), Long.MAX_VALUE), "long key");
        }
        assertNull(fixture.find(branch, new byte[300], Long.MAX_VALUE));
        branch.release();
    }

    @Test
    void whatIsKeptIsReadWithoutTheDeviceAndPushesNothingOut() {
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            entries.add(new Entry(BranchFixture.bytes("key%08d".formatted(i)), 1, Entries.PUT, new byte[100]));
        }
        Branch kept = fixture.write(entries, WriteMode.KEPT);
        assertEquals(entries.size(), scan(kept));
        assertEquals(List.of(), fixture.device.pagesRead);

        List<Branch> more = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            more.add(fixture.write(entries, WriteMode.KEPT));
        }
        assertEquals(entries.size(), scan(kept));
        assertEquals(List.of(), fixture.device.pagesRead, "ten branches more than the cache holds pushed the first one out");
        assertEquals(entries.size(), scan(more.getLast()));
        assertTrue(fixture.device.pagesRead.size() > 0, "the cache holds everything");
        more.forEach(Branch::release);
        kept.release();
    }

    private static int scan(Branch branch) {
        try (BranchCursor cursor = BranchCursor.cached(branch, Span.ALL)) {
            return BranchFixture.forward(cursor).size();
        }
    }
}
