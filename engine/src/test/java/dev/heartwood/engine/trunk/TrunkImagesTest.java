package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.ImageWriter;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.image.NodeCodec;
import dev.heartwood.engine.image.NodePages;
import dev.heartwood.engine.merge.History;
import dev.heartwood.engine.merge.TreeText;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.NodePlace;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class TrunkImagesTest {
    private static final TreeShape SHAPE = new TreeShape(8, 4, 4096, 8192, 16384);
    private static final String SEED = "heartwood.seed";
    private static final int MUTATIONS = 4000;

    private static TrunkFixture grown(SplittableRandom random) {
        TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.LAZY_LEVELING, new History.Append(true));
        for (int i = 0; i < 60; i++) {
            for (int j = 0; j < 20; j++) {
                String key = Integer.toString(random.nextInt(2000));
                switch (random.nextInt(8)) {
                    case 0 -> tree.delete(key);
                    case 1 -> tree.merge(key, "+" + i);
                    case 2 -> tree.put(key, i + "large".repeat(random.nextInt(600)));
                    default -> tree.put(key, i + "v".repeat(random.nextInt(300)));
                }
            }
            tree.pack();
            tree.compactOne(Urge.NEEDED);
        }
        tree.epochs.reclaim();
        assertTrue(tree.trunk.version().root().height() > 0, "a tree worth storing");
        return tree;
    }

    @Test
    void aTreeComesBackAsItWasAndMarksWhatItUses() {
        long seed = Long.getLong(SEED, System.nanoTime());
        try (TrunkFixture tree = grown(new SplittableRandom(seed))) {
            tree.storage.file().writeBackAll();
            NodePlace root = tree.images.write(tree.trunk.version(), 5, tree.page);
            TrunkImages.Found found =
                    new TrunkImages.Found(root.pages(), root.generation(), 60, tree.trunk.nextId());
            NavigableMap<String, String> expected = tree.history.at(Entries.NEWEST);
            try (TrunkFixture again = new TrunkFixture(
                    tree.device, found, SHAPE, TrunkPolicies.LAZY_LEVELING, tree.operator())) {
                assertEquals(TreeText.of(tree.trunk.version().root()), TreeText.of(again.trunk.version().root()));
                assertEquals(expected, again.scan(again.trunk.version(), Entries.NEWEST, null, true));
                assertEquals(expected, again.scan(again.trunk.version(), Entries.NEWEST, null, false));
                assertEquals(tree.extents.allocatedCount(), again.extents.allocatedCount(), "extents in use");
                again.settle(Urge.IDLE);
                assertEquals(expected, again.scan(again.trunk.version(), Entries.NEWEST, null, true));
                again.releaseAll();
                assertEquals(0, again.extents.allocatedCount(), "extents left behind");
            }
            tree.storage.close();
            tree.releaseAll();
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError("rerun: -Dtest=TrunkImagesTest -D" + SEED + "=" + seed, e);
        }
    }

    @Test
    void aMutatedImageIsRefusedAsCorruptOrReadAsATree() {
        long seed = Long.getLong(SEED, System.nanoTime());
        try (TrunkFixture tree = grown(new SplittableRandom(seed))) {
            tree.storage.file().writeBackAll();
            tree.images.write(tree.trunk.version(), 5, tree.page);
            SplittableRandom random = new SplittableRandom(seed);
            NodePages pages = new NodePages(tree.storage);
            int refused = 0;
            for (int i = 0; i < MUTATIONS; i++) {
                TrunkNode node = tree.trunk.version().root();
                while (!node.isLeaf() && random.nextBoolean()) {
                    node = node.pivot(random.nextInt(node.pivotCount())).child();
                }
                refused += isRefused(tree, pages, mutated(NodeCodec.encode(node), random)) ? 1 : 0;
            }
            assertTrue(refused > MUTATIONS / 20, refused + " refused");
            tree.storage.close();
            tree.releaseAll();
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError("rerun: -Dtest=TrunkImagesTest -D" + SEED + "=" + seed, e);
        }
    }

    private static boolean isRefused(TrunkFixture tree, NodePages pages, byte[] image) {
        NodePlace place = pages.write(image, 6, tree.page);
        try {
            load(tree, place);
            return false;
        } catch (CorruptionException e) {
            return true;
        } finally {
            place.release();
        }
    }

    /** Reads a tree from the fixture's file without touching what the fixture's own tree uses. */
    private static void load(TrunkFixture tree, NodePlace root) {
        ExtentAllocator extents = new ExtentAllocator(tree.device, 8L << 30, TrunkFixture.FIRST_EXTENT);
        TreeStorage storage = new TreeStorage(
                tree.storage.file(), extents, tree.pool, tree.pool, tree.epochs, TreeStorage.FreedExtents.KEPT);
        TrunkImages.Found found = new TrunkImages.Found(root.pages(), root.generation(), 60, 1 << 20);
        try {
            new TrunkImages(storage).load(found, SHAPE, TrunkPolicies.LAZY_LEVELING, tree.epochs).close();
        } catch (CorruptionException e) {
            // As another store of the environment may: it freed large values that were not known to be in use, and that store failed.
            tree.epochs.reclaim();
            throw e;
        } finally {
            storage.close();
            tree.epochs.reclaim();
        }
    }

    private static byte[] mutated(byte[] image, SplittableRandom random) {
        byte[] copy = random.nextInt(8) == 0 ? java.util.Arrays.copyOf(image, random.nextInt(image.length)) : image.clone();
        for (int i = random.nextInt(1, 4); i > 0 && copy.length > 0; i--) {
            int at = random.nextInt(4) == 0 ? random.nextInt(Math.min(copy.length, 32)) : random.nextInt(copy.length);
            switch (random.nextInt(4)) {
                case 0 -> copy[at] = (byte) 0xff;
                case 1 -> copy[at] = 0;
                case 2 -> copy[at] ^= (byte) (1 << random.nextInt(8));
                default -> copy[at] = (byte) random.nextInt(256);
            }
        }
        return copy;
    }

    /** Nodes that share a child would be read again and again, the deeper the oftener. */
    @Test
    void aChildOfTwoParentsIsRefused() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            NodePages pages = new NodePages(tree.storage);
            NodePlace leaf = pages.write(NodeCodec.encode(TrunkNode.emptyLeaf(new byte[0])), 6, tree.page);
            NodePlace root = pages.write(index(leaf, leaf), 6, tree.page);
            CorruptionException refusal = assertThrows(CorruptionException.class, () -> load(tree, root));
            assertTrue(refusal.getMessage().contains("two trunk nodes"), refusal.getMessage());
            tree.trunk.close();
        }
    }

    /** A child on no page, on a page before the file or far behind it. */
    @Test
    void aChildWhereNoPageCanBeIsRefused() {
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, null)) {
            NodePages pages = new NodePages(tree.storage);
            for (long[] places : new long[][] {{}, {-1}, {Long.MAX_VALUE}, {1L << 36}, {0}}) {
                NodePlace root = pages.write(index(new NodePlace(places, 6, () -> {})), 6, tree.page);
                assertThrows(CorruptionException.class, () -> load(tree, root));
            }
            tree.trunk.close();
        }
    }

    private static byte[] index(NodePlace... children) {
        ImageWriter image = new ImageWriter();
        image.putByte(NodeCodec.VERSION).putVarint(1).putByte(0).putVarint(0).putVarint(children.length);
        for (int i = 0; i < children.length; i++) {
            image.putBytes(History.bytes("m".repeat(i))).putVarint(0);
            NodeCodec.encodePlace(children[i], image);
        }
        return image.toBytes();
    }
}
