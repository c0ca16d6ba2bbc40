package dev.heartwood.engine.branch;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.page.PageLayout;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An immutable, packed B-tree of entries in extents of its own: the descriptor that says where it is and what it holds.
 * Thread-safe. Counted: it begins with one reference, and gives its extents back when the last one goes.
 */
public final class Branch {
    /** The longest key. */
    public static final int KEY_BYTES_MAX = 64 << 10;

    final BranchStorage storage;
    final long id;
    final int[] extents;
    final BranchShape shape;
    final OverflowGroup[] groups;
    final ScanLength scanLength = new ScanLength();
    final ScanLength largeScanLength = new ScanLength();
    private final BranchStats stats;
    private final byte[] firstKey;
    private final byte[] lastKey;
    private final long[] groupBytes;
    private final AtomicInteger references = new AtomicInteger(1);
    private final Runnable releasing;

    Branch(
            BranchStorage storage,
            long id,
            int[] extents,
            BranchShape shape,
            BranchStats stats,
            byte[] firstKey,
            byte[] lastKey,
            OverflowGroup[] groups,
            long[] groupBytes) {
        this.storage = storage;
        this.id = id;
        this.extents = extents;
        this.shape = shape;
        this.stats = stats;
        this.firstKey = firstKey;
        this.lastKey = lastKey;
        this.groups = groups;
        this.groupBytes = groupBytes;
        this.releasing = storage.releaser().releasing(extents);
        for (int i = 0; i < groups.length; i++) {
            groups[i].retain(groupBytes[i]);
        }
    }

    /** The number that no other branch of the store ever had. */
    public long id() {
        return id;
    }

    /** The branch's own extents, in order, without those of its overflow groups; not to be changed. */
    public int[] extents() {
        return extents;
    }

    /** How its pages are numbered. */
    public BranchShape shape() {
        return shape;
    }

    /** What it holds. */
    public BranchStats stats() {
        return stats;
    }

    public int leafPages() {
        return shape.leafPages();
    }

    public int pageCount() {
        return shape.pageCount();
    }

    public int levels() {
        return shape.levels();
    }

    public long entries() {
        return stats.entries();
    }

    public long dataBytes() {
        return stats.dataBytes();
    }

    public long tombstones() {
        return stats.tombstones();
    }

    public long sequenceMax() {
        return stats.sequenceMax();
    }

    /** The smallest key; not to be changed. */
    public byte[] firstKey() {
        return firstKey;
    }

    /** The greatest key; not to be changed. */
    public byte[] lastKey() {
        return lastKey;
    }

    /** The overflow groups that it refers to; not to be changed. */
    public OverflowGroup[] overflowGroups() {
        return groups;
    }

    /** How much of each overflow group it refers to; not to be changed. */
    public long[] overflowBytes() {
        return groupBytes;
    }

    /** Bytes of the file that its own pages take, whole extents. */
    public long fileBytes() {
        return (long) extents.length * PageLayout.EXTENT_BYTES;
    }

    /** The page of the file that holds page {@code page} of the branch. */
    public long devicePage(int page) {
        return Extents.devicePage(extents, page);
    }

    /** The number of the root within the branch: the only leaf when there are no index pages. */
    int root() {
        return shape.pageCount() - 1;
    }

    /** Adds a reference; the caller holds one. */
    public void retain() {
        if (references.getAndIncrement() <= 0) {
            throw new IllegalStateException("branch " + id + " is released");
        }
    }

    /** Gives up a reference; with the last one the extents go back. */
    public void release() {
        int left = references.decrementAndGet();
        if (left < 0) {
            throw new IllegalStateException("branch " + id + " is released twice");
        }
        if (left == 0) {
            for (int i = 0; i < groups.length; i++) {
                groups[i].release(groupBytes[i]);
            }
            releasing.run();
        }
    }

    /** The bytes that {@link #encode} writes. */
    public int encodedBytes() {
        return BranchCodec.encodedBytes(this);
    }

    /** Writes the descriptor. */
    public void encode(ByteBuffer to) {
        BranchCodec.encode(this, to);
    }

    /**
     * Reads a descriptor that {@link #encode} wrote; the caller holds one reference to the branch.
     *
     * @param groups the overflow groups met so far, so that branches share them
     * @param file what errors call the file, as {@code page} is the page that the bytes came from
     * @throws CorruptionException when the bytes are not a descriptor
     */
    public static Branch decode(ByteBuffer from, BranchStorage storage, OverflowGroups groups, String file, long page) {
        return BranchCodec.decode(from, storage, groups, file, page);
    }

    @Override
    public String toString() {
        return "branch " + id + ": " + shape.leafPages() + " leaves, " + stats.entries() + " entries";
    }
}
