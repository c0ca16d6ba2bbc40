package dev.heartwood.engine.branch;

import static dev.heartwood.engine.branch.OverflowLayout.PAGE_PAYLOAD_BYTES;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.page.PageLayout;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The stored form of a branch descriptor.
 *
 * <pre>
 *  [version 1 u8] id, leaves, first index page, pages, levels, entries, tombstones, data bytes, greatest sequence: varints
 *  extents; first key, last key: [length varint][bytes]
 *  [groups varint] and for each: id, bytes, bytes referred to: varints; extents
 *
 *  extents: [runs varint] and for each: [first, as zigzag varint of the distance from the end of the run before][length varint]
 * </pre>
 */
final class BranchCodec {
    private static final int VERSION = 1;

    /** So many extents are read whether the file has them or not: what is left of a file that was cut off can be read. */
    private static final int EXTENTS_ANYWAY = 1 << 16;

    private final ByteBuffer from;
    private final String file;
    private final long page;

    private BranchCodec(ByteBuffer from, String file, long page) {
        this.from = from;
        this.file = file;
        this.page = page;
    }

    static int encodedBytes(Branch branch) {
        // Varints take at most 10 bytes; exact sizes come from writing to a buffer of that bound.
        ByteBuffer bound = ByteBuffer.allocate(boundBytes(branch));
        encode(branch, bound);
        return bound.position();
    }

    private static int boundBytes(Branch branch) {
        int runs = branch.extents.length;
        for (OverflowGroup group : branch.groups) {
            runs += group.extents().length;
        }
        return 1 + 14 * 10 + branch.firstKey().length + branch.lastKey().length + 20 * runs + 40 * branch.groups.length;
    }

    static void encode(Branch branch, ByteBuffer to) {
        BranchShape shape = branch.shape;
        BranchStats stats = branch.stats();
        to.put((byte) VERSION);
        putVarint(to, branch.id);
        putVarint(to, shape.leafPages());
        putVarint(to, shape.firstIndexPage());
        putVarint(to, shape.pageCount());
        putVarint(to, shape.levels());
        putVarint(to, stats.entries());
        putVarint(to, stats.tombstones());
        putVarint(to, stats.dataBytes());
        putVarint(to, stats.sequenceMax());
        putExtents(to, branch.extents);
        putBytes(to, branch.firstKey());
        putBytes(to, branch.lastKey());
        putVarint(to, branch.groups.length);
        for (int i = 0; i < branch.groups.length; i++) {
            OverflowGroup group = branch.groups[i];
            putVarint(to, group.id());
            putVarint(to, group.bytes());
            putVarint(to, branch.overflowBytes()[i]);
            putExtents(to, group.extents());
        }
    }

    static Branch decode(ByteBuffer from, BranchStorage storage, OverflowGroups groups, String file, long page) {
        BranchCodec codec = new BranchCodec(from, file, page);
        try {
            return codec.decode(storage, groups);
        } catch (BufferUnderflowException e) {
            throw codec.corrupt("a whole descriptor", "its end");
        }
    }

    private Branch decode(BranchStorage storage, OverflowGroups groups) {
        int version = from.get();
        require(version == VERSION, "descriptor version " + VERSION, version);
        long id = varint();
        BranchShape shape = new BranchShape(number(), number(), number(), number());
        BranchStats stats = new BranchStats(varint(), varint(), varint(), varint());
        requireShape(shape);
        require(stats.entries() >= shape.leafPages() && stats.tombstones() <= stats.entries(), "counts that agree", stats);
        int[] extents = extents(storage, (shape.pageCount() + PageLayout.EXTENT_PAGES - 1L) / PageLayout.EXTENT_PAGES);
        byte[] firstKey = bytes();
        byte[] lastKey = bytes();
        require(Arrays.compareUnsigned(firstKey, lastKey) <= 0, "a first key at or before the last", "the opposite");
        int count = number();
        require(count <= KeyedPageLayout.GROUPS_MAX && count <= from.remaining(), "overflow groups that are there", count);
        OverflowGroup[] found = new OverflowGroup[count];
        long[] groupBytes = new long[count];
        for (int i = 0; i < count; i++) {
            long groupId = varint();
            long bytes = varint();
            groupBytes[i] = varint();
            require(bytes > 0 && bytes <= (long) Integer.MAX_VALUE * PAGE_PAYLOAD_BYTES, "a size of a group", bytes);
            long pages = (bytes + PAGE_PAYLOAD_BYTES - 1) / PAGE_PAYLOAD_BYTES;
            int[] groupExtents = extents(storage, (pages + PageLayout.EXTENT_PAGES - 1) / PageLayout.EXTENT_PAGES);
            if (!groups.has(groupId)) {
                requireAdmitted(groups, groupExtents, storage);
            }
            found[i] = groups.resolve(storage, groupId, groupExtents, bytes);
            require(found[i] != null, "overflow group " + groupId + " as other branches know it", "another");
        }
        requireAdmitted(groups, extents, storage);
        return new Branch(storage, id, extents, shape, stats, firstKey, lastKey, found, groupBytes);
    }

