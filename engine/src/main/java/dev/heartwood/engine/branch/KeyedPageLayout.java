package dev.heartwood.engine.branch;

import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.page.PageLayout;

/**
 * The page of sorted keys that leaves and index pages share.
 *
 * <pre>
 *  32      34       36    38      39     40             48          48+4n       48+6n
 *  +-------+--------+-----+-------+------+--------------+-----------+-----------+--------+---------+------------
 *  | count | prefix | end | level | more | base / child | heads 4*n | slots 2*n | prefix | entries | zero, rest
 *  +-------+--------+-----+-------+------+--------------+-----------+-----------+--------+---------+------------
 * </pre>
 *
 * <p>{@code prefix} is the length of what all keys of the page begin with. A head is the four bytes of a key after that,
 * big-endian as a number and padded with zeroes, stored as a little-endian int: counting the heads below a wanted one finds the
 * place of a key within the page's first cache lines. A slot is the offset in the page where an entry begins; it ends where the
 * next one begins, the last one at {@code end}. In a leaf (level 0) the field at 40 is the sequence number from which the
 * entries' own are counted; in an index page of level L it is the number within the branch of the first child, of level L-1; the
 * other children follow it. An index page has one child more than it has entries: child i+1 begins at, or right behind, the
 * separator in entry i.
 *
 * <p>An entry:
 *
 * <pre>
 *  +------+----------+-----------+------+-------------------+----------------------------+
 *  | meta | sequence | remainder | rest | [key reference]   | value or [value reference] |
 *  +------+----------+-----------+------+-------------------+----------------------------+
 *     1     0..8       1 or 2             12                  leaf only
 *
 *  meta   bits 0-1 kind; bits 2-5 sequence code; bit 6 the key goes on in an overflow group; bit 7 the value is in one
 *  code   0: the sequence is 0; c: it is the base plus the next c-1 bytes, little-endian (in an index page the base is 0)
 *  remainder   length of the key after the prefix: one byte below 128, else two: 0x80 + low 7 bits, then the bits above
 *  rest   the remainder after its head
 * </pre>
 *
 * <p>A reference is {@code [group u16][position u48][length u32]}: an index into the branch's list of overflow groups, where in
 * the group's bytes it begins, and the length of the whole value or of the whole key, of which the entry has the first {@value
 * #LONG_KEY_INLINE_BYTES} bytes. The prefix ends at least four bytes before those do. The kind of a separator is {@link #SEPARATOR}, {@link
 * #SEPARATOR_VERSIONED} or {@link #SEPARATOR_CONTINUED}.
 *
 * <p>The last value of a leaf may go on in the next leaf: {@code more} is 1 then, else 0, and the entry ends with how many of its bytes
 * come there ({@code u16}). They are the last bytes of that page. No value goes on in a leaf whose number in the branch is a multiple of {@value
 * #CONTINUED_GROUP_PAGES}, so both lie in one extent.
 */
final class KeyedPageLayout {
    static final int COUNT = PageLayout.BODY;
    static final int PREFIX_LENGTH = COUNT + 2;
    static final int END = PREFIX_LENGTH + 2;
    static final int LEVEL = END + 2;
    static final int MORE = LEVEL + 1;
    static final int SEQUENCE_BASE = MORE + 1;
    static final int FIRST_CHILD = SEQUENCE_BASE;
    static final int HEADS = SEQUENCE_BASE + 8;

    static final int HEAD_BYTES = 4;
    static final int SLOT_BYTES = 2;
    static final int META_BYTES = 1;
    static final int ENTRY_BYTES_MIN = META_BYTES + 1;
    static final int ENTRIES_MAX =
            (PageLayout.PAGE_BYTES - HEADS) / (HEAD_BYTES + SLOT_BYTES + ENTRY_BYTES_MIN);

    static final int KIND_MASK = 3;
    static final int SEQUENCE_CODE_SHIFT = 2;
    static final int SEQUENCE_CODE_MASK = 15;
    static final int SEQUENCE_CODE_MAX = 9;
    static final int KEY_OVERFLOWS = 1 << 6;
    static final int VALUE_OVERFLOWS = 1 << 7;

    /** Every version of the separator's key lies to the right. */
    static final int SEPARATOR = 1;
    /** The versions of the separator's key below its sequence number lie to the right. */
    static final int SEPARATOR_VERSIONED = 2;
    /** Every version of the separator's key lies to the left, and its value goes on to the right. */
    static final int SEPARATOR_CONTINUED = 3;

    static final int REFERENCE_BYTES = 12;
    static final int REFERENCE_GROUP = 0;
    static final int REFERENCE_POSITION = 2;
    static final int REFERENCE_LENGTH = 8;
    /** What an index into the list of overflow groups can tell apart. */
    static final int GROUPS_MAX = 1 << 16;

    /** The longest key and value held whole in a leaf. */
    static final int KEY_INLINE_BYTES_MAX = 1024;
    static final int VALUE_INLINE_BYTES_MAX = FoundEntry.ROOM_BYTES;
    /** What an entry keeps of a longer key. */
    static final int LONG_KEY_INLINE_BYTES = 256;

    /** What an entry ends with whose value goes on in the next leaf. */
    static final int CONTINUATION_LENGTH_BYTES = 2;
    /** Of a value that goes on in the next leaf, so many bytes are in the first one at least: less is not worth reading two. */
    static final int CONTINUED_BYTES_MIN = 256;
    /** Values go on within so many leaves, a power of two: merges read as many at once at least, so they do not have half a value. */
    static final int CONTINUED_GROUP_PAGES = 4;

    static final int LEVELS_MAX = 16;

    static {
        int largest = META_BYTES + 8 + 2 + KEY_INLINE_BYTES_MAX + VALUE_INLINE_BYTES_MAX;
        if (HEADS != 48 || HEADS + HEAD_BYTES + SLOT_BYTES + largest + VALUE_INLINE_BYTES_MAX > PageLayout.PAGE_BYTES) {
            throw new AssertionError("keyed page layout");
        }
    }

    private KeyedPageLayout() {}
}
