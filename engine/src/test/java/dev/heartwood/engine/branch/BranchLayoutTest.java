package dev.heartwood.engine.branch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.branch.BranchFixture.Entry;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The stored bytes of every structure: a change here is a new format version. */
class BranchLayoutTest {
    private BranchFixture fixture;

    @BeforeEach
    void open() {
        fixture = new BranchFixture();
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private static Entry entry(String key, long sequence, byte kind, String value) {
        return new Entry(BranchFixture.bytes(key), sequence, kind, BranchFixture.bytes(value));
    }

    private String body(Branch branch, int number, PageType type, int from, int length) {
        long page = fixture.file.lockShared(branch.devicePage(number), type, branch.id());
        try {
            return HexFormat.of().formatHex(Memory.bytes(page + from, length));
        } finally {
            fixture.file.unlockShared(page);
        }
    }

    @Test
    void leafBytes() {
        Branch branch = fixture.write(List.of(
                entry("abc", 5, Entries.PUT, "v"),
                entry("abcdefgh", 7, Entries.MERGE, ""),
                entry("abcdefgh", 0, Entries.DELETE, ""),
                entry("abd", 300, Entries.PUT, "xyz")));
        String expected = "0400" + "0200" + "5d00" // count, prefix length, end
                + "00" + "00" + "0500000000000000" // level, no value goes on, sequence base
                + "00000063" + "66656463" + "66656463" + "00000064" // heads: c, cdef, cdef, d, padded, last byte first
                + "4a00" + "4d00" + "5200" + "5600" // slots
                + "6162" // prefix
                + "05" + "01" + "76" // put, the base itself; c; v
                + "0b" + "02" + "06" + "6768" // merge, base + 2; cdefgh; no value
                + "02" + "06" + "6768" // delete, sequence 0
                + "0d" + "2701" + "01" + "78797a" // put, base + 295; d; xyz
                + "000000";
        assertEquals(expected, body(branch, 0, PageType.BRANCH_LEAF, 32, expected.length() / 2));
        branch.release();
    }

    @Test
    void indexBytes() {
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            entries.add(entry("key%02d".formatted(i * 3), 0, Entries.PUT, "x".repeat(1000)));
        }
        Branch branch = fixture.write(entries);
        assertEquals(new BranchShape(3, 3, 4, 1), branch.shape());
        String expected = "0200" + "0300" + "4300" // count, prefix length, end
                + "01" + "00" + "0000000000000000" // level, zero, first child
                + "00000031" + "00003432" // heads: 1, 24
                + "3f00" + "4100" // slots
                + "6b6579" // prefix
                + "01" + "01" // key1, the shortest between key09 and key12
                + "01" + "02" // key24, the shortest between key21 and key24
                + "0000";
        assertEquals(expected, body(branch, 3, PageType.BRANCH_INDEX, 32, expected.length() / 2));
        branch.release();
    }

    @Test
    void bytesOfAValueThatGoesOnInTheNextLeaf() {
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            entries.add(entry("key%d".formatted(i), 0, Entries.PUT, "x".repeat(700) + "y".repeat(150)));
        }
        Branch branch = fixture.write(entries);
        assertEquals(new BranchShape(2, 2, 3, 1), branch.shape());
        String first = "0500" + "0300" + "0010" // count, prefix length, end: that of the page
                + "00" + "01" + "0000000000000000"; // level, the last value goes on
        assertEquals(first, body(branch, 0, PageType.BRANCH_LEAF, 32, first.length() / 2));
        // Head, slots, prefix; four entries of kind, length of the key, value; the fifth's kind and length.
        int here = 4096 - (48 + 5 * 6 + 3 + 4 * 852 + 2 + 2);
        String end = "78".repeat(4) + "%02x%02x".formatted(850 - here & 0xff, 850 - here >> 8);
        assertEquals(end, body(branch, 0, PageType.BRANCH_LEAF, 4090, 6));
        String second = "0100" + "0400" + "8e03" + "00" + "00"; // count, prefix length, end
        assertEquals(second, body(branch, 1, PageType.BRANCH_LEAF, 32, second.length() / 2));
        String rest = "00" + "78".repeat(700 - here) + "79".repeat(150);
        assertEquals(rest, body(branch, 1, PageType.BRANCH_LEAF, 4096 - (850 - here) - 1, rest.length() / 2));
        branch.release();
    }

    @Test
    void descriptorBytes() {
        Branch branch = fixture.write(List.of(
                entry("a", 3, Entries.PUT, "1"), entry("b", 2, Entries.DELETE, ""), entry("c", 1, Entries.PUT, "2".repeat(2000))));
        ByteBuffer image = ByteBuffer.allocate(branch.encodedBytes());
        branch.encode(image);
        String expected = "01" + "01" + "01010100" // version, id; leaves, first index page, pages, levels
                + "03" + "01" + "d40f" + "03" // entries, tombstones, bytes of data, greatest sequence
                + "01" + "02" + "01" // one run of extents: from 1, one of them
                + "0161" + "0163" // first and last key
                + "01" + "01" + "d00f" + "d00f" // one group: id, bytes, bytes referred to
                + "01" + "04" + "01"; // its extent is 2
        assertEquals(expected, HexFormat.of().formatHex(image.array()));
        branch.release();
    }

    @Test
    void overflowBytes() {
        byte[] value = new byte[5000];
        for (int i = 0; i < value.length; i++) {
            value[i] = (byte) (i * 31);
        }
        Branch branch = fixture.write(List.of(new Entry(new byte[] {1}, 0, Entries.PUT, value)));
        OverflowGroup group = branch.overflowGroups()[0];
        assertEquals(5000, group.bytes());
        assertEquals(2, group.pageCount());
        byte[] found = new byte[8192];
        for (int i = 0; i < 2; i++) {
            long page = fixture.file.lockShared(group.devicePage(i), PageType.OVERFLOW, group.id());
            Memory.copyTo(page, found, i * 4096, 4096);
            fixture.file.unlockShared(page);
        }
        int bodyBytes = PageLayout.PAGE_BYTES - PageLayout.BODY;
        assertEquals(0, Arrays.compare(found, 32, 4096, value, 0, bodyBytes));
        assertEquals(0, Arrays.compare(found, 4096 + 32, 4096 + 32 + 5000 - bodyBytes, value, bodyBytes, 5000));
        // The reference: group 0, position 0, length 5000.
        assertEquals("000000000000000088130000", body(branch, 0, PageType.BRANCH_LEAF, 32 + 16 + 6 + 1 + 2, 12));
        branch.release();
    }
}
