package dev.heartwood.engine.image;

import dev.heartwood.CorruptionException;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.OverflowGroup;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Looks for the root of a tree when nothing tells where it is, among all pages of a data file that say they are of the trunk. Reads
 * and changes nothing else. One thread; used once.
 */
public final class RootSearch {
    /*
     * A checkpoint writes a node and everything above it anew, all under a generation of its own, children first. So the images of the
     * greatest hold its root: the one that no other image refers to. It counts when every node below it can be read. If not, the
     * checkpoint was never completed, or is damaged, and the one before is looked at; most of what that reached may be overwritten.
     *
     * A child must not be taken for a root that is not there any more. So a checkpoint of which some page of the trunk is damaged does
     * not count; nor a node that does not begin with the least key, nor one that an image of a later checkpoint refers to. A
     * node lower than others of its checkpoint or a later one, or beside such, counts only when there is none that is high enough:
     * the tree may have grown since.
     *
     * Nor for a root that was never written: of a checkpoint that was broken off there may be nothing but the leftmost child, which is
     * whole and has the least key, or children alone. The root before it is as high as that child, or higher. So where the next older root is
     * higher, or as high with keys behind all of the newer one's, it is taken. A tree that had become lower, or lost its last keys, loses
     * what was written between the two roots, instead of most of what it had. What an attempt left that failed is lower as well.
     *
     * Pages of an image follow each other within an extent. Where an image goes on in another extent, it does so on that one's first
     * page, and if more than one may be that page the image is not used.
     */
    /** Where a root is: its pages, and the generation that they carry. */
    public record Root(long[] pages, long generation) {}

    private record Image(long firstPage, long generation) {}

    private record Part(long page, long generation, int length, int index) {
        boolean isFollowedBy(Part other) {
            return other.generation == generation && other.length == length && other.index == index + 1;
        }

        int count() {
            return Math.max(1, (length + NodePages.PART_BYTES - 1) / NodePages.PART_BYTES);
        }
    }

    private final Map<Long, TreeMap<Long, Part>> partsByStore = new HashMap<>();
    private TreeMap<Long, Part> parts = new TreeMap<>();
    /** What images of the checkpoints looked at have below them. */
    private final Set<Image> referredTo = new HashSet<>();
    /** The generations that damaged pages say they are of. */
    private final Set<Long> damagedCheckpoints = new HashSet<>();

    private long passedOver;

    /** Reads every page of the file; takes an extent of {@code buffers} meanwhile. */
    public RootSearch(BlockDevice device, MemoryPool buffers) {
        long buffer = buffers.allocate(PageLayout.EXTENT_BYTES);
        if (buffer == 0) {
            throw new InsufficientMemoryException("no buffer to search a file with");
        }
        try {
            long pages = device.size() >>> PageLayout.PAGE_SHIFT;
            for (long first = 0; first < pages; first += PageLayout.EXTENT_PAGES) {
                int count = (int) Math.min(PageLayout.EXTENT_PAGES, pages - first);
                if (!read(device, first, count, buffer)) {
                    for (int i = 0; i < count; i++) {
                        read(device, first + i, 1, buffer);
                    }
                }
            }
        } finally {
            buffers.free(buffer, PageLayout.EXTENT_BYTES);
        }
    }

