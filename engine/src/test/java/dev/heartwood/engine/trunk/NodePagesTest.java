package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.TooLargeException;
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
            NodePlace place = pages.write(image, 3);
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

    @Test
    void imagesOfEveryLengthAroundAPageComeBack() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            NodePages pages = new NodePages(tree.storage);
            for (int length = NodePages.PART_BYTES - 2; length <= NodePages.PART_BYTES + 2; length++) {
                NodePlace place = pages.write(image(length), 9);
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
            assertThrows(TooLargeException.class, () -> pages.write(image, 1));
            assertEquals(0, pages.extentCount());
            tree.trunk.close();
        }
    }
}