    /** A few bytes for each of many lists could stand for extents without end. */
    private void requireAdmitted(OverflowGroups groups, int[] extents, BranchStorage storage) {
        require(groups.admits(extents, extentsOf(storage)), "no more extents in all than the file has", extents.length);
    }

    private static long extentsOf(BranchStorage storage) {
        return storage.file().device().size() / PageLayout.EXTENT_BYTES;
    }

    private void requireShape(BranchShape shape) {
        boolean sound = shape.leafPages() >= 1
                && shape.levels() <= KeyedPageLayout.LEVELS_MAX
                && shape.firstIndexPage() >= shape.leafPages()
                && (shape.levels() == 0
                        ? shape.leafPages() == 1 && shape.pageCount() == 1
                        : shape.pageCount() >= (long) shape.firstIndexPage() + shape.levels());
        require(sound, "a shape of a tree", shape);
    }

    private int[] extents(BranchStorage storage, long expected) {
        int runs = number();
        require(runs <= from.remaining(), "runs of extents that are there", runs);
        require(expected <= Integer.MAX_VALUE, "a number of extents", expected);
        boolean isPlausible = expected <= EXTENTS_ANYWAY || expected <= extentsOf(storage);
        require(isPlausible, "no more extents than the file has", expected);
        int[] extents = new int[(int) Math.min(expected, EXTENTS_ANYWAY)];
        int count = 0;
        long end = 0;
        for (int run = 0; run < runs; run++) {
            long zigzag = varint();
            long first = end + (zigzag >>> 1 ^ -(zigzag & 1));
            int length = number();
            end = first + length;
            require(first >= 0 && length > 0 && end <= Integer.MAX_VALUE, "extents of a file", first + " and " + length);
            require(count + (long) length <= expected, expected + " extents", "more");
            if (count + length > extents.length) {
                extents = Arrays.copyOf(extents, (int) Math.min(expected, Math.max(count + length, 2L * count)));
            }
            for (int i = 0; i < length; i++) {
                extents[count++] = (int) (first + i);
            }
        }
        require(count == expected, expected + " extents", count);
        return extents;
    }

    private byte[] bytes() {
        int length = number();
        require(length <= Branch.KEY_BYTES_MAX && length <= from.remaining(), "a key", "a length of " + length);
        byte[] bytes = new byte[length];
        from.get(bytes);
        return bytes;
    }

    private int number() {
        long value = varint();
        require(value <= Integer.MAX_VALUE, "an int", value);
        return (int) value;
    }

    private long varint() {
        long value = 0;
        for (int shift = 0; shift < 63; shift += 7) {
            long b = from.get();
            value |= (b & 0x7f) << shift;
            if (b >= 0) {
                return value;
            }
        }
        throw corrupt("a varint of at most 63 bits", "a longer one");
    }

    private void require(boolean condition, String expected, Object found) {
        if (!condition) {
            throw corrupt(expected, String.valueOf(found));
        }
    }

    private CorruptionException corrupt(String expected, String found) {
        return new CorruptionException(file, page, "branch descriptor", expected, found);
    }

    private static void putExtents(ByteBuffer to, int[] extents) {
        int runs = 0;
        for (int i = 0; i < extents.length; i++) {
            runs += i == 0 || extents[i] != extents[i - 1] + 1 ? 1 : 0;
        }
        putVarint(to, runs);
        long end = 0;
        for (int i = 0; i < extents.length; ) {
            int length = 1;
            while (i + length < extents.length && extents[i + length] == extents[i] + length) {
                length++;
            }
            long distance = extents[i] - end;
            putVarint(to, distance << 1 ^ distance >> 63);
            putVarint(to, length);
            end = (long) extents[i] + length;
            i += length;
        }
    }

    private static void putBytes(ByteBuffer to, byte[] bytes) {
        putVarint(to, bytes.length);
        to.put(bytes);
    }

    private static void putVarint(ByteBuffer to, long value) {
        assert value >= 0;
        long rest = value;
        while (rest >= 0x80) {
            to.put((byte) (rest | 0x80));
            rest >>>= 7;
        }
        to.put((byte) rest);
    }
}