    /** Takes what is on some pages; returns whether the device could read them. */
    private boolean read(BlockDevice device, long first, int count, long buffer) {
        try {
            device.read(first << PageLayout.PAGE_SHIFT, buffer, count << PageLayout.PAGE_SHIFT);
        } catch (ReadFailedException e) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            take(buffer + ((long) i << PageLayout.PAGE_SHIFT), first + i, device.name());
        }
        return true;
    }

    private void take(long address, long page, String file) {
        if (Memory.getUnsignedByte(address + PageLayout.TYPE) != PageType.TRUNK.code()) {
            return;
        }
        long storeId = Memory.getLong(address + PageLayout.STORE_ID);
        long generation = Memory.getLong(address + PageLayout.GENERATION);
        try {
            PageSeal.verify(address, PageType.TRUNK, storeId, page, generation, file);
        } catch (CorruptionException damaged) {
            damagedCheckpoints.add(generation);
            return;
        }
        int length = Memory.getInt(address + NodePages.IMAGE_LENGTH);
        int index = Memory.getInt(address + NodePages.INDEX);
        if (length >= 0 && length <= NodePages.IMAGE_BYTES_MAX && index >= 0) {
            partsByStore.computeIfAbsent(storeId, id -> new TreeMap<>()).put(page, new Part(page, generation, length, index));
        }
    }

    /** The store that most of the pages found are of; 0 when there is none. */
    public long storeId() {
        return partsByStore.entrySet().stream()
                .max(Comparator.comparingInt(entry -> entry.getValue().size()))
                .map(Map.Entry::getKey)
                .orElse(0L);
    }

    /**
     * The newest root below which every node can be read, of all checkpoints before one; null when there is none. Where it may be a part of the
     * one before it, that one; see {@link #passedOver}.
     */
    public Root newest(TreeStorage storage, long before) {
        parts = partsByStore.getOrDefault(storage.storeId(), new TreeMap<>());
        TreeMap<Long, List<long[]>> images = new TreeMap<>(Comparator.reverseOrder());
        for (Part part : parts.values()) {
            long[] pages = part.index == 0 ? pagesOf(part) : null;
            if (pages != null) {
                images.computeIfAbsent(part.generation, g -> new ArrayList<>()).add(pages);
            }
        }
        int height = 0;
        Root lower = null;
        Root child = null;
        Found newest = null;
        for (Map.Entry<Long, List<long[]>> checkpoint : images.entrySet()) {
            long generation = checkpoint.getKey();
            Found found = find(storage, checkpoint.getValue(), generation);
            height = Math.max(height, found.height);
            if (found.root == null || generation >= before || damagedCheckpoints.contains(generation)) {
                continue;
            }
            if (newest != null && found.rootHeight >= found.height) {
                passedOver = newest.isPartOf(found) ? newest.root.generation : 0;
                return passedOver == 0 ? newest.root : found.root;
            }
            if (newest == null && found.rootHeight >= height) {
                newest = found;
            }
            child = child == null ? found.root : child;
            lower = lower == null && found.rootHeight >= found.height ? found.root : lower;
        }
        return newest != null ? newest.root : lower != null ? lower : child;
    }

    /** The checkpoint of a newer root than the one that was found, which may be a part of what was never completed; 0 when there is none. */
    public long passedOver() {
        return passedOver;
    }

    /** All pages of the image that begins with a part; null when they are not there. */
    private long[] pagesOf(Part first) {
        long[] pages = new long[first.count()];
        Part part = first;
        for (int i = 0; i < pages.length; i++) {
            if (part == null) {
                return null;
            }
            pages[i] = part.page;
            part = i + 1 < pages.length ? following(part) : part;
        }
        return pages;
    }

    private Part following(Part part) {
        long next = part.page + 1;
        if (next % PageLayout.EXTENT_PAGES != 0) {
            Part neighbour = parts.get(next);
            return neighbour != null && part.isFollowedBy(neighbour) ? neighbour : null;
        }
        Part found = null;
        for (Part other : parts.values()) {
            if (other.page % PageLayout.EXTENT_PAGES == 0 && part.isFollowedBy(other)) {
                if (found != null) {
                    return null;
                }
                found = other;
            }
        }
        return found;
    }

    /**
     * What one checkpoint has.
     *
     * @param root the root; null when it is not known
     * @param rootHeight levels of nodes below it
     * @param lastKey no key below the root is greater
     * @param height so many levels at least lie below the root that the checkpoint had
     */
    private record Found(Root root, int rootHeight, byte[] lastKey, int height) {
        /** Whether what was found may be a child of a root that was never written, and the other the root before. */
        boolean isPartOf(Found before) {
            return rootHeight < before.rootHeight || rootHeight == before.rootHeight && Keys.compare(lastKey, before.lastKey) < 0;
        }
    }

    /**
     * Of the images of one checkpoint the one that no other refers to, nor one of a later checkpoint, if everything below it can be read; of
     * several the highest.
     */
    private Found find(TreeStorage storage, List<long[]> images, long generation) {
        List<Below> whole = new ArrayList<>();
        int height = 0;
        for (long[] image : images) {
            Below below = new Below(image);
            TreeWalk.walk(storage, image, generation, below);
            height = Math.max(height, below.height + (below.hasLeastKey ? 0 : 1));
            if (!below.isDamaged && below.hasLeastKey) {
                whole.add(below);
            }
        }
        whole.removeIf(below -> referredTo.contains(new Image(below.image[0], generation)));
        whole.sort(Comparator.comparingInt((Below below) -> below.height).reversed());
        if (whole.isEmpty() || whole.size() > 1 && whole.get(1).height == whole.getFirst().height) {
            return new Found(null, 0, Keys.EMPTY, height);
        }
        Below root = whole.getFirst();
        return new Found(new Root(root.image, generation), root.height, root.lastKey, height);
    }

    /** Takes note of the nodes below one, and whether they can be read. */
    private final class Below implements TreeWalk.Visitor {
        private final long[] image;
        private boolean isDamaged;
        /** Whether the node itself begins with the least key, as a root does; true also of one that cannot be read. */
        private boolean hasLeastKey = true;
        /** Levels below the node itself. */
        private int height;
        private byte[] lastKey = Keys.EMPTY;

        Below(long[] image) {
            this.image = image;
        }

        @Override
        public void node(TreeWalk.Node node) {
            if (node.depth() == 0) {
                hasLeastKey = node.pivots().getFirst().key().length == 0;
                height = node.height();
            }
            reach(node.pivots().getLast().key());
            for (TreeWalk.BundleView bundle : node.bundles()) {
                byte[] end = bundle.span().to();
                for (TreeWalk.RunView run : bundle.runs()) {
                    if (run.lastKey() != null) {
                        reach(end != null && Keys.compare(end, run.lastKey()) < 0 ? end : run.lastKey());
                    }
                }
            }
        }

        private void reach(byte[] key) {
            lastKey = Keys.compare(key, lastKey) > 0 ? key : lastKey;
        }

        @Override
        public void branch(Branch branch) {}

        @Override
        public void maplet(Maplet maplet) {}

        @Override
        public void group(OverflowGroup group) {}

        @Override
        public void place(long[] nodePages, long generation) {
            if (nodePages[0] != image[0]) {
                referredTo.add(new Image(nodePages[0], generation));
            }
        }

        @Override
        public void damage(long page, Span span, String text) {
            isDamaged = true;
        }
    }
}
