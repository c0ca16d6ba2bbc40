package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreIoException;
import dev.heartwood.TooLargeException;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.image.NodePages;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.NodePlace;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.node.TrunkPolicies;
import dev.heartwood.engine.page.PageLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;

class NodePagesTest {
    private static final TreeShape SHAPE = TreeShape.of(4, 1 << 20);

    private static byte[] image(int length) {
        byte[] image = new byte[length];
        new Random(length).nextBytes(image);
        return image;
    }

    /**
     * An image longer than an extent fills one while it is written. That extent was taken to hold nothing, since pages counted
     * only once the whole image was written, and was handed out again.
     */
    @Test
    void anExtentFilledByAnImageThatIsBeingWrittenStaysInUse() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            NodePages pages = new NodePages(tree.storage);
            byte[] image = image(70 * NodePages.PART_BYTES - 5);
            NodePlace place = pages.write(image, 3, tree.page);
            for (long page : place.pages()) {
                assertTrue(tree.extents.isAllocated((int) (page >>> PageLayout.EXTENT_SHIFT)), "page " + page);
            }
            assertArrayEquals(image, pages.read(place.pages(), 3));
            assertEquals(3, pages.extentCount());
            place.release();
            assertEquals(1, tree.extents.allocatedCount(), "only the extent that is being filled");
            tree.trunk.close();
        }
    }

    /** Who lets go of a node that nobody reads any more, a writer among others, waited for all pages of an image. */
    @Test
    void nobodyWaitsForTheDeviceToLetGoOfANode() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            NodePages pages = new NodePages(tree.storage);
            NodePlace before = pages.write(image(1), 1, tree.page);
            int[] writes = new int[1];
            tree.device.whileWriting = () -> {
                assertFalse(Thread.holdsLock(pages));
                if (writes[0]++ == 0) {
                    before.release();
                }
            };
            byte[] image = image(40 * NodePages.PART_BYTES);
            NodePlace place = pages.write(image, 2, tree.page);
            assertEquals(40, writes[0]);
            assertArrayEquals(image, pages.read(place.pages(), 2));
            place.release();
            assertEquals(1, tree.extents.allocatedCount(), "only the extent that is being filled");
            tree.trunk.close();
        }
    }

    /** What was taken for an image that could not be written is free again. */
    @Test
    void anImageThatIsPartlyWrittenTakesNoSpace() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            NodePages pages = new NodePages(tree.storage);
            tree.device.failWritesAfter(50);
            assertThrows(StoreIoException.class, () -> pages.write(image(70 * NodePages.PART_BYTES), 1, tree.page));
            assertEquals(1, tree.extents.allocatedCount(), "only the extent that is being filled");
            tree.device.failWritesAfter(Long.MAX_VALUE);
            tree.trunk.close();
        }
    }

    /** What it took last is not full either: where nothing else is free the next image goes there. */
    @Test
    void anImageThatFindsNoSpaceLeavesWhatItTookForTheNext() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            long twoExtents = (TrunkFixture.FIRST_EXTENT + 2L) * PageLayout.EXTENT_BYTES;
            ExtentAllocator extents = new ExtentAllocator(tree.device, twoExtents, TrunkFixture.FIRST_EXTENT);
            NodePages pages = new NodePages(new TreeStorage(
                    tree.storage.file(), extents, tree.pool, tree.pool, tree.epochs, TreeStorage.FreedExtents.KEPT));
            NodePlace place = pages.write(image(1), 1, tree.page);
            assertThrows(NoSpaceException.class, () -> pages.write(image(70 * NodePages.PART_BYTES), 2, tree.page));
            NodePlace next = pages.write(image(1), 3, tree.page);
            assertArrayEquals(image(1), pages.read(next.pages(), 3));
            place.release();
            next.release();
            tree.trunk.close();
        }
    }

    @Test
    void imagesOfEveryLengthAroundAPageComeBack() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            NodePages pages = new NodePages(tree.storage);
            for (int length = NodePages.PART_BYTES - 2; length <= NodePages.PART_BYTES + 2; length++) {
                NodePlace place = pages.write(image(length), 9, tree.page);
                assertArrayEquals(image(length), pages.read(place.pages(), 9));
                place.release();
            }
            tree.trunk.close();
        }
    }

    /** What could not be read back is not written. */
    @Test
    void anImageThatIsTooLongIsRefused() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            NodePages pages = new NodePages(tree.storage);
            byte[] image = new byte[NodePages.IMAGE_BYTES_MAX + 1];
            assertThrows(TooLargeException.class, () -> pages.write(image, 1, tree.page));
            assertEquals(0, pages.extentCount());
            tree.trunk.close();
        }
    }
}
