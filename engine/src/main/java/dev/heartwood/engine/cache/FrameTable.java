package dev.heartwood.engine.cache;

import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;

/**
 * The frames of a cache and what is known about each: which page it holds, its status, whether it was accessed, its lock.
 * Frames are numbered from 1; 0 means none. Thread-safe as the table of shared fields in the package's description says.
 */
final class FrameTable {
    /** Free, in limbo, or just taken by a thread that will fill it: write-locked. */
    static final int FREE = 0;
    /** Holds a published page that the device has, too. */
    static final int CLEAN = 1;
    /** Holds a published page that the device does not have yet. */
    static final int DIRTY = 2;
    /** Holds a chunk of a direct map: write-locked until it is given back. Its owner is a page that the chunk is for. */
    static final int MAP = 3;
    /** Above it: being filled by the prefetch lane of the rest; write-locked. */
    private static final int LANES = 3;

    /*
     * A mark is how many hands of the clock the page survives. One page of an index or a filter stands for hundreds of leaves, and
     * reading it again costs as much as reading one of those, so it survives more of them. So does a page that was read ahead, until
     * its use, which is all but certain: its mark is negative.
     */
    private static final int UNMARKED = 0;
    private static final int HANDS_LEAF = 1;
    private static final int HANDS_INDEX = 4;
    private static final int HANDS_AHEAD = 4;

    private static final int PAGE_BITS = 40;
    private static final int OWNER_BYTES = 8;
    private static final int LINK_BYTES = 4;

    private final long origin;
    private final int last;
    private final int size;
    private final long owners;
    private final long links;
    private final long coldLinks;
    private final long statuses;
    private final long marks;
    private final DistributedLock locks;

    FrameTable(FrameBlocks blocks, int stripes) {
        this.origin = blocks.lowest() - PageLayout.PAGE_BYTES;
        this.last = blocks.spanFrames();
        this.size = blocks.frames();
        int slots = last + 1;
        this.owners = blocks.metadataAddress();
        this.links = owners + (long) OWNER_BYTES * slots;
        this.coldLinks = links + (long) LINK_BYTES * slots;
        long locksAddress = coldLinks + (long) LINK_BYTES * slots;
        this.statuses = locksAddress + DistributedLock.bytes(slots, stripes);
        this.marks = statuses + slots;
        Memory.fill(owners, locksAddress - owners, 0);
        Memory.fill(statuses, 2L * slots, 0);
        this.locks = new DistributedLock(locksAddress, slots, stripes);
    }

    static int metadataBytesPerFrame(int stripes) {
        return OWNER_BYTES + 2 * LINK_BYTES + (int) DistributedLock.bytes(1, stripes) + 2;
    }

    /** The highest frame number; some below it may not be ours. */
    int last() {
        return last;
    }

    /** The number of frames. */
    int size() {
        return size;
    }

    DistributedLock locks() {
        return locks;
    }

    long address(int frame) {
        return origin + ((long) frame << PageLayout.PAGE_SHIFT);
    }

    /** The frame at an address, or 0 when no frame is there. */
    int frameAt(long address) {
        long frame = address - origin >> PageLayout.PAGE_SHIFT;
        return frame > 0 && frame <= last ? (int) frame : 0;
    }

    int status(int frame) {
        return Memory.getByteAcquire(statuses + frame);
    }

    void setStatus(int frame, int status) {
        Memory.putByteRelease(statuses + frame, status);
    }

    /** Notes an access; writes only when it changes something, so a page in use costs its readers no write. */
    void touch(int frame, PageType type) {
        int mark = Memory.getByte(marks + frame);
        int hands = hands(type);
        if (mark != hands) {
            Memory.putByte(marks + frame, mark < UNMARKED ? UNMARKED : hands);
        }
    }

    /** Notes the load for the first access, which alone does not make a leaf worth keeping. */
    void load(int frame, PageType type) {
        int hands = hands(type);
        Memory.putByte(marks + frame, hands == HANDS_LEAF ? UNMARKED : hands);
    }

    private static int hands(PageType type) {
        return type == PageType.FILTER || type == PageType.BRANCH_INDEX ? HANDS_INDEX : HANDS_LEAF;
    }

    boolean isAccessed(int frame) {
        return Memory.getByte(marks + frame) > 0;
    }

    /** Notes that a hand of the clock passed a page that was accessed or read ahead. */
    void age(int frame) {
        int mark = Memory.getByte(marks + frame);
        Memory.putByte(marks + frame, mark - Integer.signum(mark));
    }

    void clearAccessed(int frame) {
        Memory.putByte(marks + frame, UNMARKED);
    }

    /** Notes that a page came in ahead of its use: its first access is the expected one and does not count. */
    void markAhead(int frame) {
        Memory.putByte(marks + frame, -HANDS_AHEAD);
    }

    boolean isAhead(int frame) {
        return Memory.getByte(marks + frame) < UNMARKED;
    }

    /** Says which page of which file a frame holds; the caller holds its write lock. */
    void setOwner(int frame, int fileSlot, long pageNumber) {
        assert pageNumber >>> PAGE_BITS == 0;
        Memory.putLong(owners + (long) OWNER_BYTES * frame, (long) fileSlot << PAGE_BITS | pageNumber);
    }

    int ownerSlot(int frame) {
        return (int) (Memory.getLong(owners + (long) OWNER_BYTES * frame) >>> PAGE_BITS);
    }

    long ownerPage(int frame) {
        return Memory.getLong(owners + (long) OWNER_BYTES * frame) & (1L << PAGE_BITS) - 1;
    }

    /** Says, before a frame is shown as loading, that prefetch lane {@code lane}, from 1, loads it. */
    void setLane(int frame, int lane) {
        setStatus(frame, LANES + lane);
    }

    /**
     * The prefetch lane that loads a frame, or 0: none does, or no longer. Asked about a frame that may be used for something
     * else already, so it must not be in a field that then means something else.
     */
    int lane(int frame) {
        return Math.max(status(frame) - LANES, 0);
    }

    /** The next frame in a list of frames that hold nothing. */
    int link(int frame) {
        return Memory.getIntVolatile(links + (long) LINK_BYTES * frame);
    }

    void setLink(int frame, int value) {
        Memory.putIntRelease(links + (long) LINK_BYTES * frame, value);
    }

    /** The next frame in the cold queue; 0 when the frame is not in it, -1 when it is the last. */
    int coldLink(int frame) {
        return Memory.getInt(coldLinks + (long) LINK_BYTES * frame);
    }

    void setColdLink(int frame, int value) {
        Memory.putInt(coldLinks + (long) LINK_BYTES * frame, value);
    }

    /** Fills a frame that becomes free with a pattern, so that a reader with a stale address is noticed. */
    boolean poison(int frame) {
        Memory.fill(address(frame), PageLayout.PAGE_BYTES, 0xDB);
        return true;
    }
}
