package dev.heartwood.engine.verify;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Heartwood;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.VerifyReport;
import dev.heartwood.engine.branch.OverflowGroup;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.Intercepted;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sound stores are clean, and damage in any kind of page is listed with the number of the page. */
class StoreVerifierTest {
    private static final long SEED = Long.getLong("heartwood.seed", System.nanoTime());
    private static final int FLIPS_PER_TYPE = 6;

    @TempDir
    static Path base;

    private static Path closed;
    private static Path killed;

    @BeforeAll
    static void makeStores() throws IOException {
        System.out.println("mvn -B -pl engine -am test -Dtest=StoreVerifierTest -Dheartwood.seed=" + SEED);
        closed = base.resolve("closed");
        killed = base.resolve("killed");
        StoreFixture.makeClosed(closed, SEED);
        StoreFixture.makeKilled(base.resolve("running"), killed, SEED);
    }

    @Test
    void aClosedStoreIsCleanAndNotChanged() throws IOException {
        byte[] before = Files.readAllBytes(closed.resolve("data.hw"));
        VerifyReport report = StoreFixture.verify(closed);
        assertEquals(List.of(), report.problems());
        assertTrue(report.entries() > StoreFixture.KEYS / 2, report.toString());
        assertTrue(report.nodes() > 1 && report.branches() > 1 && report.filters() > 1, report.toString());
        assertTrue(report.usedExtents() <= report.fileExtents(), report.toString());
        assertArrayEquals(before, Files.readAllBytes(closed.resolve("data.hw")));
    }

    @Test
    void aKilledStoreIsCleanAndHasALogToReplay() throws IOException {
        Map<String, byte[]> before = contents(killed);
        VerifyReport report = StoreFixture.verify(killed);
        assertEquals(List.of(), report.problems());
        assertTrue(report.logRecords() >= 2, report.toString());
        Map<String, byte[]> after = contents(killed);
        assertEquals(before.keySet(), after.keySet());
        before.forEach((name, bytes) -> assertArrayEquals(bytes, after.get(name), name));
    }

    /**
     * Leaves that split by reference share their parent's branches, and their filters, once hashed anew, know only the keys of the
     * leaf: verification took the other keys for missing and called a sound store damaged.
     */
    @Test
    void aFilterNeedNotKnowWhatItsNodeDoesNotHold() {
        Path small = base.resolve("small");
        StoreOptions options = StoreOptions.builder().memory(ByteSize.mib(16)).build();
        SplittableRandom random = new SplittableRandom(SEED);
        try (KeyValueStore store = Heartwood.open(small, options)) {
            byte[] key = new byte[24];
            for (int i = 0; i < 300_000; i++) {
                random.nextBytes(key);
                store.put(key, new byte[100]);
            }
            store.checkpoint();
            store.settle();
        }
        VerifyReport report = StoreFixture.verify(small);
        assertEquals(List.of(), report.problems());
        assertTrue(report.nodes() > 1, report.toString());
    }

    @Test
    void aFlippedBitInEveryTypeOfPageIsReportedWithThePage() throws IOException {
        SplittableRandom random = new SplittableRandom(SEED);
        Map<PageType, List<Long>> pages = StoreFixture.pages(closed);
        Path damaged = base.resolve("flipped");
        StoreFixture.copy(closed, damaged);
        byte[] sound = Files.readAllBytes(closed.resolve("data.hw"));
        for (PageType type : PageType.values()) {
            for (int i = 0; i < FLIPS_PER_TYPE && type != PageType.LOG; i++) {
                List<Long> ofType = pages.get(type);
                long page = ofType.get(random.nextInt(ofType.size()));
                byte[] bytes = sound.clone();
                int at = (int) (page * PageLayout.PAGE_BYTES) + random.nextInt(PageLayout.PAGE_BYTES);
                bytes[at] ^= (byte) (1 << random.nextInt(8));
                Files.write(damaged.resolve("data.hw"), bytes);
                VerifyReport report = StoreFixture.verify(damaged);
                assertTrue(names(report, page), () -> type + " page " + page + ", byte " + at + ": " + report);
            }
        }
    }

