package dev.heartwood.engine.trunk;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.base.ImageReader.MalformedImageException;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.OverflowGroup;
import dev.heartwood.engine.branch.OverflowGroups;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.image.NodeCodec;
import dev.heartwood.engine.image.NodePages;
import dev.heartwood.engine.node.KeySample;
import dev.heartwood.engine.node.NodePlace;
import dev.heartwood.engine.node.Pivot;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import dev.heartwood.engine.node.TrunkVersion;
import dev.heartwood.engine.page.PageType;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Writes the nodes of a version that are not on disk yet, and reads a tree back from the place of its root, marking every extent
 * that it reaches as used. One thread at a time.
 */
public final class TrunkImages {
    private final TreeStorage storage;
    private final NodePages pages;

    public TrunkImages(TreeStorage storage) {
        this.storage = storage;
        this.pages = new NodePages(storage);
    }

    /**
     * Writes what is not on disk yet, children before parents, by a {@code buffer} of a page; returns the place of the root. Does not sync.
     */
    public NodePlace write(TrunkVersion version, long generation, long buffer) {
        return write(version.root(), generation, buffer);
    }

    private NodePlace write(TrunkNode node, long generation, long buffer) {
        if (node.place() == null) {
            for (Pivot pivot : node.pivots()) {
                if (pivot.child() != null) {
                    write(pivot.child(), generation, buffer);
                }
            }
            node.place(pages.write(NodeCodec.encode(node), generation, buffer));
        }
        return node.place();
    }

    /** A trunk without data; {@code found} has no root. */
    public Trunk create(Found found, TreeShape shape, TrunkPolicies policy, Epochs epochs) {
        TrunkNode empty = TrunkNode.emptyLeaf(Keys.EMPTY);
        return new Trunk(empty, found.generation, found.nextId, shape, policy, epochs, storage.extents());
    }

    /** Where the last checkpoint left a tree. */
    public record Found(long[] rootPages, long rootGeneration, long generation, long nextId) {}

    /**
     * Reads a tree back. Where that fails the storage is closed: what was found is let go of, and nothing of it is free, since not all of it
     * is known to be in use.
     *
     * @throws CorruptionException when a page is damaged or an image makes no sense
     */
    public Trunk load(Found found, TreeShape shape, TrunkPolicies policy, Epochs epochs) {
        try (Reader reader = new Reader()) {
            TrunkNode root = reader.root(found);
            return new Trunk(root, found.generation, found.nextId, shape, policy, epochs, storage.extents());
        }
    }

    /** Extents that hold node images. */
    public int extentCount() {
        return pages.extentCount();
    }

    /** Makes objects of descriptors, each once; gives up its own references at the end, when the tree holds them. */
    private final class Reader implements NodeCodec.Objects, AutoCloseable {
        private final Map<Long, Run> runs = new HashMap<>();
        private final Map<Long, Maplet> maplets = new HashMap<>();
        private final OverflowGroups groups = new OverflowGroups();
        private final Set<Long> nodePagesSeen = new HashSet<>();
        private long page;

        TrunkNode root(Found found) {
            boolean isWhole = false;
            try {
                TrunkNode root = checked(found.rootPages.length == 0 ? 0 : found.rootPages[0], () -> {
                    NodeCodec.requirePages(found.rootPages);
                    TrunkNode decoded = child(place(found.rootPages, found.rootGeneration), -1);
                    markGroups();
                    return decoded;
                });
                isWhole = true;
                return root;
            } finally {
                if (!isWhole) {
                    storage.close();
                }
            }
        }

        @Override
        public TrunkNode child(NodePlace place, int height) {
            byte[] image = pages.read(place.pages(), place.generation());
            return checked(place.pages()[0], () -> {
                TrunkNode node = NodeCodec.decode(image, height, this);
                node.place(place);
                return node;
            });
        }

        private TrunkNode checked(long at, Supplier<TrunkNode> decoding) {
            long before = page;
            page = at;
            try {
                return decoding.get();
            } catch (MalformedImageException e) {
                throw new CorruptionException(
                        storage.device().name(), page, PageType.TRUNK.name(), "a trunk node", e.getMessage());
            } catch (IllegalStateException e) {
                throw new CorruptionException(
                        storage.device().name(), page, PageType.TRUNK.name(), "extents used once", e.getMessage());
            } finally {
                page = before;
            }
        }

        @Override
        public NodePlace place(long[] nodePages, long generation) {
            for (long nodePage : nodePages) {
                if (!nodePagesSeen.add(nodePage)) {
                    throw new MalformedImageException("page " + nodePage + " in two trunk nodes");
                }
            }
            return pages.recovered(nodePages, generation);
        }

        private void markGroups() {
            for (OverflowGroup group : groups.all()) {
                for (int extent : group.extents()) {
                    storage.extents().markUsed(extent);
                }
            }
        }

        @Override
        public Run run(int position, long id, byte[] descriptor, KeySample sample) {
            Run known = runs.get(id);
            if (known != null) {
                return known;
            }
            Branch branch = Branch.decode(
                    ByteBuffer.wrap(descriptor), storage.branches(), groups, storage.device().name(), page);
            requireId("branch", id, branch.id());
            for (int extent : branch.extents()) {
                storage.extents().markUsed(extent);
            }
            Run run = new Run(branch, sample);
            runs.put(id, run);
            return run;
        }

        @Override
        public Maplet maplet(long id, byte[] descriptor) {
            Maplet known = maplets.get(id);
            if (known != null) {
                return known;
            }
            Maplet maplet = Maplet.decode(
                    ByteBuffer.wrap(descriptor),
                    storage.device().name(),
                    page,
                    storage.maplets().releaser());
            requireId("maplet", id, maplet.id());
            for (int i = 0; i < maplet.extentCount(); i++) {
                storage.extents().markUsed(maplet.extent(i));
            }
            maplets.put(id, maplet);
            return maplet;
        }

        private void requireId(String what, long expected, long actual) {
            if (expected != actual) {
                throw new MalformedImageException(what + " " + actual + " under the id of " + expected);
            }
        }

        @Override
        public void close() {
            groups.close();
            runs.values().forEach(run -> run.branch().release());
            maplets.values().forEach(Maplet::release);
        }
    }
}
