package dev.heartwood.engine.branch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.StoreException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.BranchFixture.Entry;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;

/** Branches on pages that are damaged, or well sealed and senseless. */
class BranchDamageTest {
    private static final int ROUNDS = Integer.getInteger("heartwood.rounds", 1);

    private static List<Entry> someEntries() {
        return someEntries(false);
    }

    /** Entries of which some, if asked for, fill pages so that values go on in the next. */
    private static List<Entry> someEntries(boolean filling) {
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < 1500; i++) {
            int size = i % 100 == 0 ? 3000 : filling && i % 5 == 0 ? 400 + i % 500 : i % 120;
            byte[] key = BranchFixture.bytes("user%08d".formatted(i * 7));
            if (i % 300 == 0) {
                key = java.util.Arrays.copyOf(key, 1200);
            }
            entries.add(new Entry(key, i % 3 == 0 ? 0 : 1000 + i, Entries.PUT, new byte[size]));
        }
        return entries;
    }

    private interface Action {
        void on(long seed);
    }

    private static void seeded(Action action) {
        long first = Long.getLong("heartwood.seed", System.nanoTime());
        for (long seed = first; seed < first + ROUNDS; seed++) {
            try {
                action.on(seed);
            } catch (Throwable e) {
                throw new AssertionError(
                        "rerun: mvn test -pl engine -Dtest=BranchDamageTest -Dheartwood.rounds=1 -Dheartwood.seed=" + seed,
                        e);
            }
        }
    }

    @Test
    void rotIsReportedAndTheRestStaysReadable() {
        try (BranchFixture fixture = new BranchFixture()) {
            List<Entry> entries = someEntries();
            Branch branch = fixture.write(entries, WriteMode.THROUGH);
            fixture.device.block(branch.devicePage(3))[2000] ^= 16;
            fixture.device.block(branch.overflowGroups()[0].devicePage(2))[1000] ^= 1;
            int damaged = 0;
            for (Entry entry : entries) {
                try {
                    BranchFixture.assertSame(entry, fixture.find(branch, entry.key(), Long.MAX_VALUE), "found");
                } catch (CorruptionException e) {
                    damaged++;
                }
            }
            assertTrue(damaged > 10 && damaged < 200, damaged + " damaged");
            BranchVerifier.Report report = BranchVerifier.verify(branch);
            assertEquals(2, report.problems().size(), report.problems().toString());
            try (BranchCursor cursor = BranchCursor.cached(branch, Span.ALL);
                    BranchCursor streamed = BranchCursor.streaming(branch, List.of(Span.ALL))) {
                assertThrows(CorruptionException.class, () -> BranchFixture.forward(cursor));
                assertThrows(CorruptionException.class, () -> BranchFixture.forward(streamed));
                // A cursor that met damage can be placed anew.
                byte[] last = entries.getLast().key();
                cursor.seek(fixture.key(last), last.length);
                BranchFixture.assertSame(entries.getLast(), BranchFixture.entry(cursor), "after damage");
            }
            branch.release();
        }
    }

    @Test
    void sealedNonsenseIsNeverMoreThanAnError() {
        seeded(seed -> {
            SplittableRandom random = new SplittableRandom(seed);
            List<Entry> entries = someEntries(random.nextBoolean());
            try (BranchFixture fixture = new BranchFixture()) {
                Branch branch = fixture.write(entries, WriteMode.THROUGH);
                for (int round = 0; round < 60; round++) {
                    int number = random.nextInt(3) == 0 ? branch.root() : random.nextInt(branch.pageCount());
                    byte[] original = fixture.device.block(branch.devicePage(number)).clone();
                    damage(fixture, random, branch, number);
                    readAll(fixture, random, branch, entries);
                    System.arraycopy(original, 0, fixture.device.block(branch.devicePage(number)), 0, original.length);
                    fixture.file.discard(branch.devicePage(0), branch.pageCount());
                }
                assertEquals(List.of(), BranchVerifier.verify(branch).problems());
                branch.release();
            }
        });
    }

    /** What a scan reads ahead lay behind the group's last extent, where a reference was to no bytes at its end. */
    @Test
    void aLargeValueWithoutBytesIsCorruption() {
        try (BranchFixture fixture = new BranchFixture()) {
            byte[] value = new byte[PageLayout.EXTENT_PAGES * OverflowLayout.PAGE_PAYLOAD_BYTES];
            Branch branch = fixture.write(List.of(new Entry(new byte[] {1}, 1, Entries.PUT, value)), WriteMode.THROUGH);
            assertEquals(value.length, branch.groups[0].bytes());
            reseal(fixture, branch, 0, page -> {
                int bounds = KeyedPage.bounds(page, 1, 0);
                long reference = page + KeyedPage.valueOffset(page, bounds, KeyedPage.keyField(page, bounds));
                Memory.putInt(reference + KeyedPageLayout.REFERENCE_POSITION, value.length);
                Memory.putInt(reference + KeyedPageLayout.REFERENCE_LENGTH, 0);
            });
            try (BranchCursor cursor = BranchCursor.cached(branch, Span.ALL)) {
                assertThrows(CorruptionException.class, () -> {
                    cursor.seekFirst();
                    cursor.readAheadLarge();
                });
            }
            assertEquals(1, BranchVerifier.verify(branch).problems().size());
            branch.release();
        }
    }

    /** Two pages of an index name the same leaves: a merge of a part of them asked for fewer leaves than none, and stopped the store. */
    @Test
    void indexPagesThatContradictEachOtherAreCorruption() {
        try (BranchFixture fixture = new BranchFixture()) {
            List<Entry> entries = BranchFixture.entries(3500, 1200);
            Branch branch = fixture.write(entries, WriteMode.THROUGH);
            assertEquals(2, branch.shape.levels());
            long[] leaves = new long[2];
            reseal(fixture, branch, branch.shape.firstIndexPage(), page -> leaves[0] = KeyedPage.count(page) + 1);
            reseal(fixture, branch, branch.shape.firstIndexPage() + 1, page -> {
                leaves[1] = Memory.getLong(page + KeyedPageLayout.FIRST_CHILD);
                Memory.putLong(page + KeyedPageLayout.FIRST_CHILD, 0);
            });
            assertEquals(leaves[0], leaves[1]);
            int bound = (int) (leaves[0] * entries.size() / branch.leafPages());
            Span across = new Span(entries.get(bound - 50).key(), entries.get(bound + 50).key());
            assertThrows(CorruptionException.class, () -> {
                try (BranchCursor cursor = BranchCursor.streaming(branch, List.of(across))) {
                    BranchFixture.forward(cursor);
                }
            });
            branch.release();
        }
    }

    /** Each of many groups may take memory for a few bytes of its descriptor. */
    @Test
    void groupsOfMoreExtentsTogetherThanTheFileHasAreCorruption() {
        try (BranchFixture fixture = new BranchFixture()) {
            Branch branch = fixture.write(BranchFixture.entries(10, 10));
            ByteBuffer sound = ByteBuffer.allocate(branch.encodedBytes());
            branch.encode(sound);
            int extents = 1 << 16;
            int count = 100;
            ByteBuffer groups = ByteBuffer.allocate(100 * count).put(sound.array(), 0, sound.capacity() - 1);
            varints(groups, count);
            for (int i = 0; i < count; i++) {
                varints(groups, 1000 + i, (long) extents * PageLayout.EXTENT_PAGES * OverflowLayout.PAGE_PAYLOAD_BYTES, 1, 1, 2, extents);
            }
            CorruptionException refusal = assertThrows(CorruptionException.class, () -> decode(fixture, groups.flip()));
            assertTrue(refusal.getMessage().contains("no more extents in all than the file has"), refusal.getMessage());
            branch.release();
        }
    }

    /** Changes some bytes of a page, mostly where they steer the reader, and seals it. */
    private static void damage(BranchFixture fixture, SplittableRandom random, Branch branch, int number) {
        reseal(fixture, branch, number, page -> change(random, page));
    }

    private static void reseal(BranchFixture fixture, Branch branch, int number, LongConsumer change) {
        long page = fixture.pool.allocate(PageLayout.PAGE_BYTES);
        byte[] block = fixture.device.block(branch.devicePage(number));
        Memory.copyFrom(block, 0, page, block.length);
        change.accept(page);
        PageType type = PageType.ofCode(Memory.getByte(page + PageLayout.TYPE));
        PageSeal.seal(page, type, BranchFixture.STORE_ID, branch.devicePage(number), branch.id());
        Memory.copyTo(page, block, 0, block.length);
        fixture.pool.free(page, PageLayout.PAGE_BYTES);
        fixture.file.discard(branch.devicePage(0), branch.pageCount());
    }

    private static void change(SplittableRandom random, long page) {
        for (int i = random.nextInt(4); i >= 0; i--) {
            int at = switch (random.nextInt(4)) {
                case 0 -> PageLayout.BODY + random.nextInt(16);
                case 1 -> KeyedPageLayout.HEADS + random.nextInt(300);
                default -> PageLayout.BODY + random.nextInt(PageLayout.PAGE_BYTES - PageLayout.BODY);
            };
            Memory.putByte(page + at, random.nextInt(256));
        }
    }

    private static void readAll(BranchFixture fixture, SplittableRandom random, Branch branch, List<Entry> entries) {
        for (int i = 0; i < 40; i++) {
            byte[] key = entries.get(random.nextInt(entries.size())).key();
            quietly(() -> fixture.find(branch, key, random.nextInt(3000)));
        }
        byte[] key = entries.get(random.nextInt(entries.size())).key();
        Span range = random.nextBoolean() ? new Span(key, null) : new Span(null, key);
        quietly(() -> {
            try (BranchCursor cursor = BranchCursor.cached(branch, range)) {
                quietly(() -> BranchFixture.forward(cursor));
                quietly(() -> BranchFixture.backward(cursor));
            }
        });
        quietly(() -> {
            try (BranchCursor cursor = BranchCursor.streaming(branch, List.of(range))) {
                quietly(() -> BranchFixture.forward(cursor));
            }
        });
        BranchVerifier.verify(branch);
    }

    private static void quietly(Runnable action) {
        try {
            action.run();
        } catch (StoreException expected) {
            assertFalse(expected.getMessage().isEmpty());
        }
    }

    @Test
    void aPageIsNeverReadBeyond() {
        seeded(seed -> {
            SplittableRandom random = new SplittableRandom(seed);
            // A region of one page: assertions report every access outside of it.
            try (BranchFixture fixture = new BranchFixture();
                    MemoryPool alone = MemoryPool.open(PageLayout.PAGE_BYTES)) {
                Branch branch = fixture.write(someEntries(), WriteMode.THROUGH);
                long page = alone.allocate(PageLayout.PAGE_BYTES);
                byte[] sought = BranchFixture.bytes("user00004242");
                long key = fixture.key(sought);
                for (int round = 0; round < 3000; round++) {
                    byte[] block = fixture.device.block(branch.devicePage(random.nextInt(branch.pageCount())));
                    Memory.copyFrom(block, 0, page, block.length);
                    change(random, page);
                    quietly(() -> KeyedPage.lowerBound(page, branch, key, sought.length, random.nextInt(3000)));
                    quietly(() -> readEntries(page, branch));
                }
                alone.free(page, PageLayout.PAGE_BYTES);
                branch.release();
            }
        });
    }

    private static void readEntries(long page, Branch branch) {
        int count = KeyedPage.count(page);
        int prefixLength = KeyedPage.prefixLength(page, count);
        for (int i = 0; i < count; i++) {
            int bounds = KeyedPage.bounds(page, count, i);
            int keyField = KeyedPage.keyField(page, bounds);
            KeyedPage.sequence(page, bounds, 0);
            KeyedPage.compareTies(page, branch, bounds, keyField, prefixLength, page, PageLayout.PAGE_BYTES);
            int value = KeyedPage.valueOffset(page, bounds, keyField);
            if ((KeyedPage.meta(page, bounds) & KeyedPageLayout.VALUE_OVERFLOWS) != 0) {
                KeyedPage.valueReferenceLength(
                        page, value, KeyedPage.group(page, value, bounds & 0xffff, branch));
            }
            assertTrue(value <= (bounds & 0xffff));
        }
    }

    /** Beyond so many lines damage was left out without a word. */
    @Test
    void whatIsLeftOutIsCounted() {
        for (int damaged : new int[] {1000, 1001, 1030}) {
            try (BranchFixture fixture = new BranchFixture()) {
                Branch branch = fixture.write(BranchFixture.entries(3500, 1200), WriteMode.THROUGH);
                assertTrue(branch.leafPages() > 1030, branch.leafPages() + " leaves");
                for (int leaf = 0; leaf < damaged; leaf++) {
                    fixture.device.flip(branch.devicePage(leaf) * PageLayout.PAGE_BYTES * 8 + 999);
                }
                List<String> problems = BranchVerifier.verify(branch).problems();
                assertEquals(Math.min(damaged, 1001), problems.size());
                if (damaged > 1000) {
                    assertEquals("and " + (damaged - 1000) + " more of branch " + branch.id(), problems.getLast());
                }
                branch.release();
            }
        }
    }

    /** The sum of where the index begins and its levels was less than nothing, so that no number of pages was too small for it. */
    @Test
    void aDescriptorWhoseIndexBeginsBehindItsPagesIsCorruption() {
        try (BranchFixture fixture = new BranchFixture()) {
            Branch branch = fixture.write(someEntries());
            BranchShape shape = new BranchShape(1, Integer.MAX_VALUE, 1, 1);
            byte[] key = {1};
            Branch senseless = new Branch(
                    fixture.storage,
                    branch.id(),
                    new int[] {branch.extents()[0]},
                    shape,
                    new BranchStats(1, 0, 1, 0),
                    key,
                    key,
                    new OverflowGroup[0],
                    new long[0]);
            ByteBuffer image = ByteBuffer.allocate(senseless.encodedBytes());
            senseless.encode(image);
            assertThrows(CorruptionException.class, () -> decode(fixture, image.flip()));
            branch.release();
        }
    }

    @Test
    void aSenselessDescriptorIsCorruption() {
        seeded(seed -> {
            SplittableRandom random = new SplittableRandom(seed);
            try (BranchFixture fixture = new BranchFixture()) {
                Branch branch = fixture.write(someEntries());
                ByteBuffer image = ByteBuffer.allocate(branch.encodedBytes());
                branch.encode(image);
                for (int length = 0; length < image.capacity(); length++) {
                    ByteBuffer part = ByteBuffer.wrap(image.array(), 0, length);
                    assertThrows(CorruptionException.class, () -> decode(fixture, part));
                }
                for (int round = 0; round < 5000; round++) {
                    byte[] bytes = image.array().clone();
                    for (int i = random.nextInt(3); i >= 0; i--) {
                        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
                    }
                    quietly(() -> decode(fixture, ByteBuffer.wrap(bytes)));
                }
                branch.release();
            }
        });
    }

    /** A descriptor of a few bytes took memory for all the extents that it says a branch has, and so did one of a group. */
    @Test
    void aDescriptorOfMoreExtentsThanTheFileHasTakesNoMemoryForThem() {
        try (BranchFixture fixture = new BranchFixture()) {
            Branch branch = fixture.write(BranchFixture.entries(10, 10));
            ByteBuffer sound = ByteBuffer.allocate(branch.encodedBytes());
            branch.encode(sound);
            int pages = 1 << 30;
            int extents = pages / PageLayout.EXTENT_PAGES;
            ByteBuffer large = ByteBuffer.allocate(100).put((byte) 1);
            varints(large, branch.id, pages - 2, pages - 2, pages, 2, pages, 0, 1, 1, 1, 2, extents, 1, 'a', 1, 'b', 0);
            ByteBuffer group = ByteBuffer.allocate(300).put(sound.array(), 0, sound.capacity() - 1);
            varints(group, 1, 7, (long) pages * OverflowLayout.PAGE_PAYLOAD_BYTES, 1, 1, 2, extents);
            for (ByteBuffer each : List.of(large.flip(), group.flip())) {
                CorruptionException refusal = assertThrows(CorruptionException.class, () -> decode(fixture, each));
                assertTrue(refusal.getMessage().contains("no more extents than the file has"), refusal.getMessage());
            }
            branch.release();
        }
    }

    private static void varints(ByteBuffer to, long... values) {
        for (long value : values) {
            long rest = value;
            for (; rest >= 0x80; rest >>>= 7) {
                to.put((byte) (rest | 0x80));
            }
            to.put((byte) rest);
        }
    }

    /** Decodes for the sake of the errors: what comes out is never used, so its extents stay as they are. */
    private static void decode(BranchFixture fixture, ByteBuffer image) {
        BranchStorage unused =
                new BranchStorage(fixture.file, fixture.extents, fixture.pool, fixture.pool, BranchFixture.STORE_ID, freed -> () -> {});
        try (OverflowGroups groups = new OverflowGroups()) {
            Branch.decode(image, unused, groups, "test", 0).release();
        }
    }
}