    @Test
    void allDamageIsListedNotTheFirstOnly() throws IOException {
        SplittableRandom random = new SplittableRandom(SEED);
        Map<PageType, List<Long>> pages = StoreFixture.pages(closed);
        Path damaged = base.resolve("worn");
        StoreFixture.copy(closed, damaged);
        byte[] bytes = Files.readAllBytes(closed.resolve("data.hw"));
        List<Long> chosen = new ArrayList<>(List.of(16L));
        for (PageType type : List.of(PageType.BRANCH_LEAF, PageType.FILTER, PageType.OVERFLOW)) {
            for (int i = 0; i < 3; i++) {
                chosen.add(pages.get(type).get(random.nextInt(pages.get(type).size())));
            }
        }
        for (long page : chosen) {
            Arrays.fill(bytes, (int) page * PageLayout.PAGE_BYTES, (int) (page + 1) * PageLayout.PAGE_BYTES, (byte) 0x55);
        }
        Files.write(damaged.resolve("data.hw"), bytes);
        VerifyReport report = StoreFixture.verify(damaged);
        for (long page : chosen) {
            assertTrue(names(report, page), () -> "page " + page + ": " + report);
        }
    }

    @Test
    void aKeyThatAFilterDoesNotKnowIsReported() throws IOException {
        Path damaged = base.resolve("unknown");
        StoreFixture.copy(closed, damaged);
        long page = StoreFixture.pages(closed).get(PageType.FILTER).getFirst();
        try (Storage storage = StoreFixture.storage(damaged);
                OpenedStore store = new OpenedStore(storage)) {
            long buffer = store.pool().allocate(PageLayout.PAGE_BYTES);
            store.device().read(page << PageLayout.PAGE_SHIFT, buffer, PageLayout.PAGE_BYTES);
            // No entries: everything is zero but the bits that say how entries are cut; the page is sound in itself.
            Memory.fill(buffer + PageLayout.BODY, PageLayout.PAGE_BYTES - 8 - PageLayout.BODY, 0);
            Memory.putInt(buffer + PageLayout.PAGE_BYTES - 4, 0);
            long generation = Memory.getLong(buffer + PageLayout.GENERATION);
            PageSeal.seal(buffer, PageType.FILTER, store.newest().storeId(), page, generation);
            store.device().write(page << PageLayout.PAGE_SHIFT, buffer, PageLayout.PAGE_BYTES);
        }
        VerifyReport report = StoreFixture.verify(damaged);
        assertTrue(report.problems().stream().anyMatch(problem -> problem.endsWith("is missing")), report.toString());
    }

    @Test
    void rotInTheLogIsReported() throws IOException {
        Path damaged = base.resolve("log");
        StoreFixture.copy(killed, damaged);
        // The record before the last one: valid records follow, so that it is no torn tail.
        byte[] record = {1, 2};
        for (Map.Entry<String, byte[]> file : contents(damaged).entrySet()) {
            int at = file.getKey().endsWith(".seg") ? lastRecordWith(file.getValue(), record) : -1;
            if (at >= 0) {
                file.getValue()[at] ^= 0x40;
                Files.write(damaged.resolve(file.getKey()), file.getValue());
            }
        }
        VerifyReport report = StoreFixture.verify(damaged);
        assertFalse(report.isClean());
        assertTrue(report.problems().getFirst().startsWith("log: "), report.toString());
    }

    private static int lastRecordWith(byte[] segment, byte[] keyAndValue) {
        for (int at = segment.length - 32; at >= 2 * PageLayout.PAGE_BYTES; at -= 4) {
            // Behind checksum, LSN and sequence: a put, and whether it says what is durable, in four bytes more; a byte of key, a byte of value.
            boolean isSuch = (segment[at + 12] & 0xdf) == 0x81 && segment[at + 13] == 1 && segment[at + 14] == 1 && segment[at + 15] == 0;
            int key = at + ((segment[at + 12] & 0x20) != 0 ? 20 : 16);
            if (isSuch && segment[key] == keyAndValue[0] && segment[key + 1] == keyAndValue[1]) {
                return key + 1;
            }
        }
        return -1;
    }

