package dev.heartwood.engine.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.VerifyReport;
import dev.heartwood.engine.checkpoint.Superblock;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.image.TreeWalk;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Extents that two owners use, and extents that the file does not have. */
class ExtentUseTest {
    @TempDir
    static Path base;

    private static Path sound;

    @BeforeAll
    static void makeStore() {
        sound = base.resolve("sound");
        StoreFixture.makeClosed(sound, 1);
    }

    @Test
    void useByTwoOwnersIsReportedOnceForEachExtent() {
        List<String> problems = new ArrayList<>();
        ExtentUse use = new ExtentUse(10, problems::add);
        use.use(3, "branch 1");
        use.use(3, "maplet 2");
        use.useByNode(4 * 32, 4);
        use.useByNode(4 * 32 + 1, 4);
        assertEquals(List.of("extent 3: used twice, by branch 1 and by maplet 2"), problems);
        use.useByNode(4 * 32, 4);
        use.use(4, "branch 5");
        use.use(0, "branch 6");
        use.use(10, "branch 7");
        assertEquals(5, problems.size(), problems.toString());
        assertEquals("extent 10: lost, used by branch 7, and the file has 10", problems.getLast());
        use.useByNode(11 * 32, 11);
        assertEquals("extent 11: lost, used by trunk nodes, and the file has 10", problems.getLast());
        assertFalse(use.areSound(new int[] {3}));
        assertFalse(use.areInFile(new int[] {10}));
        assertTrue(use.areSound(new int[] {5}));
    }

    @Test
    void anExtentOfABranchUsedByAMapletTooIsReported() throws IOException {
        Path directory = base.resolve("doubled");
        StoreFixture.copy(sound, directory);
        int extent = craft(directory, (tree, own) -> tree.branches().getFirst().extents()[0]);
        VerifyReport report = StoreFixture.verify(directory);
        assertTrue(has(report, "extent " + extent + ": used twice"), report.toString());
    }

    @Test
    void anExtentOutsideTheFileIsReported() throws IOException {
        Path directory = base.resolve("lost");
        StoreFixture.copy(sound, directory);
        craft(directory, (tree, own) -> 1_234_567);
        VerifyReport report = StoreFixture.verify(directory);
        assertTrue(has(report, "extent 1234567: lost"), report.toString());
    }

    private static boolean has(VerifyReport report, String text) {
        return report.problems().stream().anyMatch(problem -> problem.contains(text));
    }

    private interface Choice {
        int extent(Tree tree, int own);
    }

    /** Puts another number in place of the last extent of a maplet, in a node image that is sound otherwise. */
    private static int craft(Path directory, Choice choice) {
        try (Storage storage = StoreFixture.storage(directory);
                OpenedStore store = new OpenedStore(storage)) {
            Superblock superblock = store.newest();
            Tree tree = Tree.read(store.view().tree(), superblock, problem -> {});
            long buffer = store.pool().allocate(PageLayout.PAGE_BYTES);
            for (TreeWalk.Node node : tree.nodes()) {
                for (TreeWalk.BundleView bundle : node.bundles()) {
                    store.device().read(node.page() << PageLayout.PAGE_SHIFT, buffer, PageLayout.PAGE_BYTES);
                    byte[] page = Memory.bytes(buffer, PageLayout.PAGE_BYTES);
                    byte[] descriptor = describe(bundle.maplet());
                    int at = indexOf(page, descriptor);
                    if (at >= 0) {
                        int own = bundle.maplet().extent(bundle.maplet().extentCount() - 1);
                        int extent = choice.extent(tree, own);
                        Memory.putInt(buffer + at + descriptor.length - 4, extent);
                        long generation = Memory.getLong(buffer + PageLayout.GENERATION);
                        PageSeal.seal(buffer, PageType.TRUNK, superblock.storeId(), node.page(), generation);
                        store.device().write(node.page() << PageLayout.PAGE_SHIFT, buffer, PageLayout.PAGE_BYTES);
                        return extent;
                    }
                }
            }
        }
        throw new AssertionError("no descriptor of a maplet lies within the first page of a node");
    }

    private static byte[] describe(Maplet maplet) {
        ByteBuffer descriptor = ByteBuffer.allocate(maplet.encodedBytes()).order(ByteOrder.LITTLE_ENDIAN);
        maplet.encode(descriptor);
        return descriptor.array();
    }

    private static int indexOf(byte[] page, byte[] part) {
        for (int at = 0; at + part.length <= page.length; at++) {
            if (Arrays.equals(page, at, at + part.length, part, 0, part.length)) {
                return at;
            }
        }
        return -1;
    }
}