    /** Whether a problem names the page: as "page N" and not as the beginning of a longer number. */
    private static boolean names(VerifyReport report, long page) {
        return report.problems().stream().anyMatch(problem -> problem.matches("(?s).*\\bpage " + page + "\\b.*"));
    }

    private static Map<String, byte[]> contents(Path directory) throws IOException {
        Map<String, byte[]> contents = new TreeMap<>();
        try (var files = Files.list(directory)) {
            for (Path file : files.toList()) {
                if (!file.getFileName().toString().equals("LOCK")) {
                    contents.put(file.getFileName().toString(), Files.readAllBytes(file));
                }
            }
        }
        return contents;
    }

    /** Healthy pages of large values were listed as damaged. */
    @Test
    void whereThereIsNoMemoryForLargeValuesItSaysSo() {
        try (Storage storage = StoreFixture.storage(closed);
                OpenedStore store = new OpenedStore(storage)) {
            Tree tree = Tree.read(store.view().tree(), store.newest(), problem -> {});
            long pagesOfGroups = tree.groups().stream().mapToLong(OverflowGroup::pageCount).sum();
            assertTrue(pagesOfGroups > 0);
            Progress takingAll = (what, done, total) -> {
                if (done == total - pagesOfGroups) {
                    for (long bytes = store.pool().capacity(); bytes >= MemoryPool.BLOCK_BYTES_MIN; ) {
                        bytes = store.pool().allocate(bytes) == 0 ? bytes / 2 : bytes;
                    }
                }
            };
            assertThrows(
                    InsufficientMemoryException.class,
                    () -> StoreVerifier.verifyOpen(store.view(), extent -> true, takingAll));
        }
    }

    /** Files of which pages of a type cannot be read for want of memory. */
    private static Storage refusing(Storage files, PageType refused) {
        return Intercepted.proxy(Storage.class, files, (method, arguments, result) -> {
            return result instanceof BlockDevice device
                    ? Intercepted.proxy(BlockDevice.class, device, (name, read, nothing) -> {
                        for (int at = 0; name.equals("read") && at < (int) read[2]; at += PageLayout.PAGE_BYTES) {
                            if (Memory.getByte((long) read[1] + at + PageLayout.TYPE) == refused.code()) {
                                throw new InsufficientMemoryException("for a test");
                            }
                        }
                        return nothing;
                    })
                    : result;
        });
    }

    /** Sound pages were listed as damaged. */
    @ParameterizedTest
    @EnumSource(
            value = PageType.class,
            names = {"TRUNK", "BRANCH_INDEX", "OVERFLOW", "FILTER"})
    void pagesThatThereIsNoMemoryToReadAreNoDamage(PageType type) {
        try (Storage files = StoreFixture.storage(closed)) {
            Storage refusing = refusing(files, type);
            assertThrows(InsufficientMemoryException.class, () -> StoreVerifier.verify(refusing, Progress.SILENT));
        }
    }

    /** A sound log was listed as damaged. */
    @ParameterizedTest
    @ValueSource(strings = {"openMappedExisting log-", "readFile log-", "readFile session"})
    void aLogOrMarkThatThereIsNoMemoryToReadIsNoDamage(String call) {
        try (Storage files = StoreFixture.storage(killed)) {
            Storage refusing = Intercepted.proxy(Storage.class, files, (method, arguments, result) -> {
                if (arguments != null && (method + " " + arguments[0]).startsWith(call)) {
                    throw new InsufficientMemoryException("for a test");
                }
                return result;
            });
            assertThrows(InsufficientMemoryException.class, () -> StoreVerifier.verify(refusing, Progress.SILENT));
        }
    }
}
